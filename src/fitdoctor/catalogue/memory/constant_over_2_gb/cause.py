"""Graph constant of more than 2 GB.

## What happens

`ValueError: Cannot create a tensor proto whose content is larger than 2GB.`, when `map` is called, when a model is
built from a layer that uses the array, or at the first step.

## Why

A NumPy array that a traced function reads from outside becomes a constant of its graph, and a graph cannot contain
more than 2 GB. As an argument, a variable or the data of a dataset it has no such limit: `from_tensor_slices` of
such an array works (and needs twice its memory).

## Fix

Pass the array as data: slice it in a generator (`tf.data.Dataset.from_generator`) or pass it to
`from_tensor_slices`. Store a lookup table of the model in a variable.

## Known limits

In the source, only arrays with a literal size are detected.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.traced import module_of
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT802", slug="constant-over-2-gb", severity=Severity.ERROR, raises="ValueError")

SAYS_SO = "whose content is larger than 2GB"
LIMIT = 2**31
MAKERS = {"numpy.zeros": 1, "numpy.ones": 1, "numpy.empty": 1, "numpy.full": 2}
"""Functions that create an array of a given shape, with the position of their dtype argument."""
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report an array with a literal size above the limit that traced code reads."""
    large = {
        statement.targets[0].id: site.node
        for site in module.calls_to(*MAKERS)
        if isinstance(statement := module.parent(site.node), ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and _bytes(module, site.node) >= LIMIT
    }
    for name in large:
        for read in module.reads.get(name, []):
            function = module.function_of(read)
            if function is None or function.traced is None or name in function.parameters:
                continue
            yield _finding(module.location(read), name, Confidence.LIKELY, module.location(large[name]))
            break


def _bytes(module: Module, call: ast.Call) -> int:
    """Return the size of an array with a literal shape, else 0."""
    position = MAKERS.get(module.resolve(call.func))
    if position is None or not call.args:
        return 0
    shape = call.args[0]
    sizes = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
    lengths = [part.value for part in sizes if isinstance(part, ast.Constant) and isinstance(part.value, int)]
    if len(lengths) != len(sizes):
        return 0
    kind = argument_of(call, "dtype", position)
    text = module.segment(kind).strip("'\"") if kind is not None else "float64"
    size = next((size for bits, size in SIZES.items() if text.endswith(bits)), 1)
    return math.prod(lengths) * size


def _finding(
    location: Location | None, name: str, confidence: Confidence, made: Location | None = None
) -> Finding:
    array = f"`{name}`, which" if name else "an array that"
    return CAUSE.finding(
        f"traced code reads {array} is larger than 2 GB: a graph cannot contain it",
        subject="constant of a graph",
        location=location,
        evidence=[
            Evidence(
                claim="size of the constant",
                observed="more than 2 GB",
                expected="at most 2 GB",
                location=made,
            )
        ],
        fixes=[
            fix("pass it as data: `from_generator` over its rows, or `from_tensor_slices`"),
            fix("store a lookup table in a variable of the model"),
        ],
        confidence=confidence,
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the ValueError, with the array named in the line that raised."""
    if SAYS_SO not in failure.message and SAYS_SO not in failure.raw_message:
        return
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if module is not None and frame is not None:
        for finding in from_source(module):
            if finding.location is not None and finding.location.line == frame.line:
                yield finding
                return
    yield _finding(frame.location if frame else None, "", Confidence.CERTAIN)
