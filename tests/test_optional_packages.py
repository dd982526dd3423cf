"""Whatever is not installed: every command and function says what is missing, what needs it and how to install it."""

import json
import os
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

import fitdoctor

HIDING = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""
TENSORFLOW = ("tensorflow", "keras", "tf_keras")
EVERYTHING = (*TENSORFLOW, "numpy", "pandas", "pyarrow", "jinja2", "h5py", "IPython", "scipy", "sklearn")

LOG = 'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nValueError: You must call `compile()`'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.csv").write_text("a,label\n1,0\n2,1\n3,1\n")
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY")
    (tmp_path / "x.npz").write_bytes(b"PK")
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    (tmp_path / "x.tfrecord").write_bytes(b"abc")
    (tmp_path / "model.py").write_text("import keras\nmodel = keras.Sequential()\n")
    (tmp_path / "frames.py").write_text("import pandas\nframe = pandas.DataFrame({'a': [1]})\n")
    (tmp_path / "clean.py").write_text("print(1)\n")
    (tmp_path / "run.log").write_text(LOG)
    (tmp_path / "run.json").write_text(json.dumps(fitdoctor.Diagnosis(tool_version="0").to_json()))
    return tmp_path


def call(folder: Path, program: str, hidden: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDING.format(hidden=hidden) + program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def command(folder: Path, words: str, hidden: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return call(folder, f"from fitdoctor.cli import main\nsys.exit(main({words.split()!r}))", hidden)


NEEDS = [
    ("scan train.csv", "numpy", "NumPy", "pip install numpy"),
    ("scan x.npy", "numpy", "NumPy", "pip install numpy"),
    ("scan x.npz", "numpy", "NumPy", "pip install numpy"),
    ("scan x.parquet", "pyarrow", "pyarrow", "pip install pyarrow"),
    ("scan x.tfrecord", "tensorflow", "TensorFlow", "pip install tensorflow"),
    ("scan frames.py:frame", "pandas", "pandas", "pip install pandas"),
    ("scan --local-workers 1 frames.py:frame", "tensorflow", "TensorFlow", "pip install tensorflow"),
    ("memory model.py:model", "keras", "Keras", "pip install keras"),
    ("demo", "tensorflow", "TensorFlow", "pip install tensorflow"),
    ("demo", "keras", "Keras", "pip install keras"),
]


@pytest.mark.parametrize(("words", "hidden", "name", "install"), NEEDS, ids=lambda value: str(value))
def test_a_command_names_the_missing_package_in_one_line(folder, words, hidden, name, install):
    done = command(folder, words, (hidden,))
    assert done.returncode == 2, done.stderr
    assert not done.stdout
    [line] = done.stderr.splitlines()
    assert f"needs {name}, which is not installed" in line
    assert install in line


@pytest.mark.parametrize(
    "words",
    [
        "lint clean.py",
        "explain FIT203",
        "explain run.log",
        "explain --list",
        "report run.json",
        "report --output-format sarif run.json",
        "report --output-format html run.json",
        "explain --output-format html run.log",
        "lint --output-format html clean.py",
        "env --output-format json",
        "--help",
        "scan --help",
        "memory --help",
    ],
)
def test_what_only_reads_works_without_any_of_them(folder, words):
    done = command(folder, words, EVERYTHING)
    assert not done.stderr
    assert done.stdout
    assert done.returncode == 0


FUNCTIONS = [
    ("fitdoctor.scan('train.csv')", "numpy", "NumPy"),
    ("fitdoctor.scan([[1.0]])", "numpy", "NumPy"),
    ("fitdoctor.scan('x.parquet')", "pyarrow", "pyarrow"),
    ("fitdoctor.memory(type('M', (), {'train_step': 1, 'layers': []})())", "tensorflow", "TensorFlow"),
    ("fitdoctor.Doctor()", "keras", "Keras"),
]


@pytest.mark.parametrize(("expression", "hidden", "name"), FUNCTIONS)
def test_a_function_raises_an_import_error_that_says_the_same(folder, expression, hidden, name):
    done = call(
        folder,
        f"import fitdoctor\ntry:\n    {expression}\nexcept ImportError as error:\n    print(error)\n",
        (hidden,),
    )
    assert f"needs {name}, which is not installed" in done.stdout, done.stderr
    assert "pip install" in done.stdout


def test_a_package_that_cannot_be_imported_is_not_called_missing(folder):
    (folder / "numpy.py").write_text("raise ImportError('numpy.core.multiarray failed to import')\n")
    done = call(
        folder, "sys.path.insert(0, '.')\nfrom fitdoctor.cli import main\nmain(['scan', 'train.csv'])", ()
    )
    assert "needs NumPy, which cannot be imported" in done.stderr
    assert "multiarray" in done.stderr


def test_a_module_of_the_users_own_that_is_missing_is_not_to_be_installed(folder):
    (folder / "broken.py").write_text("import my_own_helpers\n")
    done = command(folder, "scan broken.py:x", ())
    assert done.returncode == 2
    assert "pip install" not in done.stderr
    assert "No module named 'my_own_helpers'" in done.stderr


# --- an environment that has nothing but fitdoctor and its two dependencies ----------------------------------------


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    place = tmp_path_factory.mktemp("bare")
    venv.create(place / "venv", symlinks=True)
    shelf = place / "packages"
    shelf.mkdir()
    for name in ("rich", "packaging", "pygments", "markdown_it", "mdurl", "fitdoctor"):
        spec = find_spec(name)
        assert spec is not None
        os.symlink(os.path.dirname(spec.origin), shelf / name)
    [site] = (place / "venv").glob("lib/python*/site-packages")
    (site / "shelf.pth").write_text(f"{shelf}\n")
    return place / "venv/bin/python"


def bare(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [python, "-m", "fitdoctor", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("lint clean.py", 0, ""),
        ("explain FIT203", 0, ""),
        ("explain run.log", 0, ""),
        ("report run.json", 0, ""),
        ("env", 1, ""),
        ("run clean.py", 0, ""),
        ("scan train.csv", 2, "needs NumPy, which is not installed"),
        ("scan x.npy", 2, "needs NumPy, which is not installed"),
        ("memory model.py:model", 2, "needs Keras, which is not installed"),
        ("env --devices", 1, ""),
        ("demo", 2, "needs TensorFlow, which is not installed"),
        ("run model.py", 2, "is not installed"),
        ("fix model.py", 2, "is not installed"),
    ],
)
def test_in_an_environment_with_nothing_else(bare_python, folder, words, status, said):
    done = bare(bare_python, folder, *words.split())
    assert said in done.stderr
    assert "internal error" not in done.stderr
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == status, done.stderr + done.stdout
    if said:
        assert "pip install" in done.stderr
