"""An edit that writes a literal over a name goes to where that name gets its value."""

from __future__ import annotations

import pytest

from fitdoctor.diagnosis import Applicability, Confidence, Edit, Finding, Fix, Moment, Severity
from fitdoctor.edits import apply_edits
from fitdoctor.source.module import Module
from fitdoctor.source.origin_edits import at_their_origins
from fitdoctor.source.project import Project
from fitdoctor.source.read import source_from_text


def moved(files: dict[str, str], old: str, new: str) -> list[dict[str, str]]:
    """The files after each fix, where the first file's `old` is replaced with `new`."""
    project = Project(tuple(Module(source_from_text(text, path)) for path, text in files.items()))
    first, text = next(iter(files.items()))
    module = project.module_at(first)
    assert module is not None
    start = text.index(f"({old})", text.index("# here")) + 1
    place = module.places.between(start, start + len(old))
    fix = Fix("set it", Applicability.UNSAFE, (Edit(place, new),))
    finding = Finding(
        "FIT205",
        "a-slug",
        Severity.ERROR,
        Confidence.CERTAIN,
        Moment.SOURCE,
        "wrong",
        location=place,
        fixes=(fix,),
    )
    found = at_their_origins(finding, project).fixes
    return [
        {
            path: apply_edits(text, [edit for edit in each.edits if edit.location.path == path])
            for path, text in files.items()
        }
        for each in found
    ]


CASES = {
    "a name": ("CLASSES = 9\n# here\nDense(CLASSES)\n", "CLASSES = 10\n# here\nDense(CLASSES)\n"),
    "a dict": (
        'CONFIG = {"classes": 9}\n# here\nDense(CONFIG["classes"])\n',
        'CONFIG = {"classes": 10}\n# here\nDense(CONFIG["classes"])\n',
    ),
    "a default": (
        "def build(n=9):\n    # here\n    return Dense(n)\nbuild()\n",
        "def build(n=10):\n    # here\n    return Dense(n)\nbuild()\n",
    ),
    "an argument": (
        "def build(n):\n    # here\n    return Dense(n)\nbuild(9)\n",
        "def build(n):\n    # here\n    return Dense(n)\nbuild(10)\n",
    ),
    "an option": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--classes', type=int, default=9)\n"
        "args = p.parse_args()\n# here\nDense(args.classes)\n",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--classes', type=int, default=10)\n"
        "args = p.parse_args()\n# here\nDense(args.classes)\n",
    ),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n    classes: int = 9\n\ncfg = Config()\n"
        "# here\nDense(cfg.classes)\n",
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n    classes: int = 10\n\ncfg = Config()\n"
        "# here\nDense(cfg.classes)\n",
    ),
    "a dataclass that is created with it": (
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n    classes: int = 3\n\ncfg = Config(classes=9)\n"
        "# here\nDense(cfg.classes)\n",
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n    classes: int = 3\n\ncfg = Config(classes=10)\n"
        "# here\nDense(cfg.classes)\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_literal_is_changed_where_it_is_written(name):
    before, after = CASES[name]
    here = before.index("# here")
    read = before[before.index("Dense(", here) + 6 :].split(")\n")[0]
    assert moved({"train.py": before}, read, "10")[0]["train.py"] == after


def test_another_file_is_changed():
    files = {"train.py": "from config import CLASSES\n# here\nDense(CLASSES)\n", "config.py": "CLASSES = 9\n"}
    assert moved(files, "CLASSES", "10") == [{**files, "config.py": "CLASSES = 10\n"}]


def test_a_value_that_others_read_is_changed_in_one_place_first():
    text = "CLASSES = 9\nprint(CLASSES)\n# here\nDense(CLASSES)\n"
    first, second = moved({"train.py": text}, "CLASSES", "10")
    assert first["train.py"].endswith("Dense(10)\n")
    assert second["train.py"].startswith("CLASSES = 10\n")


def test_a_constant_with_the_new_value_is_named():
    text = "PAST, AHEAD = 24, 6\nprint(PAST)\n# here\nRepeatVector(PAST)\n"
    assert moved({"train.py": text}, "PAST", "6")[0]["train.py"].endswith("RepeatVector(AHEAD)\n")


def test_the_batch_axis_is_dropped_in_the_words_of_the_program():
    text = "SHAPE = (batch, size, size, 3)\n# here\nInput(SHAPE)\n"
    assert moved({"train.py": text}, "SHAPE", "(24, 24, 3)")[0]["train.py"].startswith(
        "SHAPE = (size, size, 3)\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "n = count()\n# here\nDense(n)\n",
        "n = 9\nif big:\n    n = 12\n# here\nDense(n)\n",
        "def build(n):\n    # here\n    Dense(n)\nbuild(9)\nbuild(12)\n",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', type=int, default='9')\n"
        "n = p.parse_args().n\n# here\nDense(n)\n",
    ],
)
def test_what_may_have_another_value_stays(text):
    (only,) = moved({"train.py": text}, "n", "10")
    assert only["train.py"] == text.replace("Dense(n)", "Dense(10)")


def test_names_with_the_right_value_stay():
    text = "SIZE = 32\ndef build(shape):\n    # here\n    Input(shape)\nbuild((SIZE, SIZE, 3))\n"
    assert moved({"train.py": text}, "shape", "(32, 32, 1)")[0]["train.py"].endswith(
        "build((SIZE, SIZE, 1))\n"
    )


PRESETS = """from dataclasses import dataclass
@dataclass
class Preset:
    name: str
    activation: str = "softmax"
CHURN = Preset("churn")
KINDS = Preset("kinds")
"""


@pytest.mark.parametrize(
    ("presets", "changed"),
    [
        (PRESETS, PRESETS.replace('Preset("churn")', 'Preset("churn", activation="sigmoid")')),
        (PRESETS.replace('KINDS = Preset("kinds")\n', ""), None),
    ],
)
def test_one_of_several_instances_gets_another_value_than_the_default(
    presets: str, changed: str | None
) -> None:
    train = (
        "from presets import CHURN\ndef build(preset):\n    Dense(preset.activation)  # here\nbuild(CHURN)\n"
    )
    train = "# here\n" + train.replace("  # here", "")
    (files,) = moved({"train.py": train, "presets.py": presets}, "preset.activation", '"sigmoid"')
    default = presets.replace('"softmax"', '"sigmoid"').replace('KINDS = Preset("kinds")\n', "")
    assert files["presets.py"] == (changed or default)
    assert files["train.py"] == train
