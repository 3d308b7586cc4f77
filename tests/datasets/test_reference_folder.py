"""The reference data's folder is found through one environment variable."""

import pytest

from toolkit.datasets import reference_folder


def test_folder_of_the_variable(monkeypatch, tmp_path):
    (tmp_path / "searchops").mkdir()
    monkeypatch.setenv("TOOLKIT_REFERENCE_DATA", str(tmp_path))
    assert reference_folder() == tmp_path and reference_folder("searchops") == tmp_path / "searchops"
    assert reference_folder("nothing") is None


@pytest.mark.parametrize("unset", ["", None])
def test_unset_is_none(monkeypatch, unset):
    monkeypatch.delenv("TOOLKIT_REFERENCE_DATA", raising=False) if unset is None else monkeypatch.setenv("TOOLKIT_REFERENCE_DATA", unset)
    assert reference_folder() is None and reference_folder("searchops") is None


def test_a_misspelt_path_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("TOOLKIT_REFERENCE_DATA", str(tmp_path / "mispelt"))
    with pytest.raises(FileNotFoundError, match="TOOLKIT_REFERENCE_DATA is .*mispelt"):
        reference_folder()
