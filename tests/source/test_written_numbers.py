"""Where the number is written that sizes a layer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fitdoctor.source.project import read_project
from fitdoctor.source.written_numbers import size_in, written, written_by_name, written_word

PROGRAMS = {
    "a constant of another file": (
        {"sizes.py": "WIDTH = 7\nKINDS = 12\n", "train.py": "import sizes\nDense(sizes.KINDS)\n"},
        "sizes.py:2 KINDS = 12",
    ),
    "an entry of a dict that a function is given": (
        {
            "train.py": 'OPTIONS = {\n    "units": 9,\n}\ndef build(options):\n    return Dense(options["units"])\n'
            "build(OPTIONS)\n"
        },
        'train.py:2 "units": 9',
    ),
    "the default of a field": (
        {
            "settings.py": "from dataclasses import dataclass\n@dataclass\nclass Settings:\n    depth: int = 2\n"
            "    units: int = 5\n",
            "train.py": "from settings import Settings\nsettings = Settings(depth=3)\nDense(units=settings.units)\n",
        },
        "settings.py:5 units: int = 5",
    ),
    "a field of a field": (
        {
            "train.py": "from dataclasses import dataclass, field\n@dataclass\nclass Head:\n    units: int = 5\n"
            "@dataclass\nclass Settings:\n    head: Head = field(default_factory=Head)\n"
            "def build(head):\n    return Dense(head.units)\nsettings = Settings()\nbuild(settings.head)\n"
        },
        "train.py:4 units: int = 5",
    ),
    "an argument of the object that holds it": (
        {
            "train.py": "class Settings:\n    def __init__(self, units, depth=1):\n        self.units = units\n"
            "settings = Settings(4)\nDense(settings.units)\n"
        },
        "train.py:4 4",
    ),
    "the default of an option": (
        {
            "train.py": "import argparse\nparser = argparse.ArgumentParser()\n"
            'parser.add_argument("-n", "--num-classes", type=int, default=3)\n'
            "options = parser.parse_args()\nDense(options.num_classes)\n"
        },
        "train.py:3 default=3",
    ),
    "a file": (
        {
            "model.yaml": "layers:\n  hidden: 3\n  units: 8\n",
            "train.py": 'import yaml\nconfig = yaml.safe_load(open("model.yaml"))\nDense(config["layers"]["units"])\n',
        },
        "model.yaml:3 units: 8",
    ),
    "a file of sections": (
        {
            "model.ini": "[text]\nlength = 3\n[model]\nunits = 11\n",
            "train.py": "import configparser\nsettings = configparser.ConfigParser()\nsettings.read('model.ini')\n"
            "units = settings.getint('model', 'units')\nDense(units)\n",
        },
        "model.ini:4 units = 11",
    ),
    "two files that disagree": (
        {
            "one.json": '{"units": 8}',
            "two.json": '{"units": 9}',
            "train.py": "import json, sys\n"
            'config = json.load(open("one.json" if len(sys.argv) else "two.json"))\nDense(config["units"])\n',
        },
        "",
    ),
    "a number that a loop changes": (
        {"train.py": "units = 1\nfor _ in range(3):\n    units = units * 2\nDense(units)\n"},
        "",
    ),
}


def _written(folder: Path, files: dict[str, str], *arguments: str) -> str:
    for name, text in files.items():
        (folder / name).write_text(text)
    project = read_project(sorted(folder.glob("*.py")))
    module = next(each for each in project.modules if each.path.endswith("train.py"))
    call = next(
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and module.segment(node.func) == "Dense"
    )
    size = size_in(call)
    assert size is not None
    found = written(project, module, size, arguments)
    if found is None:
        return ""
    where = found.location
    return f"{Path(where.path).name}:{where.line} {found.text}" if where is not None else found.text


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_number_is_found_where_it_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files, expected = PROGRAMS[name]
    assert _written(tmp_path, files) == expected


@pytest.mark.parametrize("arguments", [("--num-classes", "6"), ("-n", "6"), ("--num-classes=6",)])
def test_an_option_on_the_command_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    files, _expected = PROGRAMS["the default of an option"]
    flag = arguments[0].partition("=")[0]
    assert _written(tmp_path, files, *arguments) == f"{flag} 6"


BEHIND_A_REGISTRY = {
    "base.yaml": "model:\n  name: tiny\n  num_classes: 4\n",
    "train.py": (
        'import yaml\nPATH = "base.yaml"\ndef tiny(settings):\n    return Dense(settings.model.num_classes)\n'
        'MODELS = {"tiny": tiny}\n'
    ),
}


@pytest.mark.parametrize(
    ("numbers", "also", "line"),
    [
        ({4, 5}, "", 3),
        ({7}, "", 0),  # another number than the program was seen to have
        ({4, 5}, "class Defaults:\n    num_classes: int = 4\n", 0),  # two settings of that name
    ],
)
def test_a_setting_behind_a_registry_is_found_by_its_name_and_value(
    numbers: set[int], also: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in BEHIND_A_REGISTRY.items():
        (tmp_path / name).write_text(text + (also if name == "train.py" else ""))
    project = read_project([tmp_path / "train.py"], 3)
    size = next(node for node in project.modules[0].nodes(ast.Attribute) if node.attr == "num_classes")
    found = written_by_name(project, size, numbers, ())
    assert (found.location.line if found is not None and found.location is not None else 0) == line


WORDS = {
    "a file": (
        {
            "model.json": '{"units": 8,\n "activation": "tanh"}\n',
            "train.py": 'import json\nconfig = json.load(open("model.json"))\nDense(config["activation"])\n',
        },
        'model.json:2 "activation": "tanh"',
    ),
    "a file without quotes": (
        {
            "model.yaml": "units: 8\nactivation: tanh\n",
            "train.py": 'import yaml\nconfig = yaml.safe_load(open("model.yaml"))\nDense(config["activation"])\n',
        },
        "model.yaml:2 activation: tanh",
    ),
    "the default of an option": (
        {
            "train.py": "import argparse\nparser = argparse.ArgumentParser()\n"
            'parser.add_argument("--activation", default="tanh")\n'
            "options = parser.parse_args()\nDense(options.activation)\n"
        },
        'train.py:3 default="tanh"',
    ),
    "two settings of one name": (
        {"train.py": 'KINDS = {"a": {"loss": "mse"}, "b": {"loss": "mae"}}\nDense(KINDS[kind]["loss"])\n'},
        "",
    ),
}


@pytest.mark.parametrize("how", WORDS)
def test_a_word_is_followed_to_where_it_is_written(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, expected = WORDS[how]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    project = read_project([tmp_path / "train.py"])
    module = project.modules[0]
    call = next(node for node in module.nodes(ast.Call) if getattr(node.func, "id", "") == "Dense")
    found = written_word(project, module, call.args[0], ())
    place = found.location if found is not None else None
    told = f"{place.path}:{place.line} {found.text}" if found is not None and place is not None else ""
    assert told == expected
