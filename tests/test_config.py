"""`[tool.fitdoctor]`: found upwards, read strictly."""

from __future__ import annotations

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.config import Config, ConfigError, find_config


@pytest.fixture
def some_id():
    return next(iter(catalogue()))


def write(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text, "utf-8")


def test_every_key_is_read(tmp_path, some_id):
    write(
        tmp_path,
        f"""
        [tool.fitdoctor]
        select = ["{some_id}", "FIT2"]
        ignore = ["{some_id}"]
        fail-on = "warning"
        keras = 2
        exclude = ["old/"]
        [tool.fitdoctor.per-file-ignores]
        "tests/*" = ["{some_id}"]
        """,
    )
    assert find_config(tmp_path) == Config(
        path=str(tmp_path / "pyproject.toml"),
        select=(some_id, "FIT2"),
        ignore=(some_id,),
        per_file_ignores=(("tests/*", (some_id,)),),
        fail_on="warning",
        keras=2,
        exclude=("old/",),
    )


def test_the_nearest_table_of_ours_holds(tmp_path):
    write(tmp_path, "[tool.fitdoctor]\nkeras = 2\n")
    write(tmp_path / "a", "[tool.other]\nfitdoctor = 1\n")
    write(tmp_path / "a" / "b", "[project]\nname = 'x'\n")
    assert find_config(tmp_path / "a" / "b").keras == 2
    assert find_config(tmp_path / "a" / "b" / "train.py").keras == 2


def test_without_a_table_nothing_is_asked(tmp_path):
    write(tmp_path, "[project]\nname = 'x'\n")
    assert not find_config(tmp_path).path.startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[tool.fitdoctor]\nignor = []\n", "unknown key `ignor`.*did you mean `ignore`"),
        ("[tool.fitdoctor]\nwidth = 3\n", "unknown key `width`.*the keys are"),
        ("[tool.fitdoctor\n", "pyproject.toml"),
        ("[tool]\nfitdoctor = 3\n", "must be a table"),
        ("[tool.fitdoctor]\nselect = 'FIT2'\n", "`select` must be a list of strings, found a string"),
        ("[tool.fitdoctor]\nselect = [1]\n", "must be a list of strings"),
        ("[tool.fitdoctor]\nselect = ['FIT999']\n", "unknown cause `FIT999`"),
        ("[tool.fitdoctor]\nfail-on = 'never'\n", "one of error, warning, info"),
        ("[tool.fitdoctor]\nkeras = 4\n", "must be 2 or 3"),
        ("[tool.fitdoctor]\nkeras = true\n", "must be 2 or 3"),
        ("[tool.fitdoctor]\nper-file-ignores = ['a']\n", "must be a table"),
        (
            "[tool.fitdoctor]\n[tool.fitdoctor.per-file-ignores]\n'a' = ['nonsense']\n",
            "unknown cause `nonsense`",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, complaint):
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=complaint):
        find_config(tmp_path)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"fitdoctor = '\xff\xfe'")
    with pytest.raises(ConfigError):
        find_config(tmp_path)
