"""Moves on the operands of an operation that refused their shapes: only those that pass, the plain one as safe."""

from __future__ import annotations

import pytest

from fitdoctor.diagnosis import Applicability, Location
from fitdoctor.edits import apply_edits
from fitdoctor.facts import FailureSummary
from fitdoctor.repair.operand_moves import operand_proposals
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_text


def proposed(text: str, line: int, message: str) -> list[tuple[str, str]]:
    """What each move makes of the text's last line, and whether it is safe."""
    module = Module(source_from_text(text, "train.py"))
    refusal = FailureSummary("ValueError", message, place=Location("train.py", line))
    fixes = list(operand_proposals(refusal, module))
    assert all(fix.edits for fix in fixes)
    return [(apply_edits(text, fix.edits), fix.applicability.value) for fix in fixes]


def refusing(operation: str, *shapes: str) -> str:
    given = ", ".join(shapes)
    return f"Dimensions must be equal for '{{{{node x}}}} = {operation}[T=DT_FLOAT](a, b)' with input shapes: {given}."


@pytest.mark.parametrize(
    ("text", "message", "changed"),
    [
        ("z = x - mean\n", refusing("Sub", "[32,12]", "[32]"), "z = x - mean[..., None]\n"),
        ("z = w * x\n", refusing("Mul", "[32]", "[32,5,12]"), None),
        ("z = x - y\n", refusing("Sub", "[20,3]", "[3,20]"), None),
        ("z = x - y\n", refusing("Sub", "[20,3]", "[20,4]"), []),
        ("z = x + y\n", refusing("Sub", "[32,12]", "[32]"), []),
        (
            "z = x - y\n",
            "operands could not be broadcast together with shapes (64,6) (64,) ",
            "z = x - y[..., None]\n",
        ),
        ("z = x - y\n", "something else entirely", []),
    ],
    ids=["an axis", "two axes", "turned", "none fits", "another operation", "NumPy", "no shapes"],
)
def test_what_passes_is_proposed(text, message, changed):
    found = proposed(text, 1, message)
    if changed is None:
        assert all(how == Applicability.UNSAFE.value for _text, how in found)
    else:
        assert found == ([(changed, "safe")] if changed else [])


def test_a_matrix_is_turned_for_a_product():
    found = proposed(
        "import tensorflow as tf\nz = tf.matmul(q, k)\n", 2, refusing("MatMul", "[8,4]", "[8,4]")
    )
    assert ("import tensorflow as tf\nz = tf.matmul(q, tf.transpose(k))\n", "unsafe") in found and len(
        found
    ) == 2


def test_what_was_reduced_keeps_its_axis_or_is_reduced_over_another():
    text = "import tensorflow as tf\nm = tf.reduce_mean(x, axis=1)\nz = x - m\n"
    kept = proposed(text, 3, refusing("Sub", "[32,12]", "[32]"))
    assert kept[0] == (text.replace("axis=1", "axis=1, keepdims=True"), "safe")
    assert (text.replace("axis=1", "axis=0"), "unsafe") in kept
