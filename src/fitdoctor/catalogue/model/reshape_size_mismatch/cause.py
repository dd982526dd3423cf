"""Reshape to a different number of elements.

## What happens

The `Reshape` layer raises `ValueError: The total size of the tensor must be unchanged. Received: input_shape=(784,),
target_shape=(7, 7, 32)` when the model is created. `tf.reshape` in a layer's `call` raises `Cannot reshape a tensor with
3200 elements to shape [20,10,4,16] (12800 elements)` during tracing, or `Input to reshape is a tensor with … values, but
the requested shape has …` at run time. A hard-coded batch size fails only on the last batch, if that is shorter.

## Why

The sizes of the new shape do not multiply to the number of elements. Either the previous layer has the wrong number of
units, or an axis of the target shape is wrong (such as the full width instead of the width of one head).

## Fix

Set the units of the previous layer to the size of the target shape, or correct the target shape. A size of -1 is inferred
from the rest.

## Known limits

The sizes alone do not show which of the two is wrong.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.loop_data import frame_of_trace
from fitdoctor.catalogue.knowledge.models.batch_sizes import (
    fixed_batch,
    reshape_to,
    reshaped_in_call,
    rows_left_over,
)
from fitdoctor.catalogue.knowledge.models.refusals import Refusal, explains_refusals
from fitdoctor.catalogue.words import place, shape_words
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument
from fitdoctor.facts import (
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    Frame,
    LayerFacts,
    ModelFacts,
    Outcome,
    Shape,
    Unknown,
)
from fitdoctor.failure.failed_line import module_of, nodes_at
from fitdoctor.failure.shapes import ReshapeSizes, operation_shapes, reshape_sizes
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT313",
    slug="reshape-size-mismatch",
    severity=Severity.ERROR,
    raises=("ValueError", "InvalidArgumentError"),
    explains=("FIT320",),
)

_PASSES = frozenset(
    {"Dropout", "Activation", "ReLU", "LeakyReLU", "BatchNormalization", "LayerNormalization"}
)
_FUNCTIONS = frozenset({"tensorflow.reshape", "keras.ops.reshape", "keras.backend.reshape", "numpy.reshape"})


_SAME_SIZE = fix("use a shape with as many elements as the tensor; -1 is inferred from the rest")


def _speaks_of_reshape(message: str) -> bool:
    return reshape_sizes(message) is not None


# --- the Reshape layer --------------------------------------------------------------------------------------------


@explains_refusals(CAUSE, _speaks_of_reshape)
def reshape_refused(refusal: Refusal, project: Project) -> Iterator[Finding]:
    """Report a reshape whose sizes are known to differ: the layer, or `tf.reshape` of a tensor with an open batch axis."""
    sizes, failure = reshape_sizes(refusal.message), refusal.failure
    assert sizes is not None
    by_layer = refusal.name == "Reshape" or failure is not None and refusal.layer is None
    if failure is not None and (
        sizes.input_shape is None or "total size" not in refusal.message or not by_layer
    ):
        yield _of_operation(failure, sizes, project)
        return
    if not by_layer and refusal.name != "reshape":
        return
    given, target = refusal.shapes[0][1:] if refusal.shapes else sizes.input_shape, sizes.target_shape
    before = (
        next((layer for layer in refusal.way if layer.class_name not in _PASSES), None) if by_layer else None
    )
    yield refusal.finding(
        CAUSE,
        f"`Reshape` to {_words(target)} needs {_count(target)} elements per sample, but its input {_words(given)} "
        f"has {_count(given)}"
        if by_layer
        else f"a sample of {_count(given)} elements is reshaped to {_words(target)}, which needs {_count(target)}",
        refusal.location,
        Evidence(
            "elements per sample",
            f"{_words(given)}: {_count(given)}",
            f"{_words(target)}: {_count(target)}",
            location=refusal.location,
        ),
        *(
            [Evidence(f"its input comes from `{before.class_name}`", location=place(before.code))]
            if before is not None
            else []
        ),
        *_layer_fixes(refusal.code if by_layer else Unknown(), before, given, target),
        subject="layer Reshape" if by_layer else "reshape",
    )


def _words(shape: Shape | None) -> str:
    return shape_words(shape) if shape is not None else "a different shape"


def _count(shape: Shape | None) -> str:
    if shape is None:
        return "a different number"
    number = math.prod(length for length in shape if length is not None and length != -1)
    return f"a multiple of {number:,}" if None in shape or -1 in shape else f"{number:,}"


def _layer_fixes(
    code: Code | Unknown, before: LayerFacts | None, given: Shape | None, target: Shape | None
) -> list[Fix]:
    fixes = []
    elements = _target_texts(code)
    whole = target is not None and None not in target and -1 not in target
    if (
        before is not None
        and before.class_name == "Dense"
        and before.builtin
        and whole
        and target is not None
    ):
        text = " * ".join(elements) if elements else str(math.prod(length or 0 for length in target))
        title = f"set the units of `Dense` to the size of the target shape: `{text}`"
        fixes.append(fix(title, set_argument(before.code, "units", text, position=0)))
    repaired = _repaired(given, target)
    if repaired is not None and isinstance(code, Code):
        title = f"reshape to {shape_words(repaired)}"
        fixes.append(fix(title, set_argument(code, "target_shape", shape_words(repaired), position=0)))
    return fixes or [_SAME_SIZE]


def _target_texts(code: Code | Unknown) -> list[str]:
    """Return the sizes of the target shape as source text."""
    argument = None if isinstance(code, Unknown) else code.argument("target_shape", 0)
    if argument is None:
        return []
    try:
        tree = ast.parse(argument.text.strip(), mode="eval").body
    except SyntaxError:
        return []
    if not isinstance(tree, (ast.Tuple, ast.List)):
        return []
    parts = [ast.unparse(each) for each in tree.elts]
    return [part if part.isidentifier() or part.isdigit() or "." in part else f"({part})" for part in parts]


def _repaired(given: Shape | None, target: Shape | None) -> tuple[int, ...] | None:
    """Return the target shape with its last size corrected, if possible."""
    if given is None or target is None or None in given or None in target or -1 in target:
        return None
    size = math.prod(length for length in given if length is not None)
    rest = [length for length in target[:-1] if length is not None]
    if not rest or math.prod(rest) == 0 or size % math.prod(rest) or size < math.prod(rest):
        return None
    return (*rest, size // math.prod(rest))


# --- reshape as an operation --------------------------------------------------------------------------------------


@CAUSE.before_fit
def from_last_batch(data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a reshape that works for full batches but not for the shorter last one."""
    short = data.trial.short
    failed = short.failure if isinstance(short, Outcome) else None
    if failed is None or failed.place is None or not _speaks_of_reshape(failed.message):
        return
    found = project.module_at(failed.place.path)
    call = _reshape_at(found, failed.place)
    place_of = (found, call) if found is not None and call is not None else None
    yield _of_last_batch(data, data.trial.short_rows, place_of, failed.place, reshape_sizes(failed.message))


@CAUSE.likely_in_source
@mentions("reshape")
def last_batch_in_source(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report it from source, if the number of samples is known and `call` hard-codes the batch size."""
    left = rows_left_over(fit, data)
    found = reshaped_in_call(model, project, fit.batch_size) if left and fit.batch_size else None
    if found is not None:
        sizes = ReshapeSizes(None, None, None, None, (fit.batch_size,))
        yield _of_last_batch(data, left, found, None, sizes)


def _of_last_batch(
    data: DataFacts,
    rows: int | None,
    found: tuple[Module, ast.Call] | None,
    raised: Location | None,
    sizes: ReshapeSizes | None,
) -> Finding:
    edits: tuple[Edit, ...] = ()
    if found is not None and sizes is not None:
        edits = _first_left_open(*found, sizes)
    target = found[0].segment(found[1].args[1]) if found is not None and raised is None else ""
    words = target or _words(sizes.target_shape if sizes is not None else None)
    return CAUSE.certain(
        f"the last batch has {rows} row{'s' * (rows != 1)}, but the reshape to {words} hard-codes the batch size",
        place(found[0].location(found[1]) if found is not None else None, raised),
        Evidence("the last batch is shorter", f"{rows} rows", f"{data.batch_size} rows", fact="data.samples"),
        fix("leave the batch size open: -1", edits),
        subject="reshape",
    )


@CAUSE.after_failure
def from_loss(failure: FailureFacts, project: Project, data: DataFacts | Unknown) -> Iterator[Finding]:
    """Explain a loss with fewer labels than outputs by a reshape with a hard-coded batch size."""
    if _speaks_of_reshape(failure.message) or isinstance(data, DataFacts) and data.role != "training":
        return
    batch = fixed_batch(failure)
    found = reshape_to(project, batch.fixed) if batch is not None else None
    if batch is None or found is None:
        return
    module, call = found
    sizes = ReshapeSizes(None, None, None, None, (batch.fixed,))
    yield CAUSE.finding(
        f"the last batch has {batch.rows} row{'s' * (batch.rows != 1)}, but a reshape hard-codes {batch.fixed}",
        module.location(call),
        Evidence("rows of the batch", str(batch.rows), str(batch.fixed)),
        fix("leave the batch size open: -1", _first_left_open(module, call, sizes)),
        subject="reshape",
    )


def _first_left_open(module: Module, call: ast.Call, sizes: ReshapeSizes) -> tuple[Edit, ...]:
    """Replace a literal batch size by -1."""
    shape = call.args[1] if len(call.args) > 1 else None
    if not isinstance(shape, (ast.Tuple, ast.List)) or not shape.elts or sizes.target_shape is None:
        return ()
    open_already = any(_is_open(each) for each in shape.elts)
    return () if open_already else (Edit(module.location(shape.elts[0]), "-1"),)


_ROWS_DIFFER = re.compile(r"Incompatible shapes|Dimensions must be equal")
"""Raised when the step runs, or during tracing if all batches have the same size."""


@CAUSE.after_failure
def from_batch(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain a loss whose outputs and labels differ in number by a `reshape` to (-1, …) that changed the batch axis."""
    said = operation_shapes(failure.message)
    if said is None or len(said.shapes) != 2 or not _ROWS_DIFFER.search(failure.message):
        return
    first, second = said.shapes
    if not first or first[1:] != second[1:] or first[0] == second[0] or None in (first[0], second[0]):
        return
    for module in project.modules:
        for site in module.calls:
            function = site.function
            traced = function.traced if function is not None else None
            if traced is None or traced.how not in ("call", "lambda layer") or site.name not in _FUNCTIONS:
                continue
            target = site.argument("shape", 1) or site.argument("newshape", 1)
            if (
                isinstance(target, (ast.Tuple, ast.List))
                and len(target.elts) > 1
                and _is_open(target.elts[0])
            ):
                yield _of_batch(failure, module, site.node, target, (first, second))
                return


def _of_batch(
    failure: FailureFacts,
    module: Module,
    call: ast.Call,
    target: ast.Tuple | ast.List,
    rows: tuple[Shape, Shape],
) -> Finding:
    rest = ", ".join(module.segment(each) for each in target.elts[1:])
    return CAUSE.finding(
        f"the reshape turns {rows[0][0]} rows into {rows[1][0]}: with -1 for the batch axis, a sample that does "
        f"not have ({rest}) elements changes the number of rows",
        module.location(call),
        Evidence("shapes passed to the loss", _words(rows[0]), _words(rows[1]), location=failure.location),
        fix(f"pass samples of ({rest}) elements to the layer, or use -1 for an axis other than the first"),
        subject="reshape",
    )


def _of_operation(failure: FailureFacts, sizes: ReshapeSizes, project: Project) -> Finding:
    frame = frame_of_trace(failure)
    module = module_of(project, frame)
    call = _reshape_at(module, frame)
    said = operation_shapes(failure.message)
    given = said.shapes[0] if said is not None and said.shapes else sizes.input_shape
    have = f"{sizes.given:,} elements" if sizes.given is not None else _words(given)
    if sizes.target_shape is not None:
        want = _words(sizes.target_shape) + (
            f", {sizes.wanted:,} elements" if sizes.wanted is not None else ""
        )
    else:
        want = (
            f"{sizes.wanted:,} elements"
            if sizes.wanted is not None
            else f"a multiple of {sizes.multiple_of:,}"
        )
    needs = "" if sizes.target_shape or sizes.wanted is not None else "a shape that needs "
    where = module.location(call) if module is not None and call is not None else None
    edits = _left_open(module, call, given, sizes) if module is not None and call is not None else ()
    return CAUSE.certain(
        f"{'an array' if 'reshape array' in failure.message else 'a tensor'} of {have} is reshaped to {needs}{want}",
        place(where, frame.location if frame is not None else None),
        Evidence(
            "elements before and after",
            f"{_words(given)}, {have}" if given is not None else have,
            want,
            location=frame.location if frame is not None else None,
        ),
        fix("let TensorFlow infer the size of this axis: -1", edits) if edits else _SAME_SIZE,
        subject="reshape",
    )


def _reshape_at(module: Module | None, line: Frame | Location | None) -> ast.Call | None:
    """Return the first call on a line that reshapes a tensor."""
    for call in nodes_at(module, ast.Call, line):
        site = module.call(call) if module is not None else None
        if site is not None and (site.name in _FUNCTIONS or site.method == "reshape" and not site.name):
            return call
    return None


def _left_open(module: Module, call: ast.Call, given: Shape | None, sizes: ReshapeSizes) -> tuple[Edit, ...]:
    """Replace the one wrong size by -1: the last one whose removal makes the others divide the total."""
    shape = call.args[1] if len(call.args) > 1 else None
    target = sizes.target_shape
    total = sizes.given
    if total is None and given is not None and None not in given:
        total = math.prod(length for length in given if length is not None)
    if not isinstance(shape, (ast.Tuple, ast.List)) or target is None or total is None or None in target:
        return ()
    lengths = [length for length in target if length is not None]
    if len(shape.elts) != len(lengths) or -1 in lengths or any(_is_open(each) for each in shape.elts):
        return ()
    for at in range(len(lengths) - 1, -1, -1):
        rest = math.prod(lengths[:at] + lengths[at + 1 :])
        if rest and total % rest == 0:
            return (Edit(module.location(shape.elts[at]), "-1"),)
    return ()


def _is_open(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


CAUSE.message(
    r"^total size of new array must be unchanged\W*$",
    "a `Reshape` changes the number of elements",
    "choose a target shape with as many elements as the input",
    subject="reshape",
    types=("ValueError",),
)
