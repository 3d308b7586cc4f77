"""Files to text and JSON, with what had to be decided on the way."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from toolkit.datasets.report import ReadError, ReadReport

BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_bytes(path: str | Path) -> bytes:
    """A file's content, unpacked if it is gzip.

    Raises
    ------
    ReadError
        If there is no such file or the archive is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise ReadError(f"{path}: no such file; give the path of a file")
    data = path.read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise ReadError(f"{path}: damaged gzip file ({error}); fetch or pack it again") from error


def decode(data: bytes, report: ReadReport, encoding: str | None = None) -> str:
    """Bytes to text: a byte order mark decides, else UTF-8, else Windows-1252 or Latin-1 (noted).

    Raises
    ------
    ReadError
        If the encoding given, or that of the byte order mark, is unknown or does not fit.
    """
    encoding = encoding or next((name for mark, name in BOMS.items() if data.startswith(mark)), None)
    try:
        return data.decode(encoding or "utf-8").removeprefix("\ufeff")
    except LookupError as error:
        raise ReadError(f"{report.source}: encoding {encoding!r} is not known; give a name such as 'utf-8' or 'cp1252'") from error
    except UnicodeDecodeError as error:
        if encoding:
            raise ReadError(f"{report.source}: not valid {encoding} at byte {error.start}; give the right encoding=") from error
        row = data.count(b"\n", 0, error.start) + 1
    for name in ("cp1252", "latin-1"):
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        report.note("noted", f"not valid UTF-8; read as {name} (give encoding= if this is wrong)", row=row, value=data.splitlines()[row - 1][:60])
        return text
    raise AssertionError("latin-1 decodes everything")


class JsonObject(dict):
    """A JSON object that remembers pairs whose key came again: they must not vanish.

    ``repeated`` holds earlier (key, value) pairs; the mapping itself has the last, as JSON readers do.
    """

    repeated: list[tuple[str, object]]

    @classmethod
    def of(cls, pairs: list[tuple[str, object]]) -> JsonObject:
        """Build from the parser's pairs."""
        made = cls(pairs)
        made.repeated = []
        if len(made) < len(pairs):
            last = {key: i for i, (key, _) in enumerate(pairs)}
            made.repeated = [pair for i, pair in enumerate(pairs) if last[pair[0]] != i]
        return made

    def pairs(self) -> Iterator[tuple[str, object]]:
        """All pairs of the source, the remembered ones first."""
        yield from self.repeated
        yield from self.items()


def parse_json(text: str) -> object:
    """One JSON document; integers and long decimals stay exact, repeated keys are remembered.

    Raises
    ------
    json.JSONDecodeError
        Also for what Python refuses to parse: nesting beyond its stack, integers of thousands of digits.
    """
    try:
        return json.loads(text, object_pairs_hook=JsonObject.of, parse_float=_exact)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        raise json.JSONDecodeError(str(error), text, 0) from error


def _exact(literal: str) -> float | Decimal:
    """A float, or a Decimal where a float would lose digits (``1.7175277620250001e18`` is an exact time)."""
    digits = literal.lower().split("e")[0].replace(".", "").lstrip("+-0")
    return float(literal) if len(digits) <= 15 else Decimal(literal)


def parse_json_lines(text: str, report: ReadReport) -> Iterator[tuple[int, object]]:
    """Line number and value of each JSON line; a line that is not JSON is counted as read and set aside."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, parse_json(line)
            except json.JSONDecodeError as error:
                report.read += 1
                report.note("set_aside", f"the line is not JSON ({error.msg})", row=number, value=line[:80])


def as_text(value: object) -> str | None:
    """A JSON scalar as the text of an id or a number; null stays null, ``7`` is ``"7"`` and ``1.5`` is ``"1.5"``."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dict, list, bool)):
        return json.dumps(value, default=str)
    return str(value)
