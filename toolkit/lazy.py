"""Load a room's public names when they are first used, so that imports stay quick."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping


def attach(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` for a package.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    names : mapping of str to str
        Public name -> submodule (without the package) that defines it.

    Returns
    -------
    tuple
        ``(__getattr__, __dir__, __all__)`` to assign at the package's top level.
    """

    def getattribute(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{names[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return getattribute, lambda: sorted(names), sorted(names)
