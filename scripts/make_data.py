"""Write the shipped sample into data/ (the same bytes every time)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from toolkit.datasets.sample import write_sample  # noqa: E402


def main() -> None:
    """Write the files and say their sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "data", help="where to write (default: data/)")
    for file in write_sample(parser.parse_args().folder):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
