"""Tensors whose dtype differs from the `input_signature` of a `tf.function`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Edit, Finding, Fix
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import module_of, raised_here
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_REFUSED = re.compile(
    r"Can not cast TensorSpec\(shape=[^\n]{0,100}?, dtype=tf\.(?P<found>\w+), name=[^)\n]{0,60}\) to "
    r"TensorSpec\(shape=[^\n]{0,100}?, dtype=tf\.(?P<expected>\w+),"
)


def refused_by_signature(
    cause: Cause, failure: FailureFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report a dtype that differs from the `input_signature` of a function."""
    rejected = _REFUSED.search(failure.message)
    frame = failure.last_user_frame
    if rejected is None or frame is None or rejected["found"] == rejected["expected"]:
        return
    module = module_of(project, frame)
    written = list(_written(module, rejected["expected"])) if module is not None else []
    yield cause.finding(
        f"the `input_signature` declares {rejected['expected']}, but the function receives {rejected['found']}",
        module.location(written[0]) if module is not None and written else frame.location,
        raised_here(failure),
        *_fixes(module, written, rejected["found"], rejected["expected"]),
        subject="dtype of the features",
        confidence=Confidence.CERTAIN,
    )


def _written(module: Module, name: str) -> Iterator[ast.Attribute]:
    """Yield the dtype expression of each `tf.TensorSpec` with that dtype."""
    for site in module.calls_to("tensorflow.TensorSpec"):
        kind = argument_of(site.node, "dtype", 1)
        if isinstance(kind, ast.Attribute) and kind.attr == name:
            yield kind


def _fixes(module: Module | None, written: list[ast.Attribute], found: str, expected: str) -> list[Fix]:
    cast = fix(f"cast the argument: `tf.cast(x, tf.{expected})`")
    # The weights would then reject floats of another width.
    if module is None or not written or not found.startswith("int"):
        return [cast]
    edits = [Edit(module.location(each), f"{module.segment(each.value)}.{found}") for each in written]
    return [fix(f"use `tf.{found}` in the signature", edits), cast]
