"""`fitdoctor memory` from the command line."""

from __future__ import annotations

import json

import pytest

from fitdoctor.cli import UsageError
from fitdoctor.cli import main as run_command
from fitdoctor.cli.find_model import is_model, model_at
from fitdoctor.cli.first_fit import FirstFit
from fitdoctor.cli.memory import _bytes, _shapes, main


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), ("8G", 8 << 30), ("1.5 GiB", 3 << 29), ("10MB", 10 << 20), ("2t", 2 << 40)],
)
def test_sizes(text, size):
    assert _bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1G", "8X"])
def test_what_is_no_size(text):
    with pytest.raises(UsageError, match="such as 8G"):
        _bytes(text)


def test_shapes():
    assert _shapes([]) is None
    assert _shapes(["224,224,3"]) == (224, 224, 3)
    assert _shapes(["(8,)", "2,3"]) == [(8,), (2, 3)]
    assert _shapes(["image=4,4", "words=7"]) == {"image": (4, 4), "words": (7,)}


@pytest.mark.parametrize("words", [["a,b"], ["0,3"], ["image=3", "4"]])
def test_what_is_no_shape(words):
    with pytest.raises(UsageError):
        _shapes(words)


def test_a_batch_of_nothing():
    with pytest.raises(UsageError, match="must be 1 or more, not 0"):
        main(["train:model", "--batch-size", "0"])


def test_no_such_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="there is no file"):
        main(["nothing.py:model"])


@pytest.mark.tf
def test_a_function_that_makes_a_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made.py").write_text(
        "import keras\n"
        "def build():\n"
        "    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])\n"
        "    model.compile('adam', 'mse')\n"
        "    return model\n"
    )
    assert main(["made.py:build", "--batch-size", "4", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["batch_size"] == 4
    assert main(["made.py:build", "--batch-size", "4", "--available", "1K"]) == 1
    assert "does not fit" in capsys.readouterr().out


BUILDER = """
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
    model.compile('adam', 'mse')
    return model
"""


@pytest.mark.tf
@pytest.mark.parametrize(
    ("source", "name"),
    [
        (f"def build():{BUILDER}", "build"),
        (f"def build():{BUILDER}\nthe_model = build()\n", "the_model"),
        (f"def _one():{BUILDER}\nbase = _one()\nwhole = keras.Sequential([base])\nsame = whole\n", "whole"),
        (
            f"def build(units=4):{BUILDER}\ndef train():\n    model = build()\n    model.fit()\n    return model\n",
            "build",
        ),
        ("class Net(keras.Model):\n    def call(self, x):\n        return x\n", "Net"),
        (
            f"def build(units):{BUILDER}\ndef small_model():\n    return build(4)\nmodel = small_model()",
            "model",
        ),
    ],
)
def test_a_file_without_a_name_means_its_only_model(tmp_path, monkeypatch, source, name):
    monkeypatch.chdir(tmp_path)
    file = f"only_{abs(hash(source))}.py"
    (tmp_path / file).write_text(f"import keras\n{source}")
    found, model = model_at(file, FirstFit())
    assert found == f"{file}:{name}"
    assert is_model(model)


TRAINS = f"""
import keras, numpy as np
def build():{BUILDER}
x = np.zeros((700, 8), "float32")
def main():
    net, other = build(), build()
    net.fit(x, x[:, :4], batch_size=70, epochs=3)
    print("trained")
"""


@pytest.mark.tf
@pytest.mark.parametrize("last", ["main()", "if __name__ == '__main__':\n    main()"])
def test_a_program_runs_up_to_its_first_fit_and_trains_nothing(tmp_path, monkeypatch, capsys, last):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trains.py").write_text(f"{TRAINS}{last}\n")
    assert main(["trains.py", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["batch_size"] == 70


@pytest.mark.tf
def test_a_named_builder_is_taken_from_a_file_that_trains_after_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named.py").write_text(f"{TRAINS}main()\n")
    assert main(["named.py:build", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["batch_size"] == 32


@pytest.mark.tf
def test_a_training_loop_of_the_program_itself_is_not_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loops.py").write_text(
        f"import keras\ndef build():{BUILDER}\nif __name__ == '__main__':\n    raise RuntimeError('trains')\n"
    )
    assert main(["loops.py", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["batch_size"] == 32


@pytest.mark.tf
def test_a_program_that_ends_before_it_trains_says_why(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asks.py").write_text(
        "def train(net, x):\n    net.fit(x)\nif __name__ == '__main__':\n    raise SystemExit('no --data given')\n"
    )
    with pytest.raises(UsageError, match="ended before any `fit`: SystemExit: no --data given"):
        main(["asks.py"])


@pytest.mark.tf
def test_several_models_are_listed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "several.py").write_text(f"import keras\ndef small():{BUILDER}\ndef large():{BUILDER}")
    with pytest.raises(UsageError, match=r"choose one: `several\.py:small`, `several\.py:large`"):
        main(["several.py"])


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nothing.py", "there is no file `nothing.py`"),
        ("no_such_module_here", "there is no module `no_such_module_here`"),
        ("data.csv", "`data.csv` is not a Python file"),
        (".", "`.` is not a Python file"),
        ("empty.py", "`empty.py` defines no model"),
        ("empty.py:model", "`empty.py` has no `model`"),
        ("numbers_only.py:value", "`numbers_only.py:value` is a `int`, not a Keras model"),
        ("numbers_only.py:make", "`numbers_only.py:make` returned a `int`, not a Keras model"),
        ("raises.py", "importing `raises.py` raised KeyError"),
        ("leaves.py", "importing `leaves.py` raised SystemExit"),
    ],
)
def test_a_bad_target_is_told_in_one_line_with_exit_status_2(tmp_path, monkeypatch, capsys, target, said):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "data.csv": "a\n1\n",
        "empty.py": "",
        "numbers_only.py": "value = 3\ndef make():\n    return 4\n",
        "raises.py": "{}['x']\n",
        "leaves.py": "raise SystemExit('no data')\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert run_command(["memory", target]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.tf
def test_the_data_of_a_program_is_scanned_without_training_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scanned.py").write_text(f"{TRAINS}main()\n")
    assert run_command(["scan", "scanned.py:x"]) == 0
    told = capsys.readouterr().out
    assert "700 rows" in told and "trained" not in told
