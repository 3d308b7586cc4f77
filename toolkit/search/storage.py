"""Save an index as memory-mapped arrays, and load it only if it is what was saved."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from toolkit.search.analysis import ANALYZER
from toolkit.search.index import Index

FORMAT = 1
ARRAYS = ("ptr", "docs", "tf", "den", "norms", "documents", "tokens")
TEXTS = ("product_ids", "vocabulary")


class IndexFileError(ValueError):
    """A saved index is incomplete, damaged, or of another format or analysis."""


def save_index(index: Index, folder: str | Path) -> Path:
    """Write an index into a folder.

    Arrays are ``.npy`` files, ids and terms UTF-8 bytes with offsets; ``manifest.json``, written
    last, names the SHA-256 of each file.

    Parameters
    ----------
    index : Index
    folder : path
        Made if missing. An index already there is replaced; any other content is refused.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    IndexFileError
        If the folder holds something else.
    """
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / "manifest.json").is_file():
        raise IndexFileError(f"{folder} is not empty and holds no index; give an empty or new folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").unlink(missing_ok=True)
    arrays = {name: getattr(index, name) for name in ARRAYS}
    for name in TEXTS:
        arrays[name], arrays[f"{name}_ends"] = _packed(getattr(index, name))
    for name, array in arrays.items():
        _replace(folder / f"{name}.npy", array)
    manifest = {"format": FORMAT, "analyzer": ANALYZER, "fields": list(index.fields), "fingerprint": index.fingerprint,
                "sha256": {name: _sha256(folder / f"{name}.npy") for name in arrays}}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return folder


def load_index(folder: str | Path, *, verify: bool = True) -> Index:
    """Open a saved index; its arrays stay on disk and are read as needed.

    Parameters
    ----------
    folder : path
    verify : bool
        Compare every file with its hash (reads all of it once).

    Returns
    -------
    Index

    Raises
    ------
    IndexFileError
        Naming the file that is missing or differs, or the format or analysis that does.
    """
    folder = Path(folder)
    manifest = _manifest(folder)
    for name, expected in manifest["sha256"].items():
        path = folder / f"{name}.npy"
        if not path.is_file():
            raise IndexFileError(f"{path}: missing; build and save the index again")
        if verify and _sha256(path) != expected:
            raise IndexFileError(f"{path}: content differs from its manifest; build and save the index again")
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
    ids, vocabulary = (_unpacked(folder, name) for name in TEXTS)
    product_ids = np.empty(len(ids), object)
    product_ids[:] = ids
    return Index(fields=tuple(manifest["fields"]), product_ids=product_ids, vocabulary=vocabulary,
                 fingerprint=manifest["fingerprint"], **arrays)


def _manifest(folder: Path) -> dict:
    path = folder / "manifest.json"
    if not path.is_file():
        raise IndexFileError(f"{path}: missing; {folder} holds no (completely) saved index")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for name, expected in (("format", FORMAT), ("analyzer", ANALYZER)):
        if manifest.get(name) != expected:
            raise IndexFileError(f"{path}: {name} is {manifest.get(name)!r}, this toolkit has {expected!r}; build the index again")
    return manifest


def _packed(texts: list[str] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.frombuffer(b"".join(parts), np.uint8), np.cumsum([0] + [len(part) for part in parts], dtype=np.int64)


def _unpacked(folder: Path, name: str) -> list[str]:
    data = np.load(folder / f"{name}.npy").tobytes()
    ends = np.load(folder / f"{name}_ends.npy").tolist()
    return [data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(ends, ends[1:], strict=False)]


def _replace(path: Path, array: np.ndarray) -> None:
    """Write beside, then rename: an index that is open elsewhere keeps its old file."""
    beside = path.with_suffix(".writing")
    with beside.open("wb") as file:
        np.save(file, array)
    beside.replace(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
