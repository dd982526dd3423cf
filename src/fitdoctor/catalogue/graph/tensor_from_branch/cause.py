"""Tensor created in one branch of the graph and used outside it.

## What happens

A list that a `tf.cond` branch (or an `if` that AutoGraph converts) appends to, or an `add_loss` call inside a branch,
raises `InaccessibleTensorError: … is out of scope`. The message names a graph such as `cond_true_148`. A name that
only one branch defines raises `ValueError: 'penalty' must also be initialized in the else branch`. A name with a
different dtype in each branch raises `TypeError: 'y' has dtype int32 in the main branch, but dtype float32 in the
else branch`.

## Why

TensorFlow traces both branches, each into its own graph, and only values that both branches return are available
afterwards. Only one branch runs when the graph executes, so a tensor that exists in one branch alone may never be
computed.

## Fix

Return the value from both branches and use the result of `tf.cond`. Give the name a default value before the `if`.
Call `add_loss` after the branch, with zero if there is no penalty. Selecting values with `tf.where` needs no branches
at all.

## Known limits

An `if` on a Python value (`if training:`) is decided during tracing. It is not a graph branch and is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.graph.graph_parts import (
    CHANGED,
    OUT_OF_SCOPE,
    Change,
    Escape,
    changed,
    changes_in,
    converted_parts,
    defined_in_one_branch,
    escapes_from,
    first_read_after,
    leaves,
    stored_names,
)
from fitdoctor.catalogue.graph.leaks import graph_part
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_before, spell, unsafe, wrap
from fitdoctor.facts import FailureFacts
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import names_in
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.symbolic import name_of, traced_evidence, traced_functions
from fitdoctor.source.traced.tracing import functions_in

CAUSE = Cause(
    id="FIT404",
    slug="tensor-from-branch",
    severity=Severity.ERROR,
    raises=("InaccessibleTensorError", "TypeError", "ValueError"),
)

_CHANGED = "(?m)" + CHANGED.format("in the (?:main|TRUE) branch", "in the (?:else|FALSE) branch")
_PLACES = ("in one branch of the graph", "in the other")
_SAME = "return values of the same dtype and shape from both branches, for example with `tf.cast`"


@CAUSE.rule(
    in_source=False,
    says=_CHANGED,
    problem="`{name}` has {what} {first} in one branch of the graph and {second} in the other",
    remedy=_SAME,
    subject="branch value {name}",
    confidence=Confidence.CERTAIN,
)
def changes_between_branches(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report a value whose dtype or shape differs between the branches that TensorFlow rejected."""
    for change in changes_in(module, failure, _CHANGED, loops=False):
        yield changed(CAUSE, change, "branch value", _PLACES, [_cast(change), fix(_SAME)])


def _cast(change: Change) -> Fix:
    """Cast the value of one branch to the dtype of the other; prefer floats."""
    module, store, types = change.module, change.store, (change.first, change.second)
    wanted = next((name for name in types if "float" in name), change.first)
    assert isinstance(change.part, ast.If)
    in_else = any(store is one for other in change.part.orelse for one in ast.walk(other))
    edits: tuple[Edit, ...] = ()
    if change.what == "dtype" and types[in_else] != wanted and isinstance(store, ast.Assign):
        tf, imports = spell(module.code(store), "tensorflow", "tf")
        edits = (*wrap(module.code(store.value), f"{tf}.cast({{}}, {tf}.{wanted})"), *imports)
    return unsafe(f"make `{change.name}` {wanted} in both branches", edits)


CAUSE.message(
    r"(?:true_fn and false_fn|branches) [^\n]{0,60}must have the same number, type",
    "the two branches return different numbers or types of values",
    _SAME,
    subject="branches",
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    r"branch must also have a return|value must also be returned|must return a value in both",
    "one branch of the graph returns nothing",
    "return a value of the same dtype and shape in both branches",
    subject="return in a branch",
    confidence=Confidence.CERTAIN,
)


@CAUSE.rule(
    "def",
    "lambda",
    says=OUT_OF_SCOPE,
    fits=lambda failure: graph_part(failure) == "branch",
    anywhere=True,
    problem="a tensor created in one branch of the graph is used outside it",
    remedy="return the tensor from both branches, and use the result of `tf.cond`",
    subject="tensor from a branch",
    confidence=Confidence.CERTAIN,
)
def escapes(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report tensors that a branch stores and that are read after it, and losses added in a branch."""
    if failure is not None and graph_part(failure) != "branch":
        return
    for escape in escapes_from(module, loops=False, failure=failure):
        told = "calls `add_loss` in a branch of the graph, but the loss exists only inside that branch"
        remedy = fix(
            "return the penalty from one branch and zero from the other, and pass the result to `add_loss`"
        )
        if escape.holder != "add_loss":
            told = f"fills `{escape.holder}` in a branch of the graph and reads it outside the branch"
            title = "return the value from both branches and use the result of `tf.cond`"
            remedy = fix(title, _given_back(escape))
        yield CAUSE.finding(
            f"{name_of(escape.function)} {told}",
            module.location(escape.node),
            traced_evidence(escape.function),
            Evidence("each branch becomes its own graph", location=module.location(escape.head)),
            *escape.read_evidence("read here, no matter which branch ran"),
            remedy,
            subject=f"{escape.holder} in {escape.function.qualname}",
        )


def _given_back(escape: Escape) -> tuple[Edit, ...]:
    """Rewrite two functions that append to a list as `used = tf.cond(…)`."""
    module, call = escape.module, escape.part
    if not isinstance(call, ast.Call) or not isinstance(module.parent(call), ast.Expr) or len(call.args) != 3:
        return ()
    branches = [function for argument in call.args[1:] for function in functions_in(module, argument)]
    edits = [Edit(module.location(call), f"{escape.holder} = {module.segment(call)}")]
    for branch in branches:
        returned = _returned_instead(module, branch, escape.holder)
        if not returned:
            return ()
        edits += returned
    reads = [read for read in module.reads.get(escape.holder, []) if module.function_of(read) not in branches]
    for read in reads:
        item = module.parent(read)
        if not isinstance(item, ast.Subscript) or module.segment(item.slice) not in ("0", "-1"):
            return ()
        edits.append(Edit(module.location(item), escape.holder))
    made = module.assignments(escape.holder, call)
    if len(branches) != 2 or len(made) != 1 or made[0].value is None:
        return ()
    return (*edits, Edit(module.location(module.statement(made[0].value)).lines, ""))


def _returned_instead(module: Module, branch: FunctionInfo, holder: str) -> list[Edit]:
    """Write `return x` instead of `used.append(x); return 0` at the end of a branch function."""
    match getattr(branch.node, "body", None):
        case [
            *_,
            ast.Expr(value=ast.Call(func=function, args=[value])) as kept,
            ast.Return(value=idle) as last,
        ]:
            gone = [Edit(module.location(last).lines, "")]
        case [*_, ast.Expr(value=ast.Call(func=function, args=[value])) as kept]:
            idle, gone = None, []
        case _:
            return []
    if module.segment(function) != f"{holder}.append" or not (idle is None or isinstance(idle, ast.Constant)):
        return []
    return [Edit(module.location(kept), f"return {module.segment(value)}"), *gone]


@CAUSE.rule(
    "def",
    "lambda",
    says=r"'(?P<name>[\w.]+)' must (?:also )?be (?:initialized|defined) in (?:the|both)",
    problem="`{name}` is defined in only one branch of the graph",
    remedy="set `{name}` to a default value before the `if`",
    subject="{name} in a branch",
    confidence=Confidence.CERTAIN,
)
def defined_once(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report a name that only one branch of a converted `if` defines and that is read after it."""
    for escape in defined_in_one_branch(module, failure):
        if failure is None or f"'{escape.holder}'" in failure.message:
            yield CAUSE.finding(
                f"`{escape.holder}` is defined in only one branch of the graph, but read afterwards",
                module.location(escape.node),
                traced_evidence(escape.function),
                Evidence("AutoGraph converts this branch", location=module.location(escape.head)),
                *escape.read_evidence("read here, no matter which branch ran"),
                _defined_before(escape),
                fix(f"set `{escape.holder}` to a default value before the `if` or in an `else`"),
                subject=f"{escape.holder} in a branch",
            )


def _defined_before(escape: Escape) -> Fix:
    """Set a neutral value before the `if`: what the branch changes, ones for a factor, else zeros."""
    module, name = escape.module, escape.holder
    statement = module.parent(escape.node)
    names = [
        node for node in ast.walk(escape.function.node) if isinstance(node, ast.Name) and node.id == name
    ]
    factor = any(_is_factor(module, node) for node in names)
    filled = "ones" if factor else "zeros"
    title = f"set `{name}` to {filled} before the `if`"
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return fix(title)
    tf, imports = spell(module.code(statement), "tensorflow", "tf")
    given, stored = statement.value, _stored_in(escape.part)
    changed = _changed_tensor(module, given, stored)
    if changed and not factor and not _is_term(module, escape.read):
        title, value, imports = f"set `{name}` to `{changed}`, unchanged, before the `if`", changed, ()
    elif _is_single_number(module, given):
        value = f"{tf}.constant({'1.0' if factor else '0.0'})"
    elif names_in(given) & (stored - _stored_in(given)):
        return fix(title)
    elif module.called(given).startswith("tensorflow.random.") and isinstance(given, ast.Call) and given.args:
        value = f"{tf}.{filled}({module.segment(given.args[0])})"
    else:
        value = f"{tf}.{filled}_like({changed or module.segment(given)})"
    return unsafe(title, insert_before(module.code(escape.part), f"{name} = {value}"), imports)


def _changed_tensor(module: Module, value: ast.expr, stored: set[str]) -> str:
    """Return the tensor that an expression changes and that keeps its shape: `g` in `g * (limit / norm)`."""
    if isinstance(value, ast.BinOp) and not isinstance(value.op, ast.MatMult):
        parts = [value.left] if isinstance(value.op, ast.Div) else [value.left, value.right]
    elif isinstance(value, ast.Call) and module.called(value).startswith(_SAME_SHAPE):
        parts = value.args[:1]
    else:
        return ""
    found = [part for part in parts if isinstance(part, ast.Name)]
    if len(found) > 1:
        found = [part for part in found if module.is_tensor(part)]
    return found[0].id if len(found) == 1 and found[0].id not in stored else ""


_SAME_SHAPE = tuple(
    f"tensorflow.{name}"
    for name in (
        *("image.flip_", "image.adjust_", "image.random_flip", "image.random_brightness", "image.random_hue"),
        *("math.", "clip_by_", "nn.relu", "nn.dropout", "reverse"),
    )
)


def _is_term(module: Module, use: ast.AST | None) -> bool:
    """Return whether an expression is added to something."""
    around = module.parent(use) if use is not None else None
    return isinstance(around, ast.BinOp) and isinstance(around.op, (ast.Add, ast.Sub))


def _is_factor(module: Module, use: ast.AST | None) -> bool:
    """Return whether the name scales something; in a sum, `0.1 * penalty` is a term."""
    around = module.parent(use) if use is not None else None
    if not isinstance(around, ast.BinOp) or not isinstance(around.op, (ast.Mult, ast.Div)):
        return False
    other = around.left if around.right is use else around.right
    return not _is_term(module, around) and not isinstance(other, ast.Constant)


def _is_single_number(module: Module, value: ast.expr) -> bool:
    """Return whether an expression is a mean or sum over all axes, possibly times numbers or names."""
    match value:
        case ast.BinOp(left=left, right=right):
            single = [_is_single_number(module, part) for part in (left, right)]
            plain = (isinstance(part, (ast.Constant, ast.Name)) for part in (left, right))
            return any(single) and all(one or two for one, two in zip(single, plain, strict=True))
        case ast.Call(args=[_], keywords=[]):
            library, _dot, kind = module.called(value).rpartition(".")
            kind = kind.removeprefix("reduce_") if library == "tensorflow" else kind
            return library in ("tensorflow", "keras.ops", "tensorflow.nn") and kind in (
                *("mean", "sum", "max", "min", "prod"),
                *("add_n", "l2_loss"),
            )
    return False


def _stored_in(node: ast.AST) -> set[str]:
    """Return the names that a piece of code assigns, including those in comprehensions."""
    return {
        part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


# --- types that differ --------------------------------------------------------------------------------------------

_FLOATS = frozenset("sqrt exp log sigmoid tanh softmax softplus rsqrt sin cos log_softmax".split())
"""Functions that accept only floats."""
_KEEPS = frozenset("reduce_mean reduce_sum reduce_max reduce_min square abs negative identity".split())


@CAUSE.rule("def", "lambda")
def types_differ(module: Module) -> Iterator[Finding]:
    """Report a name whose branches differ in type, which AutoGraph rejects because both branches run in the graph."""
    for function in traced_functions(module):
        for branch in converted_parts(function, loops=False):
            assert isinstance(branch, ast.If)
            if leaves(branch):
                continue
            block = module.block(branch)
            before = _last_values(block[: block.index(branch)] if branch in block else [])
            first, second = before | _last_values(branch.body), before | _last_values(branch.orelse)
            for name in sorted(stored_names([branch])):
                values = first.get(name), second.get(name)
                if first_read_after(function, branch, name) is None or None in values:
                    continue
                one, other = (_type_of(module, value) for value in values)
                if one and other and one != other:
                    yield _differs(function, name, values, {one, other})  # type: ignore[arg-type]


def _differs(
    function: FunctionInfo, name: str, values: tuple[ast.expr, ast.expr], types: set[str]
) -> Finding:
    module, (first, second) = function.module, values
    # A literal number is easier to change.
    written = second if isinstance(second, ast.Constant) else first
    whole = isinstance(written, ast.Constant) and type(written.value) is int and types == {"int", "float"}
    edits = (Edit(module.location(written), f"{module.segment(written)}.0"),) if whole else ()
    one, other = (_type_of(module, value) for value in values)
    return CAUSE.finding(
        f"`{name}` is {one} in one branch of the graph and {other} in the other",
        module.location(written),
        traced_evidence(function),
        Evidence("in one branch", f"`{module.segment(first)[:60]}`", location=module.location(first)),
        Evidence("in the other", f"`{module.segment(second)[:60]}`", location=module.location(second)),
        fix("make both values the same type, for example with `tf.cast`", edits),
        subject=f"{name} in a branch",
    )


def _last_values(statements: list[ast.stmt]) -> dict[str, ast.expr | None]:
    """Return the value of each name that a block binds, or None if it is not a single plain assignment."""
    found: dict[str, ast.expr | None] = {}
    for statement in statements:
        found.update(dict.fromkeys(stored_names([statement])))
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
    return found


def _type_of(module: Module, value: ast.expr | None) -> str:
    """Return the tensor type of a value, `float`, `int` or `bool`, or "" if it is unknown."""
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _type_of(module, operand)
        case ast.Constant(value=bool() | int() | float() as constant):
            return type(constant).__name__
        case ast.BinOp(left=left, op=op, right=right):
            floats = "float" in (_type_of(module, left), _type_of(module, right))
            return "float" if floats or isinstance(op, ast.Div) else ""
        case ast.Call(args=[first, *more]) if module.called(value).startswith(("tensorflow.", "keras.ops.")):
            full = module.called(value)
            name = full.rpartition(".")[2]
            if name == "cast":
                kind = argument_of(value, "dtype", 1)
                text = module.segment(kind).strip("'\"").rpartition(".")[2] if kind is not None else ""
                return next((known for known in ("float", "bool", "int") if text.startswith(known)), "")
            if name in ("zeros", "ones") or full == "tensorflow.random.normal":
                named = more or any(keyword.arg in (None, "dtype") for keyword in value.keywords)
                return "" if named else "float"
            return "float" if name in _FLOATS else _type_of(module, first) if name in _KEEPS else ""
    return ""
