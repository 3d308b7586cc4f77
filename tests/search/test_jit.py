"""Kernels compile where no folder can hold a cache."""

from toolkit.search.jit import kernel


def test_a_function_that_cannot_be_cached_is_compiled_all_the_same():
    names = {}
    exec("def add_one(x):\n    return x + 1", names)  # no file, so numba finds no place for a cache
    assert kernel(names["add_one"])(1) == 2


def test_division_by_zero_is_infinite():
    def reciprocal(x):
        return 1.0 / x
    assert kernel(reciprocal)(0.0) == float("inf")
