"""Where the reference data are: published runs and collections that the project does not ship."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "TOOLKIT_REFERENCE_DATA"


def reference_folder(*parts: str) -> Path | None:
    """The reference data's folder, or one inside it: ``reference_folder("searchops")``.

    Returns
    -------
    Path or None
        None where the environment variable ``TOOLKIT_REFERENCE_DATA`` is unset or empty, or its folder lacks that part.

    Raises
    ------
    FileNotFoundError
        If the variable names no folder: a misspelt path should not look like an unset one.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    root = Path(named).expanduser()
    if not root.is_dir():
        raise FileNotFoundError(f"{VARIABLE} is {named!r}, which is no folder; set it to the folder of the reference data, or unset it")
    folder = root.joinpath(*parts)
    return folder if folder.is_dir() else None
