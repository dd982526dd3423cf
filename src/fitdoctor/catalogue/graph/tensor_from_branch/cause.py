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
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.changed_in_parts import alike, changed_finding, changed_in
from fitdoctor.catalogue.graph.graph_parts import (
    Escape,
    Undefined,
    converted_branches,
    defined_in_one_branch,
    escapes_from,
    first_read_after,
    leaves,
    returns_in_one_branch,
)
from fitdoctor.catalogue.graph.leaks import graph_part
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_before, spell, unsafe
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import module_of, stands_at
from fitdoctor.failure.traced_code import is_out_of_scope, made_line
from fitdoctor.records import dataclass
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of, own_nodes, traced_evidence, traced_functions
from fitdoctor.source.traced.tracing import functions_in

CAUSE = Cause(
    id="FIT404",
    slug="tensor-from-branch",
    severity=Severity.ERROR,
    raises=("InaccessibleTensorError", "TypeError", "ValueError"),
)

_ONE_BRANCH = re.compile(r"'(?P<name>[\w.]+)' must (?:also )?be (?:initialized|defined) in (?:the|both)")
_COND = re.compile(r"(?:true_fn and false_fn|branches) [^\n]{0,60}must have the same number, type")
_RETURN = re.compile(
    r"branch must also have a return|value must also be returned|must return a value in both"
)


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report tensors stored in a branch and read after it, and names or returns that exist in only one branch."""
    for escape in escapes_from(module, "branches"):
        yield _escaped(escape)
    for function in traced_functions(module):
        for undefined in defined_in_one_branch(module, function):
            yield _undefined(undefined)
        for branch in returns_in_one_branch(module, function):
            yield _no_return(module, function, branch)
        for differing in differing_branches(module, function):
            yield _types_differ(module, function, differing)


def _types_differ(module: Module, function: FunctionInfo, differing: Differing) -> Finding:
    first, second = differing.first, differing.second
    return CAUSE.finding(
        f"`{differing.name}` is {differing.first_type} in one branch of the graph and "
        f"{differing.second_type} in the other",
        module.location(differing.written),
        traced_evidence(function),
        Evidence("in one branch", f"`{module.segment(first)[:60]}`", location=module.location(first)),
        Evidence("in the other", f"`{module.segment(second)[:60]}`", location=module.location(second)),
        _as_float(module, differing),
        subject=f"{differing.name} in a branch",
    )


def _as_float(module: Module, differing: Differing) -> Fix:
    """Write `1.0` instead of `1` if the other branch is a float."""
    value, other = differing.written, {differing.first_type, differing.second_type}
    whole = isinstance(value, ast.Constant) and type(value.value) is int and other == {"int", "float"}
    edits = (Edit(module.location(value), f"{module.segment(value)}.0"),) if whole else ()
    return fix("make both values the same type, for example with `tf.cast`", edits)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a tensor whose graph is a branch, or the name that AutoGraph reports as missing in the other branch."""
    changed = changed_in("branch", failure, project)
    if changed is not None or _COND.search(failure.message):
        yield changed_finding(
            CAUSE,
            failure,
            changed,
            ("branch value", "in one branch of the graph", "in the other"),
            ("the two branches return different numbers or types of values", "branches"),
            [
                *alike(changed, failure, project),
                fix(
                    "return values of the same dtype and shape from both branches, for example with `tf.cast`"
                ),
            ],
        )
        return
    named = _ONE_BRANCH.search(failure.message)
    if named is not None or _RETURN.search(failure.message):
        yield from _from_autograph(failure, project, named["name"] if named is not None else "")
        return
    if not is_out_of_scope(failure) or graph_part(failure) != "branch":
        return
    made, used = made_line(failure), failure.last_user_frame
    evidence = [
        Evidence(claim, location=frame.location)
        for claim, frame in (
            ("the tensor was created here, inside a branch", made),
            ("used here, outside the branch", used),
        )
        if frame is not None
    ]
    module = module_of(project, made)
    candidates = [
        escape
        for escape in (escapes_from(module, "branches") if module is not None else ())
        if made is not None and stands_at(escape.module.location(escape.function.node), made.line, made.cell)
    ]
    exact = [
        escape
        for escape in candidates
        if made is not None and stands_at(escape.module.location(escape.value), made.line, made.cell)
    ]
    if candidates:
        yield certain(_escaped((exact or candidates)[0]), failure, *evidence)
        return
    yield CAUSE.finding(
        "a tensor created in one branch of the graph is used outside it",
        made.location if made is not None else used.location if used is not None else None,
        *evidence,
        fix("return the tensor from both branches, and use the result of `tf.cond`"),
        subject="tensor from a branch",
        confidence=Confidence.CERTAIN,
    )


def _from_autograph(failure: FailureFacts, project: Project | Unknown, name: str) -> Iterator[Finding]:
    frame = failure.last_user_frame
    module = module_of(project, frame)
    evidence = [Evidence("AutoGraph rejected the branch", failure.message.split("\n")[0][:120])]
    for function in traced_functions(module) if module is not None else ():
        assert module is not None
        refused = _refused_branches(function, failure) if name else []
        found = (*defined_in_one_branch(module, function), *defined_in_one_branch(module, function, refused))
        for undefined in found:
            if name and undefined.store.id == name:
                yield certain(_undefined(undefined), failure, *evidence)
                return
        for branch in returns_in_one_branch(module, function):
            if not name and frame is not None and stands_at(module.location(branch), frame.line, frame.cell):
                yield certain(_no_return(module, function, branch), failure, *evidence)
                return
    what = (
        f"`{name}` is defined in only one branch of the graph"
        if name
        else "one branch of the graph returns nothing"
    )
    yield CAUSE.finding(
        what,
        frame.location if frame is not None else None,
        *evidence,
        fix(
            f"set `{name}` to a default value before the `if`" if name else "return a value in both branches"
        ),
        subject=f"{name} in a branch" if name else "return in a branch",
        confidence=Confidence.CERTAIN,
    )


def _refused_branches(function: FunctionInfo, failure: FailureFacts) -> list[ast.If]:
    """Return the `if` statements on the line that AutoGraph reports, whose tests are tensors."""
    frame, module = failure.last_user_frame, function.module
    return [
        node
        for node in own_nodes(function)
        if isinstance(node, ast.If)
        and frame is not None
        and stands_at(module.location(node), frame.line, frame.cell)
    ]


def _undefined(undefined: Undefined) -> Finding:
    module, name = undefined.module, undefined.store.id
    return CAUSE.finding(
        f"`{name}` is defined in only one branch of the graph, but read afterwards",
        module.location(undefined.store),
        traced_evidence(undefined.function),
        Evidence("read here, no matter which branch ran", location=module.location(undefined.use)),
        _defined_before(undefined),
        fix(f"set `{name}` to a default value before the `if` or in an `else`"),
        subject=f"{name} in a branch",
    )


def _defined_before(undefined: Undefined) -> Fix:
    """Set a neutral value before the `if`: what the branch changes, ones for a factor, else zeros."""
    module, name = undefined.module, undefined.store.id
    statement = module.parent(undefined.store)
    factor = _is_factor(module, undefined.use)
    filled = "ones" if factor else "zeros"
    title = f"set `{name}` to {filled} before the `if`"
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return fix(title)
    tf, imports = spell(module.code(statement), "tensorflow", "tf")
    given = statement.value
    changed = _changed_tensor(undefined, given)
    if changed and not factor and not _is_term(module, undefined.use):
        title, value, imports = f"set `{name}` to `{changed}`, unchanged, before the `if`", changed, ()
    elif _is_single_number(module, given):
        value = f"{tf}.constant({'1.0' if factor else '0.0'})"
    elif _uses_names_of(undefined, statement):
        return fix(title)
    elif (
        isinstance(given, ast.Call)
        and module.resolve(given.func).startswith("tensorflow.random.")
        and given.args
    ):
        value = f"{tf}.{filled}({module.segment(given.args[0])})"
    else:
        value = f"{tf}.{filled}_like({changed or module.segment(given)})"
    return unsafe(title, insert_before(module.code(undefined.part), f"{name} = {value}"), imports)


def _changed_tensor(undefined: Undefined, value: ast.expr) -> str:
    """Return the tensor that an expression changes and that keeps its shape: `g` in `g * (limit / norm)`."""
    module, stored = undefined.module, _stored_in(undefined.part)
    if isinstance(value, ast.BinOp) and not isinstance(value.op, ast.MatMult):
        parts = [value.left, value.right]
    elif isinstance(value, ast.Call) and module.resolve(value.func).startswith(_SAME_SHAPE):
        parts = value.args[:1]
    else:
        return ""
    found = [part for part in parts if isinstance(part, ast.Name)]
    if len(found) > 1:
        found = [part for part in found if module.is_tensor(part)]
    return found[0].id if len(found) == 1 and found[0].id not in stored else ""


_SAME_SHAPE = (
    *(
        f"tensorflow.image.{name}"
        for name in ("flip_", "adjust_", "random_flip", "random_brightness", "random_hue")
    ),
    *(
        "tensorflow.math.",
        "tensorflow.clip_by_",
        "tensorflow.nn.relu",
        "tensorflow.nn.dropout",
        "tensorflow.reverse",
    ),
)


def _is_term(module: Module, use: ast.Name) -> bool:
    """Return whether the name is added to something."""
    around = module.parent(use)
    return isinstance(around, ast.BinOp) and isinstance(around.op, (ast.Add, ast.Sub))


def _is_factor(module: Module, use: ast.Name) -> bool:
    """Return whether the name scales something; in a sum, `0.1 * penalty` is a term."""
    around = module.parent(use)
    if not isinstance(around, ast.BinOp) or not isinstance(around.op, (ast.Mult, ast.Div)):
        return False
    other = around.left if around.right is use else around.right
    above = module.parent(around)
    term = isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Add, ast.Sub))
    return not term and not isinstance(other, ast.Constant)


def _is_single_number(module: Module, value: ast.expr) -> bool:
    """Return whether an expression is a mean or sum over all axes, possibly times numbers or names."""
    if isinstance(value, ast.BinOp):
        parts = (value.left, value.right)
        plain = all(
            isinstance(part, (ast.Constant, ast.Name)) or _is_single_number(module, part) for part in parts
        )
        return plain and any(_is_single_number(module, part) for part in parts)
    if not isinstance(value, ast.Call):
        return False
    name = module.resolve(value.func)
    if name in ("tensorflow.add_n", "sum") and len(value.args) == 1 and not value.keywords:
        summed = value.args[0]
        return isinstance(summed, (ast.ListComp, ast.GeneratorExp)) and _is_single_number(module, summed.elt)
    if name == "tensorflow.nn.l2_loss":
        return True
    kind = name.removeprefix("tensorflow.reduce_").removeprefix("keras.ops.")
    reduced = kind != name and kind in ("mean", "sum", "max", "min", "prod")
    return reduced and len(value.args) == 1 and not value.keywords


def _uses_names_of(undefined: Undefined, statement: ast.Assign) -> bool:
    """Return whether the value uses a name that the branch defines."""
    stored, own = _stored_in(undefined.part), _stored_in(statement.value)
    return any(isinstance(node, ast.Name) and node.id in stored - own for node in ast.walk(statement.value))


def _stored_in(node: ast.AST) -> set[str]:
    """Return the names that a piece of code assigns, including those in comprehensions."""
    return {
        part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def _no_return(module: Module, function: FunctionInfo, branch: ast.If) -> Finding:
    return CAUSE.finding(
        f"{name_of(function)} returns a value in one branch of the graph and nothing in the other",
        module.location(branch.test),
        traced_evidence(function),
        fix("return a value of the same dtype and shape from the other branch too"),
        subject=f"return in a branch of {function.qualname}",
    )


def _escaped(escape: Escape) -> Finding:
    module = escape.module
    told = "calls `add_loss` in a branch of the graph, but the loss exists only inside that branch"
    if escape.holder != "add_loss":
        told = f"fills `{escape.holder}` in a branch of the graph and reads it outside the branch"
    read = "read here, no matter which branch ran"
    return CAUSE.finding(
        f"{name_of(escape.function)} {told}",
        module.location(escape.node),
        traced_evidence(escape.function),
        Evidence(
            "each branch becomes its own graph",
            location=module.location(escape.part.test if isinstance(escape.part, ast.If) else escape.part),
        ),
        *([Evidence(read, location=module.location(escape.read))] if escape.read is not None else []),
        *_fixes(escape),
        subject=f"{escape.holder} in {escape.function.qualname}",
    )


def _fixes(escape: Escape) -> list[Fix]:
    if escape.holder == "add_loss":
        moved = _loss_after(escape)
        found = [moved] if moved is not None else []
        return [
            *found,
            fix(
                "return the penalty from one branch and zero from the other, and pass the result to `add_loss`"
            ),
        ]
    return [fix("return the value from both branches and use the result of `tf.cond`", _given_back(escape))]


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
    body = [] if isinstance(branch.node, ast.Lambda) else branch.node.body
    last = body[-1] if body else None
    idle = isinstance(last, ast.Return) and (last.value is None or isinstance(last.value, ast.Constant))
    kept = body[-2] if idle and len(body) > 1 else last
    call = kept.value if isinstance(kept, ast.Expr) else None
    if kept is None or not isinstance(call, ast.Call) or len(call.args) != 1:
        return []
    if module.segment(call.func) != f"{holder}.append":
        return []
    edits = [Edit(module.location(kept), f"return {module.segment(call.args[0])}")]
    return [*edits, Edit(module.location(last).lines, "")] if idle and last is not None else edits


def _loss_after(escape: Escape) -> Fix | None:
    """Wrap the `tf.cond` in `add_loss`, if the other branch already returns zero."""
    module, call = escape.module, escape.part
    if not isinstance(call, ast.Call) or not isinstance(module.parent(call), ast.Expr) or len(call.args) != 3:
        return None
    inner = module.function_of(escape.node)
    branches = [function for argument in call.args[1:] for function in functions_in(module, argument)]
    others = [function for function in branches if inner is not None and function.node is not inner.node]
    if inner is None or isinstance(inner.node, ast.Lambda) or len(others) != 1 or len(inner.node.body) != 2:
        return None
    stored, returned = inner.node.body
    if not isinstance(returned, ast.Return) or not re.search(
        r"zero|\b0\.0\b", module.segment(others[0].node)
    ):
        return None
    assert isinstance(escape.node, ast.Call)
    holder = module.segment(escape.node.func)
    start, end = module.location(stored), module.location(returned)
    replaced = Edit(
        start.__class__(start.path, start.line, start.column, end.end_line, end.end_column, start.cell),
        f"return {module.segment(escape.value)}",
    )
    wrapped = Edit(module.location(call), f"{holder}({module.segment(call)})")
    return fix("pass the result of `tf.cond` to `add_loss`", (replaced, wrapped))


# names that get values of different types in the two branches of a converted `if`.


_FLOATS = frozenset("sqrt exp log sigmoid tanh softmax softplus rsqrt sin cos log_softmax".split())
"""Functions that accept only floats."""
_KEEPS = frozenset("reduce_mean reduce_sum reduce_max reduce_min square abs negative identity".split())
_FILLS = frozenset(("zeros", "ones"))


@dataclass(frozen=True, eq=False)
class Differing:
    """A name whose value has different types in the two branches."""

    name: str
    branch: ast.If
    first: ast.expr
    first_type: str
    second: ast.expr
    second_type: str

    @property
    def written(self) -> ast.expr:
        """The value that is a literal number, which is easier to change; otherwise the first one."""
        return self.second if isinstance(self.second, ast.Constant) else self.first


def differing_branches(module: Module, function: FunctionInfo) -> Iterator[Differing]:
    """Find names whose branches differ in type, which AutoGraph rejects because both branches run in the graph."""
    for branch in converted_branches(module, function):
        if any(leaves(statement) for statement in (*branch.body, *branch.orelse)):
            continue
        first, second = _last_values(branch.body), _last_values(branch.orelse)
        before = _values_before(module, branch)
        for name in sorted({*first, *second}):
            one, other = first.get(name, before.get(name)), second.get(name, before.get(name))
            if one is None or other is None or first_read_after(module, function, branch, name) is None:
                continue
            kinds = _type_of(module, one), _type_of(module, other)
            if all(kinds) and kinds[0] != kinds[1]:
                yield Differing(name, branch, one, kinds[0], other, kinds[1])


def _last_values(statements: list[ast.stmt]) -> dict[str, ast.expr | None]:
    """Return the value of each name that a block binds, or None if it is not a single plain assignment."""
    found: dict[str, ast.expr | None] = {}
    for statement in statements:
        plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                whole = plain and statement.targets[0] is node  # type: ignore[attr-defined]
                found[node.id] = statement.value if whole else None  # type: ignore[attr-defined]
    return found


def _values_before(module: Module, branch: ast.If) -> dict[str, ast.expr | None]:
    """Return the values that earlier statements in the same block assign."""
    parent = module.parent(branch)
    block = getattr(parent, "body", [])
    return _last_values(block[: block.index(branch)]) if branch in block else {}


def _type_of(module: Module, value: ast.expr) -> str:
    """Return the tensor type of a value, `float`, `int` or `bool`, or "" if it is unknown."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return _type_of(module, value.operand)
    if isinstance(value, ast.Constant):
        name = type(value.value).__name__
        return name if name in ("float", "int", "bool") else ""
    if isinstance(value, ast.BinOp):
        floats = isinstance(value.op, ast.Div) or "float" in (
            _type_of(module, value.left),
            _type_of(module, value.right),
        )
        return "float" if floats else ""
    return _type_of_call(module, value) if isinstance(value, ast.Call) else ""


def _type_of_call(module: Module, call: ast.Call) -> str:
    full = module.resolve(call.func)
    name = full.rpartition(".")[2]
    if not full.startswith(("tensorflow.", "keras.ops.")) or not call.args:
        return ""
    if name == "cast":
        kind = argument_of(call, "dtype", 1)
        text = module.segment(kind).strip("'\"").rpartition(".")[2] if kind is not None else ""
        return next((known for known in ("float", "bool", "int") if text.startswith(known)), "")
    if name in _FLOATS:
        return "float"
    if name in _FILLS or full == "tensorflow.random.normal":
        named = any(keyword.arg in (None, "dtype") for keyword in call.keywords) or len(call.args) > 1
        return "" if named else "float"
    return _type_of(module, call.args[0]) if name in _KEEPS else ""
