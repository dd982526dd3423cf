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
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.graph_parts import (
    CHANGED,
    OUT_OF_SCOPE,
    Escape,
    carried_but_undefined,
    changed,
    changes_in,
    escapes_from,
)
from fitdoctor.catalogue.graph.leaks import graph_part
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import FailureFacts
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import names_in
from fitdoctor.source.module import Module
from fitdoctor.source.traced.symbolic import is_symbolic, is_variable, name_of, traced_evidence

CAUSE = Cause(
    id="FIT403",
    slug="tensor-from-loop-body",
    severity=Severity.ERROR,
    raises=("InaccessibleTensorError", "TypeError", "ValueError"),
)

_CHANGED = "(?m)" + CHANGED.format("before the loop", "after one iteration")
_PLACES = ("before the loop", "after one iteration")
_START = "start with the dtype that it has after the loop"
_GROW = "collect the growing tensor in a `tf.TensorArray`, or set `shape_invariants` for the loop"


@CAUSE.rule(
    "def",
    "lambda",
    says=r"'(?P<name>[\w.]+)' must be defined before the loop",
    anywhere=True,
    problem="`{name}` has no value before the loop that updates it",
    remedy="set `{name}` to an initial value before the loop",
    subject="loop variable {name}",
    confidence=Confidence.CERTAIN,
)
def undefined_before_loop(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report a loop variable without an initial value."""
    for found in carried_but_undefined(module):
        if failure is not None and f"'{found.holder}'" not in failure.message:
            continue
        message = f"`{found.holder}` is read in a graph loop before it has a value"
        if getattr(found.read, "lineno", 0) > (found.part.end_lineno or 0):
            message = f"`{found.holder}` is read after a loop over a dataset but has no value before the loop"
        yield CAUSE.finding(
            message,
            module.location(found.node),
            traced_evidence(found.function),
            Evidence(
                "AutoGraph turns this loop into a single operation", location=module.location(found.head)
            ),
            fix(f"set `{found.holder}` before the loop to an initial value of its later dtype and shape"),
            subject=f"loop variable {found.holder}",
        )


@CAUSE.rule(
    in_source=False,
    says=_CHANGED,
    problem="`{name}` has {what} {first} before the loop and {second} after one iteration",
    remedy=(_START, _GROW),
    subject="loop variable {name}",
    confidence=Confidence.CERTAIN,
)
def changes_in_loop(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report a loop variable that changes its dtype or shape."""
    for change in changes_in(module, failure, _CHANGED, loops=True):
        yield changed(CAUSE, change, "loop variable", _PLACES, [fix(_START), fix(_GROW)])


CAUSE.message(
    r"enters the loop with shape [^\n]{1,80}, but has shape [^\n]{1,80} after one iteration",
    "a loop variable changes its shape in each iteration",
    _GROW,
    subject="loop variable",
    confidence=Confidence.CERTAIN,
)


@CAUSE.rule(
    "def",
    "lambda",
    says=OUT_OF_SCOPE,
    fits=lambda failure: graph_part(failure) == "loop",
    anywhere=True,
    problem="a tensor created in a graph loop is used outside it",
    remedy="collect the tensors in a `tf.TensorArray`, or loop over a Python `range`",
    subject="tensor from a loop",
    confidence=Confidence.CERTAIN,
)
def escapes(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report a list that is filled in a graph loop and read after it."""
    if failure is not None and graph_part(failure) != "loop":
        return
    for escape in escapes_from(module, loops=True, failure=failure):
        unrolled = _unrolled(escape)
        remedies = [each for each in (unrolled, _collected(escape)) if each is not None]
        yield CAUSE.finding(
            f"{name_of(escape.function)} fills `{escape.holder}` inside a graph loop and reads it after the loop",
            # The loop is the line to change if a Python loop works.
            module.location(escape.node if unrolled is None else escape.head),
            traced_evidence(escape.function),
            Evidence(
                "the loop becomes a single operation with its own graph",
                location=module.location(escape.head),
            ),
            *escape.read_evidence("read here, after the loop"),
            *remedies,
            fix("collect the tensors in a `tf.TensorArray`, which works as a loop variable"),
            subject=f"{escape.holder} in {escape.function.qualname}",
        )


def _unrolled(escape: Escape) -> Fix | None:
    """Replace `tf.range(n)` of a Python number with `range(n)`."""
    part, module = escape.part, escape.module
    call = part.iter if isinstance(part, ast.For) else None
    if module.called(call) != "tensorflow.range" or not isinstance(call, ast.Call) or call.keywords:
        return None
    if any(is_symbolic(module, argument) or is_variable(module, argument) for argument in call.args):
        return None
    # A caller may pass a tensor, and AutoGraph makes a graph loop of `range(tensor)`, too.
    if names_in(call) & set(escape.function.parameters) - {"self"}:
        return None
    if any(isinstance(node, ast.Call) for argument in call.args for node in ast.walk(argument)):
        return None
    title = "loop over Python's `range`, which unrolls the loop"
    return fix(title, (Edit(module.location(call.func), "range"),))


def _collected(escape: Escape) -> Fix | None:
    """Turn a list that is stacked after the loop into a TensorArray."""
    module, name = escape.module, escape.holder
    tf = dict(module.spellings).get("tensorflow")
    made = _made_empty(escape)
    if tf is None or made is None or escape.value is None or isinstance(escape.part, ast.Call):
        return None
    read = _read_on(escape, made, tf) if isinstance(escape.node, ast.Call) else None
    if read is None:
        return None
    written = f"{name} = {name}.write({name}.size(), {module.segment(escape.value)})"
    # The last batch may be smaller.
    loose = ", infer_shape=False" if any(edit.replacement.endswith(".concat()") for edit in read) else ""
    kind = _type(module, escape, made)
    told = " of dtype float32 (adjust the dtype if yours differs)" if kind == "float32" else ""
    array = f"{tf}.TensorArray({kind if '.' in kind else f'{tf}.{kind}'}, size=0, dynamic_size=True{loose})"
    edits = (Edit(module.location(made.value), array), Edit(module.location(escape.node), written))
    # A wrong guess of the dtype fails only at run time, so the fix is unsafe.
    make = unsafe if told else fix
    return make(f"collect the tensors in a `tf.TensorArray`{told}", edits, read)


def _made_empty(escape: Escape) -> ast.Assign | None:
    """Return where the list is created empty; any later assignment must stack the list itself."""
    module, name = escape.module, escape.holder
    statements = [
        module.parent(node) for node in module.index.scopes[escape.function.node].bindings.get(name, [])
    ]
    lists = [
        each
        for each in statements
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.List) and not each.value.elts
    ]
    stacks = [each for each in statements if each not in lists]
    if len(lists) != 1 or not all(
        isinstance(each, ast.Assign) and _is_stack(each.value, name) for each in stacks
    ):
        return None
    return lists[0]


def _is_stack(value: ast.expr, name: str) -> bool:
    """Return whether a value is a call on the list of that name: `path = tf.stack(path, axis=1)`."""
    first = value.args[0] if isinstance(value, ast.Call) and value.args else None
    return isinstance(first, ast.Name) and first.id == name


def _read_on(escape: Escape, made: ast.Assign, tf: str) -> list[Edit] | None:
    """Return the edits for the places that read the list, or None if one of them does more than stack it."""
    module, name = escape.module, escape.holder
    scope = module.index.scopes[escape.function.node]
    stacked = [
        node.lineno
        for node in scope.bindings.get(name, [])
        if isinstance(node, ast.Name) and module.parent(node) is not made
    ]
    own = {id(node) for node in ast.walk(escape.node)}
    edits = []
    for use in module.reads.get(name, []):
        if id(use) in own or module.index.lookup(name, module.scope(use)) is not scope:
            continue
        if stacked and use.lineno > min(stacked):  # by then the name refers to a tensor
            continue
        joined = _joined(module, module.parent(use), name, tf)
        if not joined:
            return None
        edits.append(Edit(module.location(module.parent(use) or use), joined))
    return edits


def _joined(module: Module, call: ast.AST | None, name: str, tf: str) -> str:
    """Return the TensorArray equivalent of a call that stacks or joins the list."""
    if not isinstance(call, ast.Call):
        return ""
    called = module.resolve(call.func)
    axis = argument_of(call, "axis", 1)
    at = axis.value if isinstance(axis, ast.Constant) else None if axis is not None else 0
    if len(call.args) > 2 or any(keyword.arg != "axis" for keyword in call.keywords):
        return ""
    if called == "tensorflow.convert_to_tensor" or called == "tensorflow.stack" and at == 0:
        return f"{name}.stack()"
    if called == "tensorflow.stack" and at == 1:
        return f"{tf}.experimental.numpy.moveaxis({name}.stack(), 0, 1)"
    if called in ("sum", "tensorflow.add_n"):
        return f"{tf}.reduce_sum({name}.stack(), axis=0)"
    if called == "len":
        return f"{tf}.cast({name}.size(), {tf}.float32)"
    if called.startswith(("tensorflow.reduce_", "tensorflow.math.reduce_")):  # these stack a list themselves
        given = module.segment(call)
        return given.replace(f"({name}", f"({name}.stack()", 1) if f"({name}" in given else ""
    return f"{name}.concat()" if called == "tensorflow.concat" and axis is not None and at == 0 else ""


def _type(module: Module, escape: Escape, made: ast.Assign) -> str:
    """Infer the dtype of the elements from a name defined before the list, or from the operation that computes them."""
    value = escape.value
    if isinstance(value, ast.Name):
        bindings = module.index.scopes[escape.function.node].bindings.get(value.id, [])
        if any(getattr(node, "lineno", made.lineno) < made.lineno for node in bindings):
            return f"{value.id}.dtype"
        value = module.made_by(value)
    name = module.called(value).rpartition(".")[2]
    if name not in ("argmax", "argmin", "cast") or not isinstance(value, ast.Call):
        return "float32"
    given = argument_of(value, "dtype", 1) if name == "cast" else argument_of(value, "output_type", 2)
    return "int64" if given is None else module.segment(given)
