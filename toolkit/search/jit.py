"""Compile small numeric kernels with numba, and keep the machine code where that is possible."""

from __future__ import annotations

from collections.abc import Callable

import numba


def kernel(function: Callable) -> Callable:
    """Compile ``function`` on its first call; cache the result on disk where a folder allows it.

    No fast-math and no fused multiply-add: the kernels promise the last bit of float32.
    Division follows IEEE (x / 0 is inf), which lets loops over configurations use SIMD lanes.

    Parameters
    ----------
    function : callable
        A pure function of numpy arrays and scalars.

    Returns
    -------
    callable
        The compiled dispatcher; its plain-Python twin is ``.py_func``.

    Notes
    -----
    numba refuses to *define* a cached function when it finds no writable folder (a read-only
    installation without a home); such a machine compiles in each process instead.
    """
    try:
        return numba.njit(cache=True, error_model="numpy")(function)
    except RuntimeError:
        return numba.njit(error_model="numpy")(function)
