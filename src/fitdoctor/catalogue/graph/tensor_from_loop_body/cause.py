"""Tensor created in a graph loop and used after it.

## What happens

A list that is filled in `for i in tf.range(n):`, or in the body of `tf.while_loop`, and read after the loop raises
`InaccessibleTensorError: … is out of scope`. The message names a graph such as `while_body_142`. A name that the loop
reads before it has a value raises `ValueError: 'best' must be defined before the loop`. A loop variable that changes
shape or dtype raises `'out' has shape (0,) before the loop, but shape (1,) after one iteration`.

## Why

AutoGraph turns a loop over a tensor into one operation whose body is its own graph. The body is traced once, so a
Python list gets a single element, and that element exists only inside the body. Only loop variables are available
after the loop, and they need a value before it.

## Fix

If the number of iterations is a Python number, loop over Python's `range`: TensorFlow then unrolls the loop, and a
list works. Otherwise collect the tensors in a `tf.TensorArray`, and give every loop variable a value before the loop.

## Known limits

Not reported: a name that the loop only writes and that is read after it. This works as long as AutoGraph can infer
its shape.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.changed_in_parts import Changed, changed_finding, changed_in
from fitdoctor.catalogue.graph.graph_parts import (
    Escape,
    Undefined,
    carried_but_undefined,
    escapes_from,
    escapes_from_part,
)
from fitdoctor.catalogue.graph.leaks import graph_part
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, wrap
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.failure.failed_line import function_at, module_of, stands_at
from fitdoctor.failure.traced_code import is_out_of_scope, made_line
from fitdoctor.source.index import names_in
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import (
    is_symbolic,
    is_variable,
    name_of,
    own_nodes,
    traced_evidence,
    traced_functions,
)

CAUSE = Cause(
    id="FIT403",
    slug="tensor-from-loop-body",
    severity=Severity.ERROR,
    raises=("InaccessibleTensorError", "TypeError", "ValueError"),
)

UNDEFINED = "must be defined before the loop"
_ENTERS = re.compile(r"enters the loop with shape [^\n]{1,80}, but has shape [^\n]{1,80} after one iteration")


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report lists filled in a graph loop and read after it, and loop variables without an initial value."""
    for escape in escapes_from(module, "loops"):
        yield _escaped(escape)
    for function in traced_functions(module):
        for undefined in carried_but_undefined(module, function):
            yield _undefined(undefined)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a tensor whose graph is a loop body, or the loop variable that AutoGraph reports as undefined."""
    if UNDEFINED in failure.message:
        yield from _from_autograph(failure, project)
        return
    changed = changed_in("loop", failure, project)
    if changed is not None or _ENTERS.search(failure.message):
        yield changed_finding(
            CAUSE,
            failure,
            changed,
            ("loop variable", "before the loop", "after one iteration"),
            ("a loop variable changes its shape in each iteration", "loop variable"),
            [
                _first_type(changed, failure, project),
                fix(
                    "collect the growing tensor in a `tf.TensorArray`, or set `shape_invariants` for the loop"
                ),
            ],
        )
        return
    if not is_out_of_scope(failure) or graph_part(failure) != "loop":
        return
    made, used = made_line(failure), failure.last_user_frame
    evidence = _evidence(made, used)
    module = module_of(project, made)
    for escape in escapes_from(module, "loops") if module is not None and made is not None else ():
        around = module.location(escape.function.node) if module is not None else None
        if around is not None and made is not None and stands_at(around, made.line, made.cell):
            yield certain(_escaped(escape), failure, *evidence)
            return
    for escape in (*_from_loop_around(module, made), *_from_loop_before(module_of(project, used), used)):
        yield certain(_escaped(escape), failure, *evidence)
        return
    yield CAUSE.finding(
        "a tensor created in a graph loop is used outside it",
        made.location if made is not None else used.location if used is not None else None,
        *evidence,
        fix("collect the tensors in a `tf.TensorArray`, or loop over a Python `range`"),
        subject="tensor from a loop",
        confidence=Confidence.CERTAIN,
    )


def _from_loop_around(module: Module | None, made: Frame | None) -> Iterator[Escape]:
    """Find tensors that escape from the loops around a line; the failure shows that they are graph loops."""
    function = function_at(module, made.line, made.cell) if module is not None and made is not None else None
    for node in own_nodes(function) if function is not None else ():
        if module is not None and made is not None and isinstance(node, (ast.For, ast.While)):
            if stands_at(module.location(node), made.line, made.cell):
                yield from escapes_from_part(module, function, node)  # type: ignore[arg-type]


def _from_loop_before(module: Module | None, used: Frame | None) -> Iterator[Escape]:
    """Find what escapes from the loops before the line that uses it: the tensor may come from a function called there."""
    function = function_at(module, used.line, used.cell) if module is not None and used is not None else None
    for node in own_nodes(function) if function is not None else ():
        if module is not None and used is not None and isinstance(node, (ast.For, ast.While)):
            if module.location(node).end_line < used.line:
                yield from escapes_from_part(module, function, node, failed=True)  # type: ignore[arg-type]


def _evidence(made: Frame | None, used: Frame | None) -> list[Evidence]:
    evidence = []
    if made is not None:
        claim = "the tensor was created here, in the loop body"
        evidence.append(Evidence(claim, fact="failure.made_at", location=made.location))
    if used is not None:
        evidence.append(Evidence("used here, outside the loop", location=used.location))
    return evidence


def _from_autograph(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    name = failure.message.partition("'")[2].partition("'")[0]
    frame = failure.last_user_frame
    module = module_of(project, frame)
    evidence = [
        Evidence("AutoGraph reports this loop variable as undefined", f"`{name}`", fact="failure.message")
    ]
    for function in traced_functions(module) if module is not None else ():
        assert module is not None
        for undefined in carried_but_undefined(module, function):
            if undefined.store.id == name:
                yield certain(_undefined(undefined), failure, *evidence)
                return
    yield CAUSE.finding(
        f"`{name}` has no value before the loop that updates it",
        frame.location if frame is not None else None,
        *evidence,
        fix(f"set `{name}` to an initial value before the loop"),
        subject=f"loop variable {name}",
        confidence=Confidence.CERTAIN,
    )


def _undefined(undefined: Undefined) -> Finding:
    module, name, end = undefined.module, undefined.store.id, undefined.part.end_lineno
    message = f"`{name}` is read in a graph loop before it has a value"
    if end is not None and undefined.use.lineno > end:
        message = f"`{name}` is read after a loop over a dataset but has no value before the loop"
    return CAUSE.finding(
        message,
        module.location(undefined.store),
        traced_evidence(undefined.function),
        Evidence(
            "AutoGraph turns this loop into a single graph operation", location=_head(module, undefined.part)
        ),
        fix(f"set `{name}` before the loop to an initial value of its later dtype and shape"),
        subject=f"loop variable {name}",
    )


def _escaped(escape: Escape) -> Finding:
    module = escape.module
    read = (
        []
        if escape.read is None
        else [Evidence("read here, after the loop", location=module.location(escape.read))]
    )
    return CAUSE.finding(
        f"{name_of(escape.function)} fills `{escape.holder}` inside a graph loop and reads it after the loop",
        _line_to_change(escape),
        traced_evidence(escape.function),
        Evidence(
            "the loop becomes a single operation with its own graph", location=_head(module, escape.part)
        ),
        *read,
        *_fixes(escape),
        subject=f"{escape.holder} in {escape.function.qualname}",
    )


def _line_to_change(escape: Escape) -> Location:
    """Return the loop header if a Python loop works, otherwise the line that stores the tensor."""
    if _unrolled(escape) is not None:
        return _head(escape.module, escape.part)
    return escape.module.location(escape.node)


def _head(module: Module, part: ast.AST) -> Location:
    return module.location(getattr(part, "iter", None) or getattr(part, "test", None) or part)


def _fixes(escape: Escape) -> list[Fix]:
    from fitdoctor.catalogue.graph.tensor_from_loop_body.collected_arrays import collected

    found = [remedy for remedy in (_unrolled(escape), collected(escape)) if remedy is not None]
    return [*found, fix("collect the tensors in a `tf.TensorArray`, which works as a loop variable")]


def _unrolled(escape: Escape) -> Fix | None:
    """Replace `tf.range(n)` of a Python number with `range(n)`."""
    part, module = escape.part, escape.module
    if not isinstance(part, ast.For) or not isinstance(part.iter, ast.Call):
        return None
    call = part.iter
    if module.resolve(call.func) != "tensorflow.range" or call.keywords:
        return None
    if any(is_symbolic(module, argument) or is_variable(module, argument) for argument in call.args):
        return None
    # A caller may pass a tensor, and AutoGraph makes a graph loop of `range(tensor)`, too.
    if names_in(call) & set(escape.function.parameters) - {"self"}:
        return None
    if any(isinstance(node, ast.Call) for argument in call.args for node in ast.walk(argument)):
        return None
    return fix(
        "loop over Python's `range`, which unrolls the loop", (Edit(module.location(call.func), "range"),)
    )


def _first_type(changed: Changed | None, failure: FailureFacts, project: Project | Unknown) -> Fix:
    """Start a number with the dtype of the tensors that the loop adds to it."""
    title = "start with the dtype that it has after the loop"
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if changed is None or changed.what != "dtype" or module is None or frame is None:
        return fix(title)
    function = function_at(module, frame.line, frame.cell)
    first = next(
        iter(module.assignments(changed.name, function.node if function is not None else None)), None
    )
    value = first.value if first is not None else None
    tf = dict(module.spellings).get("tensorflow")
    if value is None or tf is None or module.location(value).line >= frame.line:
        return fix(title)
    code = module.code(value)
    if isinstance(value, ast.Constant) and type(value.value) is int and changed.second == "float32":
        return fix(f"{title}: `{changed.name} = {value.value}.0`", (Edit(code.location, f"{value.value}.0"),))
    return fix(title, wrap(code, f"{tf}.cast({{}}, {tf}.{changed.second})"))
