"""Graph constant of more than 2 GB.

## What happens

`ValueError: Cannot create a tensor proto whose content is larger than 2GB.`, when `map` is called, when a model is
built from a layer that uses the array, or at the first step.

## Why

A NumPy array that a traced function reads from outside becomes a constant of its graph, and a graph cannot contain
more than 2 GB. As an argument, a variable or the data of a dataset it has no such limit: `from_tensor_slices` of
such an array works (and needs twice its memory).

## Fix

Convert the array to a tensor once, outside the function: the graph then refers to it (it needs twice the memory).
Or pass the array as data: slice it in a generator (`tf.data.Dataset.from_generator`) or pass it to
`from_tensor_slices`. Store a lookup table of the model in a variable.

## Known limits

In the source, only arrays with a literal size are detected.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module

CAUSE = Cause(id="FIT802", slug="constant-over-2-gb", severity=Severity.ERROR, raises="ValueError")

_SAYS = "whose content is larger than 2GB"
_PROBLEM = "traced code reads an array that is larger than 2 GB: a graph cannot contain it"
_REMEDIES = (
    "convert the array to a tensor once, outside the function, with `tf.convert_to_tensor`",
    "pass it as data: `from_generator` over its rows, or `from_tensor_slices`",
    "store a lookup table in a variable of the model",
)
LIMIT = 2**31
MAKERS = {"numpy.zeros": 1, "numpy.ones": 1, "numpy.empty": 1, "numpy.full": 2}
"""Functions that create an array of a given shape, with the position of their dtype argument."""
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


@CAUSE.rule(
    "def",
    "lambda",
    says=_SAYS,
    problem=_PROBLEM,
    remedy=_REMEDIES,
    subject="constant of a graph",
    confidence=Confidence.CERTAIN,
)
def large_array(module: Module) -> Iterator[Finding]:
    """Find an array with a literal size above the limit that traced code reads."""
    large = {
        statement.targets[0].id: site.node
        for site in module.calls_to(*MAKERS)
        if isinstance(statement := module.parent(site.node), ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and _bytes(module, site.node) >= LIMIT
    }
    for name, made in large.items():
        for read in module.reads.get(name, []):
            function = module.function_of(read)
            if function is None or function.traced is None or name in function.parameters:
                continue
            yield CAUSE.finding(
                f"traced code reads `{name}`, which is larger than 2 GB: a graph cannot contain it",
                module.location(read),
                Evidence(
                    "size of the constant", "more than 2 GB", "at most 2 GB", location=module.location(made)
                ),
                *map(fix, _REMEDIES),
                subject="constant of a graph",
            )
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
