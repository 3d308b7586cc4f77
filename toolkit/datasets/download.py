"""Fetch the Shopping Queries Dataset: resumable, verified, and never half a file under its name."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.datasets.report import ReadError

if TYPE_CHECKING:
    import httpx
    from tqdm import tqdm

BASE_URL = "https://github.com/amazon-science/esci-data/raw/main/shopping_queries_dataset"
LFS_POINTER = b"version https://git-lfs"


class DownloadError(ReadError):
    """A file could not be fetched or is not what the manifest says."""


@dataclass(frozen=True)
class RemoteFile:
    """One file to fetch.

    Parameters
    ----------
    name : str
        Appended to the base URL, and the file's name in the folder.
    size : int
        Bytes.
    sha256 : str or None
        Hexadecimal; None verifies the size alone, and the result says so.
    """

    name: str
    size: int
    sha256: str | None = None


# Sizes and checksums as the repository's own Git LFS pointer files state them (commit 7e0e3073).
# The sources file is not stored in LFS: the repository publishes no SHA-256 of it, so only its
# size is verified.
ESCI_FILES = (
    RemoteFile("shopping_queries_dataset_examples.parquet", 51_286_808,
               "4a735b693b4a424a6fc67f5be6e4c811495c488bbf66d02a602d308b2744263a"),
    RemoteFile("shopping_queries_dataset_products.parquet", 1_108_857_465,
               "25124442d064d64b26f74082d6fa09438d679efc0c183cf28d19064a2b65a265"),
    RemoteFile("shopping_queries_dataset_sources.csv", 1_682_802, None),
)


def download_esci(folder: str | Path, base_url: str = BASE_URL, *, files: Sequence[RemoteFile] = ESCI_FILES,
                  timeout: float = 30.0, retries: int = 5, backoff: float = 1.0, progress: bool = True) -> pd.DataFrame:
    """Fetch the dataset's files into a folder; files already there and verified are left alone.

    A file grows as ``<name>.part``, is verified, and only then gets its name. An interrupted
    download continues where it stopped, also in a later call.

    Parameters
    ----------
    folder : path
        Created if needed; about 1.2 GB for the published files.
    base_url : str
        Where the files are, without the trailing slash; a mirror is fine, the checksums decide.
    files : sequence of RemoteFile
        What to fetch. The default's sizes and SHA-256 come from the Git LFS pointer files of the
        ``amazon-science/esci-data`` repository. If the publisher replaces a file, verification
        fails and says so: give a manifest of your own then.
    timeout : float
        Seconds without a single byte after which a connection counts as stalled.
    retries : int
        Attempts in a row that bring no new byte before giving up.
    backoff : float
        Seconds before the first retry; doubles with each further one.
    progress : bool
        Show a progress bar.

    Returns
    -------
    DataFrame
        name, bytes, status (``present``, ``downloaded``, ``resumed``), verified (``size and sha256`` or
        ``size``).

    Raises
    ------
    DownloadError
        For 4xx answers, a server that keeps failing, or content of another size or checksum.
    """
    import httpx

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    with httpx.Client(timeout=timeout, follow_redirects=True, headers={"Accept-Encoding": "identity"}) as client:
        for file in files:
            status = "present" if _is_there(folder / file.name, file) else _fetch(
                client, f"{base_url.rstrip('/')}/{file.name}", folder, file, retries, backoff, progress)
            rows.append((file.name, file.size, status, "size and sha256" if file.sha256 else "size"))
    return pd.DataFrame(rows, columns=["name", "bytes", "status", "verified"])


def _is_there(path: Path, file: RemoteFile) -> bool:
    return path.is_file() and path.stat().st_size == file.size and file.sha256 in (None, _sha256(path))


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch(client: httpx.Client, url: str, folder: Path, file: RemoteFile, retries: int, backoff: float, progress: bool) -> str:
    """Bring one file to its place; returns ``downloaded`` or ``resumed``."""
    from tqdm.auto import tqdm

    part = folder / f"{file.name}.part"
    resumed = part.is_file() and part.stat().st_size > 0
    if resumed and part.stat().st_size > file.size:
        part.unlink()
        resumed = False
    with tqdm(total=file.size, unit="B", unit_scale=True, desc=file.name, disable=not progress) as bar:
        _complete(client, url, part, file, retries, backoff, bar)
    _verify(url, part, file)
    os.replace(part, folder / file.name)
    return "resumed" if resumed else "downloaded"


def _complete(client: httpx.Client, url: str, part: Path, file: RemoteFile, retries: int, backoff: float, bar: tqdm) -> None:
    """Repeat attempts until the part has its full size; attempts that bring bytes do not count."""
    import httpx

    failures, best = 0, _length(part)
    while _length(part) < file.size:
        try:
            _attempt(client, url, part, file, bar)
            reason = "the connection ended early"
        except (httpx.TransportError, httpx.DecodingError) as error:
            reason = f"{type(error).__name__}: {error}"
        except _Again as error:
            reason = str(error)
        if _length(part) >= file.size:
            return
        failures = 0 if _length(part) > best else failures + 1
        best = max(best, _length(part))
        if failures > retries:
            raise DownloadError(f"{url}: gave up after {failures} attempts without a new byte, at {_length(part)} of {file.size} bytes "
                                f"(last: {reason}); call again to resume, or give another base_url")
        time.sleep(backoff * 2 ** failures if failures else 0)


class _Again(Exception):
    """The server's answer is worth another attempt."""


def _length(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _attempt(client: httpx.Client, url: str, part: Path, file: RemoteFile, bar: tqdm) -> None:
    """One request for what is missing; appends what arrives."""
    start = _length(part)
    with client.stream("GET", url, headers={"Range": f"bytes={start}-"} if start else {}) as response:
        if response.status_code in (408, 425, 429) or response.status_code >= 500:
            raise _Again(f"HTTP {response.status_code}")
        if response.status_code == 416:
            part.unlink()
            raise _Again("HTTP 416: the server cannot continue; starting afresh")
        if response.status_code not in (200, 206):
            raise DownloadError(f"{url}: HTTP {response.status_code}; check base_url and the file's name")
        if response.status_code == 206 and not response.headers.get("content-range", "").startswith(f"bytes {start}-"):
            part.unlink()
            raise _Again(f"the server sent range {response.headers.get('content-range')!r} instead of bytes {start}-")
        # A server that ignores Range answers 200 and sends everything again.
        append = start > 0 and response.status_code == 206
        _append(response, url, part, file, append, bar)


def _append(response: httpx.Response, url: str, part: Path, file: RemoteFile, append: bool, bar: tqdm) -> None:
    length = _length(part) if append else 0
    bar.n = length
    with part.open("ab" if append else "wb") as stream:
        for block in response.iter_raw():
            length += len(block)
            if length > file.size:
                break
            stream.write(block)
            bar.update(len(block))
        stream.flush()
        os.fsync(stream.fileno())
    if length > file.size:
        part.unlink()
        raise DownloadError(f"{url}: more than the expected {file.size} bytes; the file has changed, give a manifest of your own (files=)")
    if length < file.size:
        _refuse_pointer(url, part)


def _refuse_pointer(url: str, part: Path) -> None:
    """Some addresses of LFS files answer with the pointer's text instead of the content."""
    with part.open("rb") as stream:
        is_pointer = stream.read(len(LFS_POINTER)) == LFS_POINTER
    if is_pointer:
        part.unlink()
        raise DownloadError(f"{url}: the server sent a Git LFS pointer, not the file; use an address that serves LFS content")


def _verify(url: str, part: Path, file: RemoteFile) -> None:
    """Delete and refuse a part with the wrong checksum: resuming it could never help."""
    if file.sha256 is None:
        return
    found = _sha256(part)
    if found != file.sha256:
        part.unlink()
        raise DownloadError(f"{url}: SHA-256 is {found}, expected {file.sha256}; the download was deleted. If the publisher "
                            "replaced the file, give a manifest of your own (files=)")
