"""What a generator yields is not what `from_generator` was told.

## What happens

Another shape or structure raises `InvalidArgumentError` with "TypeError: `generator` yielded an element of shape
(3,) where an element of shape (4,) was expected" inside. Types as such (`output_signature=(tf.float32, tf.int32)`)
raise "`output_signature` must contain objects that are subclass of `tf.TypeSpec`". With a signature of one part for
`(x, y)`, fit reads the signature before the data, finds no labels and says "None values not supported."; and another
number type is cast without a word: floats declared `int32` become 0.

## Why

The signature is a promise: TensorFlow converts each part to the declared type and checks only what the conversion
leaves.

## Fix

Declare what is yielded: `tf.TensorSpec((5,), tf.float32)` for five floats, `None` for an axis whose length changes,
one spec for each part.

## Known limits

Before the failure the number of parts and evident types are compared, as the source of the generator shows them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.generator_sources import generator_function, yields_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT706",
    slug="generator-signature-mismatch",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "TypeError", "ValueError"),
    explains=("FIT215", "FIT310"),
)

FLOATS = frozenset("random normal uniform standard_normal randn rand exponential beta gamma".split())
"""Methods of random generators that give floats."""


@CAUSE.before_fit
def from_calls(fit: FitFacts, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The generator's source yields another number of parts, or floats where whole numbers were declared."""
    if data.form != "dataset" or isinstance(project, Unknown) or data.role != "training":
        return
    if not data.pipeline or data.pipeline[0].operation != "from_generator":
        return
    made = data.pipeline[0].code
    calls = [
        (module, call.node)
        for module in project.modules
        for call in module.calls_to("tensorflow.data.Dataset.from_generator")
    ]
    for module, call in calls:
        if len(calls) == 1 or isinstance(made, Code) and module.location(call) == made.location:
            yield from _compared(module, call, Confidence.LIKELY)


def _compared(module: Module, call: ast.Call, confidence: Confidence) -> Iterator[Finding]:
    signature = _signature(module, call)
    given = (
        call.args[0]
        if call.args
        else next((word.value for word in call.keywords if word.arg == "generator"), None)
    )
    function = _called(module, given) if given is not None else None
    if signature is None or function is None:
        return
    parts = list(signature.elts) if isinstance(signature, ast.Tuple) else [signature]
    yielded = [node.value for node in yields_of(function) if node.value is not None]
    if not yielded or not all(isinstance(value, ast.Tuple) for value in yielded):
        return
    counts = {len(value.elts) for value in yielded if isinstance(value, ast.Tuple)}
    if len(counts) != 1 or any(
        isinstance(part, ast.Starred) for value in yielded for part in ast.walk(value)
    ):
        return
    count = counts.pop()
    if not isinstance(signature, ast.Tuple) and _may_stack(signature, count):
        return
    if count != len(parts):
        yield _parts_differ(module, signature, function, len(parts), count, confidence)
        return
    first = yielded[0]
    assert isinstance(first, ast.Tuple)
    for part, value in zip(parts, first.elts, strict=True):
        if _declares_whole(module, part) and _is_float(function, value):
            yield _cast(module, part, function, value)


def _may_stack(spec: ast.expr, count: int) -> bool:
    """Whether one spec may take a tuple of so many parts as a whole: TensorFlow stacks them into one tensor."""
    if not isinstance(spec, ast.Call):
        return True
    named = next((word.value for word in spec.keywords if word.arg == "shape"), None)
    shape = spec.args[0] if spec.args else named
    if not isinstance(shape, (ast.Tuple, ast.List)):
        return True
    if not shape.elts:
        return False
    first = shape.elts[0]
    return not isinstance(first, ast.Constant) or first.value is None or first.value == count


def _called(module: Module, given: ast.expr) -> FunctionInfo | None:
    if isinstance(given, ast.Name) and given.id == "self":
        owner = module.class_of(given)
        method = module.method(owner, "__call__") if owner is not None else None
        return method if method is not None and method.node in method.module.generators else None
    if isinstance(given, ast.Lambda) and isinstance(given.body, ast.Call):
        return generator_function(module, given.body.func)
    return generator_function(module, given)


def _signature(module: Module, call: ast.Call) -> ast.expr | None:
    for word in call.keywords:
        if word.arg == "output_signature":
            made = module.made_by(word.value)
            is_spec = isinstance(made, ast.Call) and module.resolve(made.func) == "tensorflow.TensorSpec"
            return made if isinstance(made, ast.Tuple) or is_spec else None
    return None


def _parts_differ(
    module: Module,
    signature: ast.expr,
    function: FunctionInfo,
    declared: int,
    count: int,
    confidence: Confidence,
) -> Finding:
    whole = module.location(signature)
    end = replace(whole, line=whole.end_line, column=max(whole.end_column - 1, 1))
    return CAUSE.finding(
        f"the signature declares {declared} part{'s' if declared > 1 else ''}, but `{function.name}` yields {count}",
        subject="output_signature",
        location=end if isinstance(signature, ast.Tuple) else whole,
        evidence=[
            Evidence(
                claim="parts of an element",
                observed=str(count),
                expected=str(declared),
                location=function.module.location(yields_of(function)[0]),
            )
        ],
        fixes=[fix("declare one `tf.TensorSpec` for each part that is yielded")],
        confidence=confidence,
    )


def _declares_whole(module: Module, spec: ast.expr) -> ast.expr | None:
    if not isinstance(spec, ast.Call) or module.resolve(spec.func) != "tensorflow.TensorSpec":
        return None
    kind = next(
        (word.value for word in spec.keywords if word.arg == "dtype"),
        spec.args[1] if len(spec.args) > 1 else None,
    )
    name = module.resolve(kind) if kind is not None else ""
    return kind if re.fullmatch(r"tensorflow\.u?int\d+", name) else None


def _is_float(function: FunctionInfo, value: ast.expr) -> bool:
    """Whether a yielded value surely holds fractions: drawn from a continuous distribution, in the generator itself."""
    made = function.module.made_by(value)
    if (
        not isinstance(made, ast.Call)
        or not isinstance(made.func, ast.Attribute)
        or made.func.attr not in FLOATS
    ):
        return False
    source = function.module.made_by(made.func.value)
    name = (
        function.module.resolve(source.func)
        if isinstance(source, ast.Call)
        else function.module.resolve(source)
    )
    return name.startswith("numpy.random") or name == "random"


def _cast(module: Module, spec: ast.expr, function: FunctionInfo, value: ast.expr) -> Finding:
    kind = _declares_whole(module, spec)
    edits: tuple[Edit, ...] = ()
    if isinstance(kind, ast.Attribute):
        edits = (Edit(module.location(kind), re.sub(r"u?int\d+$", "float32", module.segment(kind))),)
    return CAUSE.finding(
        f"`{function.name}` yields floats where the signature declares whole numbers: they are cut off without a word",
        subject="output_signature",
        location=module.location(spec),
        evidence=[
            Evidence(
                claim="what is yielded",
                observed="floats",
                expected="whole numbers",
                location=function.module.location(value),
            )
        ],
        fixes=[fix("declare `tf.float32`", edits)],
        severity=Severity.WARNING,
    )


# --- after the failure --------------------------------------------------------------------------------------------

_SHAPE = pattern(
    r"`generator` yielded an element of shape (?P<found>\([^)]*\)) where an element of shape (?P<expected>\([^)]*\))"
)
_SAYS = (
    "`generator` yielded an element",
    "`output_signature` must contain objects",
    "`generator` must be a Python callable",
)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """TensorFlow compares what was yielded with what was declared; or the labels are missing without a word."""
    message = failure.message + "\n" + failure.raw_message
    compared = _all_compared(project)
    if "None values not supported" in failure.message:
        yield from (finding for finding in compared if finding.severity is Severity.ERROR)
        return
    if not any(said in message for said in _SAYS):
        return
    errors = [finding for finding in compared if finding.severity is Severity.ERROR]
    if errors:
        yield from errors
        return
    shapes = _SHAPE.search(message)
    told = "what the generator yields is not what `output_signature` declares"
    evidence = []
    if shapes is not None:
        told = f"the generator yields the shape {shapes['found']}, but the signature declares {shapes['expected']}"
        evidence.append(
            Evidence(
                claim="shape of a part",
                observed=shapes["found"],
                expected=shapes["expected"],
                fact="failure.message",
            )
        )
    yield CAUSE.finding(
        told,
        subject="output_signature",
        location=_declared(project, failure),
        evidence=evidence,
        fixes=_remedies(message),
    )


def _all_compared(project: Project | Unknown) -> list[Finding]:
    if isinstance(project, Unknown):
        return []
    return [
        finding
        for module in project.modules
        for call in module.calls_to("tensorflow.data.Dataset.from_generator")
        for finding in _compared(module, call.node, Confidence.CERTAIN)
    ]


def _declared(project: Project | Unknown, failure: FailureFacts) -> Location | None:
    """The first part of the only signature of the project, else the line that raised."""
    frame = failure.last_user_frame
    fallback = frame.location if frame is not None else None
    if isinstance(project, Unknown):
        return fallback
    calls = [
        (module, call.node)
        for module in project.modules
        for call in module.calls_to("tensorflow.data.Dataset.from_generator")
    ]
    if len(calls) != 1:
        return fallback
    module, call = calls[0]
    signature = _signature(module, call)
    if isinstance(signature, ast.Tuple) and signature.elts:
        return module.location(signature.elts[0])
    return module.location(signature if signature is not None else call)


def _remedies(message: str) -> list[Fix]:
    if "must contain objects" in message:
        return [fix("write `tf.TensorSpec(shape, dtype)` for each part, in a tuple")]
    if "must be a Python callable" in message:
        return [fix("give the function itself, without calling it")]
    return [
        fix("declare `None` for an axis whose length changes, and use `padded_batch`"),
        fix("declare the shape, type and number of the parts that are yielded"),
    ]
