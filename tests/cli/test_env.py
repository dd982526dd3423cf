"""`fitdoctor env`: what it reads, what it finds, and that it imports nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rich.console
import rich.table  # noqa: F401 - the tests hide every installed package; `env` draws its table with rich

from fitdoctor.cli.env import main
from fitdoctor.collect.versions import conflicts
from fitdoctor.facts.cluster import config_problems

SOURCE = Path(__file__).parents[2] / "src"


def distribution(folder: Path, name: str, version: str, *requires: str, python: str = "") -> None:
    """Lay out the metadata of an installed package; there is no code in it."""
    home = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    home.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Python: {python}"] * bool(python) + [f"Requires-Dist: {text}" for text in requires]
    (home / "METADATA").write_text("\n".join(lines) + "\n")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for all installed packages."""
    import packaging.requirements
    import packaging.specifiers  # noqa: F401 - loaded while the real packages are on the path

    monkeypatch.setattr("sys.path", [str(tmp_path), *(e for e in sys.path if "site-packages" not in e)])
    return tmp_path


def test_a_requirement_that_is_not_met_is_told_with_its_source(installed: Path) -> None:
    distribution(installed, "tensorflow", "2.19.0", "numpy<2.2.0,>=1.26.0", 'tensorboard; extra == "more"')
    distribution(installed, "numpy", "2.4.0")
    (found,) = conflicts()
    assert "requires numpy" in found.problem and "2.4.0 is installed" in found.problem
    assert found.source == "the metadata of tensorflow 2.19.0"


def test_metadata_without_files_is_told(installed: Path) -> None:
    distribution(installed, "tensorflow", "2.21.0")
    record = installed / "tensorflow-2.21.0.dist-info" / "RECORD"
    record.write_text("tensorflow/__init__.py,sha256=,1\ntensorflow/keras/other.py,sha256=,1\n")
    (found,) = conflicts()
    assert "its files are missing: `tensorflow/__init__.py`" in found.problem
    (installed / "tensorflow").mkdir()
    (installed / "tensorflow" / "__init__.py").touch()
    assert conflicts() == ()


def test_tensorflow_cpu_is_a_tensorflow(installed: Path) -> None:
    distribution(installed, "tensorflow-cpu", "2.21.0", "keras>=3.12")
    distribution(installed, "keras", "3.15.1")
    distribution(installed, "tf_keras", "2.21.0", "tensorflow<2.22,>=2.21")
    assert conflicts() == ()


@pytest.mark.parametrize(
    ("packages", "words"),
    [
        ({"tensorflow": "2.10.0", "numpy": "2.0.0"}, "built for NumPy 1"),
        ({"tensorflow": "2.15.0", "keras": "3.3.0"}, "the package `keras` is Keras 3"),
        ({"tensorflow": "2.17.0", "keras": "2.15.0"}, "the package `keras` is Keras 2"),
        ({"tensorflow-addons": "0.23.0", "keras": "3.3.0"}, "no longer maintained"),
        ({"tensorflow": "2.17.0", "tensorflow-cpu": "2.16.0"}, "installed in the same folder"),
        ({"keras": "3.3.0", "keras-nightly": "3.4.0.dev1"}, "installed in the same folder"),
    ],
)
def test_pairs_that_no_metadata_speaks_of(installed: Path, packages: dict[str, str], words: str) -> None:
    for name, version in packages.items():
        distribution(installed, name, version)
    (found,) = conflicts()
    assert words in found.problem and found.source and found.remedy


def test_python_itself_is_checked(installed: Path) -> None:
    distribution(installed, "tensorflow", "2.12.0", python=">=3.6,<3.9")
    (found,) = conflicts()
    assert "requires Python" in found.problem


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("{'cluster': {}}", "is not JSON"),
        ("[]", "not a JSON object"),
        ({"task": {"type": "worker", "index": 0}}, "no `cluster`"),
        ({"cluster": {"worker": ["a:1"]}}, "no `task`"),
        ({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}}, "the only index is 0"),
        ({"cluster": {"worker": ["a:1", "a:1"]}, "task": {"type": "worker", "index": 1}}, "the same address"),
        ({"cluster": {"worker": ["a"]}, "task": {"type": "worker", "index": 0}}, "not a `host:port`"),
        ({"cluster": {"worker": ["a:1"]}, "task": {"type": "chief", "index": 0}}, "only worker"),
    ],
)
def test_a_cluster_that_cannot_be(config: Any, words: str) -> None:
    text = config if isinstance(config, str) else json.dumps(config)
    assert any(words in problem.text for problem in config_problems(text))


def test_a_sound_cluster_is_silent() -> None:
    task = {"type": "worker", "index": "0"}
    assert config_problems(json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": task})) == []
    assert config_problems("") == [] == config_problems("{}")


def env(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **variables}
    command = [sys.executable, "-m", "fitdoctor", "env", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


def test_the_command_shows_versions_and_ends_with_0(tmp_path: Path) -> None:
    done = env(KERAS_HOME=str(tmp_path), TF_CONFIG="")
    assert "numpy" in done.stdout and "Keras backend" in done.stdout
    assert done.returncode == (1 if "error[" in done.stdout else 0)


def test_findings_make_the_exit_status_1_and_json_holds_both(tmp_path: Path) -> None:
    done = env("--output-format", "json", KERAS_HOME=str(tmp_path), TF_CONFIG="{'cluster'")
    plain = json.loads(done.stdout)
    assert done.returncode == 1
    assert [found["id"] for found in plain["findings"]][-1] == "FIT606"
    assert plain["environment"]["backend"] == "tensorflow"


def test_a_broken_keras_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "keras.json").write_text('{"backend": ')
    done = env("--output-format", "concise", KERAS_HOME=str(tmp_path), TF_CONFIG="")
    assert "FIT904" in done.stdout and "is not valid JSON" in done.stdout


def test_a_backend_that_is_not_installed_is_an_error_and_one_of_keras_2_is_none(tmp_path: Path) -> None:
    settings = {"KERAS_HOME": str(tmp_path), "TF_CONFIG": "", "KERAS_BACKEND": "openvino"}
    done = env("--output-format", "concise", **settings)
    assert "`openvino`, which is not installed" in done.stdout and done.returncode == 1
    assert "openvino" not in env(TF_USE_LEGACY_KERAS="1", **settings).stdout


def test_a_tensorflow_that_does_not_import_is_explained(tmp_path: Path) -> None:
    package = tmp_path / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text(
        'raise TypeError("Descriptors cannot be created directly.\\nIf this call came from a _pb2.py file")\n'
    )
    path = os.pathsep.join((str(SOURCE), str(tmp_path)))
    without = env(PYTHONPATH=path, TF_CONFIG="")
    assert "Descriptors" not in without.stdout + without.stderr
    done = env("--devices", PYTHONPATH=path, TF_CONFIG="")
    assert "FIT901" in done.stdout and "did not start" in done.stdout
    assert done.returncode == 1


def test_no_tensorflow_at_all_is_told(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    distribution(installed, "keras", "3.15.1")
    assert main(["--devices"]) == 1
    told = capsys.readouterr().out
    assert "TensorFlow is not installed for" in told and "unexplained" not in told


def test_legacy_keras_needs_tf_keras_and_nothing_else(installed: Path) -> None:
    distribution(installed, "tensorflow", "2.21.0", "keras>=3.12")
    assert {found.second for found in conflicts(legacy_keras=True)} == {"keras", "tf_keras"}
    distribution(installed, "tf_keras", "2.21.0")
    assert conflicts(legacy_keras=True) == () != conflicts()


def test_a_file_in_the_place_of_tensorflow_is_told(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("rate = 0.1\n")
    (tmp_path / "train.py").write_text("import tensorflow as tf\n\nmodel = tf.keras.Sequential()\n")
    command = [sys.executable, "-m", "fitdoctor", "run", "--output-format", "concise", "train.py"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert "train.py:1:1: error FIT907" in done.stderr
