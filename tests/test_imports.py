"""Imports point one way, and nothing but the collectors loads TensorFlow."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import fitdoctor
from fitdoctor.catalogue import FAMILIES

ROOT = Path(fitdoctor.__file__).parent

LAYERS = {
    "records": set(),
    "patterns": set(),
    "gc_pause": set(),
    "quiet_warnings": set(),
    "json_codec": set(),
    "optional_packages": set(),
    "quiet_start": set(),
    "tables": set(),
    "data_statistics": set(),
    "diagnosis": {"json_codec", "data_statistics"},
    "facts": {"diagnosis"},
    "edits": {"diagnosis", "facts"},
    "source": {"diagnosis", "facts", "edits"},
    "failure": {"diagnosis", "facts", "source"},
    "memory": {"facts"},
    "collect": {"diagnosis", "facts", "source", "failure", "memory"},
    "catalogue": {"diagnosis", "facts", "edits", "source", "failure", "memory"},
    "engine": {"diagnosis", "facts", "edits", "catalogue", "source"},
    "engine_inputs": {"diagnosis", "facts", "source", "failure", "catalogue", "engine"},
    "diagnose": {"diagnosis", "facts", "source", "failure", "catalogue", "engine", "engine_inputs"},
    "config": {"catalogue"},
    "report": {"diagnosis", "facts", "json_codec", "edits", "catalogue", "memory"},
    "runner": {
        "diagnosis",
        "facts",
        "memory",
        "json_codec",
        "source",
        "failure",
        "collect",
        "engine_inputs",
        "diagnose",
        "report",
        "catalogue",
    },
    "repair": {
        "diagnosis",
        "facts",
        "json_codec",
        "edits",
        "source",
        "failure",
        "catalogue",
        "engine_inputs",
        "diagnose",
        "runner",
    },
    "scan": {"diagnosis", "facts", "json_codec", "collect", "engine_inputs", "diagnose"},
    "api": None,
    "integrations": None,
    "cli": None,
}
"""What each part may import of the others; None: the ways in, which may import all that lies below them."""

BELOW_ALL = {
    "data_statistics",
    "optional_packages",
    "quiet_start",
    "tables",
    "records",
    "patterns",
    "gc_pause",
    "quiet_warnings",
}
"""Stand where the standard library would: every part may import them."""
WAYS_IN = {"api", "integrations", "cli"}
DISPLAYS_ITSELF = {("diagnosis", "report"), ("memory", "report"), ("scan", "report")}
"""A result that is printed, or shown in a notebook, asks its renderer then; nothing is loaded before."""
HEAVY = {"tensorflow", "keras", "tf_keras", "numpy", "pandas", "scipy", "sklearn"}
MAY_TOUCH_TENSORFLOW = {"collect", "runner", "scan", "integrations"}


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@functools.cache
def files() -> list[Path]:
    examples = ("broken", "fixed")
    return [
        path
        for path in sorted(ROOT.rglob("*.py"))
        if not path.name.startswith(examples)
        and part_of(path) not in ("__init__", "__main__", "demo_program")
    ]


@functools.cache
def imported(path: Path) -> set[tuple[str, bool]]:
    """(module, whether it is imported at run time at all) of every import in a file, inside functions too."""
    tree = ast.parse(path.read_text("utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        real = id(node) not in for_types
        if isinstance(node, ast.Import):
            found |= {(alias.name, real) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add((node.module, real))
            found |= {
                (f"{node.module}.{alias.name}", real)
                for alias in node.names
                if node.module.startswith("fitdoctor")
            }
    return found


def test_imports_point_one_way():
    wrong = []
    for path in files():
        part = part_of(path)
        assert part in LAYERS, f"`{part}` has no place in the layout yet: add it to LAYERS"
        allowed = LAYERS[part]
        for module, real in imported(path):
            words = module.split(".")
            if words[0] != "fitdoctor" or len(words) < 2 or not real:
                continue
            other = words[1]
            if other not in LAYERS or other == part or other in BELOW_ALL:
                continue
            if (part, other) in DISPLAYS_ITSELF:
                continue
            fits = (other not in WAYS_IN or part in WAYS_IN) if allowed is None else other in allowed
            if not fits:
                wrong.append(f"{path.relative_to(ROOT)} must not import {module}")
    assert not wrong


def catalogue_modules() -> dict[str, Path]:
    """The modules of the catalogue, by dotted name."""
    found = [path for path in files() if path.relative_to(ROOT).parts[0] == "catalogue"]
    return {
        ".".join(("fitdoctor", *path.relative_to(ROOT).with_suffix("").parts)): path
        for path in found
        if path.name != "__init__.py"
    }


def test_families_do_not_import_each_other():
    """What several families need is in `catalogue/knowledge`, which imports no family."""
    families = set(FAMILIES.values())
    wrong = []
    for name, path in catalogue_modules().items():
        room = name.split(".")[2]
        for module, _real in imported(path):
            words = module.split(".")
            other = words[2] if words[:2] == ["fitdoctor", "catalogue"] and len(words) > 3 else ""
            if other in families and other != room and room in families | {"knowledge"}:
                wrong.append(f"{name} imports {module}")
    assert not wrong


def test_a_shared_module_serves_several_causes():
    """What serves one cause lives in its folder."""
    modules = catalogue_modules()
    shared = {name for name in modules if len(name.split(".")) == 4 or ".knowledge." in name}
    users: dict[str, set[Path]] = {name: set() for name in shared}
    for path in files():
        for module, _real in imported(path):
            if module in shared:
                users[module].add(path)

    def served(name: str, seen: set[Path]) -> set[Path]:
        """The folders that use a module, also through other shared modules."""
        found = set()
        for path in users[name] - seen:
            seen.add(path)
            user = next((other for other in shared if modules[other] == path), None)
            found |= served(user, seen) if user is not None else {path.parent}
        return found

    causes = {path.parent for name, path in modules.items() if name not in shared}
    assert not [
        name for name in sorted(shared) if len(folders := served(name, set())) < 2 and folders <= causes
    ]


def test_only_collectors_name_tensorflow():
    named = {
        str(path.relative_to(ROOT)): {module.split(".")[0] for module, _real in imported(path)} & HEAVY
        for path in files()
        if part_of(path) not in MAY_TOUCH_TENSORFLOW
    }
    assert not {path for path, heavy in named.items() if heavy}


def loaded_by(program: str, *, input: str = "") -> set[str]:
    ending = "\nimport sys\nprint('LOADED', *sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", program + ending],
        capture_output=True,
        text=True,
        input=input,
        check=False,
        cwd=tempfile.gettempdir(),  # no pyproject.toml there
    )
    assert "LOADED" in done.stdout, done.stderr
    return set(done.stdout.split("LOADED", 1)[1].split())


TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    model.fit(x, y)
ValueError: You must call `compile()` before using the model.
"""


@pytest.mark.parametrize(
    ("program", "input"),
    [
        ("import fitdoctor; fitdoctor.Diagnosis", ""),
        (
            "from fitdoctor.cli import main; main(['lint', '-'])",
            "import keras\nkeras.Sequential([]).fit([1], [2])\n",
        ),
        ("from fitdoctor.cli import main; main(['explain', '-'])", TRACEBACK),
        ("from fitdoctor.cli import main; main(['explain', 'FIT203'])", ""),
        ("from fitdoctor.cli import main; main(['explain', '--list'])", ""),
    ],
    ids=["import", "lint", "explain a log", "explain an id", "list"],
)
def test_neither_tensorflow_nor_keras_nor_numpy_is_loaded(program, input):
    assert not loaded_by(program, input=input) & HEAVY


def test_the_command_line_starts_without_what_it_does_not_need():
    loaded = loaded_by("from fitdoctor.cli import main; main(['--version'])")
    assert not loaded & {"rich", "argparse", "dataclasses", "json"}


def test_lint_without_colour_needs_no_rich():
    program = "from fitdoctor.cli import main; main(['lint', '-'])"
    assert not loaded_by(program, input="x = 1\n") & {"rich", "jinja2", "tomllib", "concurrent"}
