"""A repair that is called safe leaves alone what a model learns: losses, layers and their sizes, shapes, rates."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from fitdoctor.catalogue import ROOT as CATALOGUE
from fitdoctor.catalogue import catalogue
from fitdoctor.diagnose import examine_source
from fitdoctor.diagnosis import Applicability, Severity
from fitdoctor.edits import LEARNED
from fitdoctor.repair.files import edited, read_file
from fitdoctor.source.project import read_project

CORPUS = Path(__file__).parents[1] / "corpus/failing"
PROGRAMS = [*sorted(Path(CATALOGUE).glob("*/*/broken*.py")), *sorted(CORPUS.glob("*.py"))]
LAYERS = frozenset(
    "Dense Conv1D Conv2D Conv3D LSTM GRU SimpleRNN Bidirectional Embedding Dropout Flatten Reshape RepeatVector "
    "TimeDistributed GlobalAveragePooling1D GlobalAveragePooling2D MaxPooling2D BatchNormalization".split()
)
FIRST = {"Dense": 1, "LSTM": 1, "GRU": 1, "Conv1D": 2, "Conv2D": 2, "Embedding": 2, "Dropout": 1, "Input": 1}
"""How many positional arguments of a layer decide what is learned."""

THE_ONE_CORRECTION = {
    "FIT103": "the input shape with the number of samples in it: no sample has it",
    "FIT216": "the same losses and weights under the names of the outputs",
    "FIT302": "a name that Keras does not know, and the only one that is close; or the same value where it belongs",
    "FIT304": "a recurrent layer before another: it must return sequences",
    "FIT309": "a layer that was not called on its input, or called where a layer is expected",
    "FIT314": "the function where its result is given, or the result where the function is",
    "FIT315": "the input that the model has, for another one that nothing feeds",
    "FIT316": "weights that fit was given, handed on",
    "FIT327": "a value that Keras refuses, such as 25 for 25%",
    "FIT502": "the same layers, made once",
    "FIT406": "a placeholder, as an input of the same shape",
    "FIT504": "the same optimizer, one per model",
    "FIT902": "the same value under its name of today",
}
"""Causes whose programs cannot run, and where only one thing can have been meant; with what their safe repairs change."""


def learned(text: str) -> Counter[str]:
    """What a program says about what is learned, as far as it can be read off its calls."""
    found: Counter[str] = Counter()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        found[name] += name in LAYERS
        for argument in node.args[: FIRST.get(name, 0)]:
            found[f"{name} {ast.unparse(argument)}"] += 1
        for keyword in node.keywords:
            if keyword.arg in LEARNED and (keyword.arg != "shape" or name in ("Input", "InputLayer")):
                found[f"{keyword.arg}={ast.unparse(keyword.value)}"] += 1
        if name == "compile" and len(node.args) > 1:
            found[f"loss={ast.unparse(node.args[1])}"] += 1
    return +found


def safe_repairs(program: Path):
    file = read_file(str(program))
    for finding in examine_source(read_project([program], 3)).findings:
        for fix in finding.fixes:
            if fix.applicability is Applicability.SAFE and fix.edits:
                yield finding, fix, file.text, edited(file, file.text, fix.edits)


KEEPING = {cause.id for cause in catalogue().values() if cause.keeps_training}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_safe_repair_leaves_alone_what_is_learned_and_training_that_works(program):
    for finding, fix, before, after in safe_repairs(program):
        if finding.severity is not Severity.ERROR:
            assert finding.id in KEEPING, f"{finding.id} “{fix.title}” is safe, but the program trains"
        changed = (learned(before) - learned(after)) + (learned(after) - learned(before))
        if finding.severity is Severity.ERROR and finding.id in THE_ONE_CORRECTION:
            continue
        assert not changed, f"{finding.id} “{fix.title}” is safe and changes {dict(changed)}"
