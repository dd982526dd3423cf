"""`GradientTape` that did not record the computation.

## What happens

- `tape.gradient` returns None for tensors that the tape did not watch. The next line fails with `Attempt to convert a
  value (None) with an unsupported type` or `None values not supported.`
- Calling the model before the `with` block, or computing the loss after it, raises `No gradients provided for any
  variable.`
- Calling `gradient` twice on the same tape raises `RuntimeError: A non-persistent GradientTape can only be used to
  compute one set of gradients`.

## Why

A tape records operations inside its block. It watches trainable variables automatically, but other tensors only after
`tape.watch(tensor)`. The first `gradient` call releases the tape, unless it was created with `persistent=True`.

## Fix

Call the model and compute the loss inside the block. Watch tensors that are not variables. Make the tape persistent,
or use one tape per loss.

## Known limits

A function argument may be a variable, so `lint` does not report it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import Tape, surely_uses_weights, tapes, uses_weights
from fitdoctor.catalogue.traceback_lines import speaks_of_gradients
from fitdoctor.catalogue.variables.tape_moves import leading_to, moved_in, moved_to_the_end, stores
from fitdoctor.catalogue.variables.uncalled_under_tape import uncalled_at
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, insert_before, set_argument, spell, wrap
from fitdoctor.facts import FailureFacts
from fitdoctor.records import dataclass
from fitdoctor.source.assignments import assignment_of, last_assignment
from fitdoctor.source.conditions import expects_failure
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import names_in
from fitdoctor.source.module import Module
from fitdoctor.source.project import NO_FILES
from fitdoctor.source.traced.tensor_calls import MAKES_VARIABLE

CAUSE = Cause(
    id="FIT507",
    slug="tape-misused",
    severity=Severity.ERROR,
    raises=("ValueError", "RuntimeError", "TypeError", "AttributeError"),
    explains=("FIT505",),
)

_NONE = r"value \(None\)|None values not supported|NoneType|to be differentiated, but received None"
_NO_GRADIENTS = "No gradients provided for any variable"


@CAUSE.rule(
    "GradientTape",
    says="GradientTape can only be used to compute one set of gradients",
    anywhere=True,
    problem="`gradient` is called twice on a tape that is not persistent",
    remedy="create the tape with `persistent=True`",
    subject="tape",
    confidence=Confidence.CERTAIN,
)
def asked_twice(module: Module) -> Iterator[Finding]:
    """Find a tape that computes two gradients without being persistent."""
    for tape in tapes(module):
        if len(tape.gradients) < 2 or argument_of(tape.maker, "persistent", 0) is not None:
            continue
        first, second = tape.gradients[:2]
        shown = expects_failure(module, second) and not expects_failure(module, first)
        if shown or _branches(module, first) != _branches(module, second):
            continue
        yield CAUSE.finding(
            f"`{tape.name}.gradient` is called twice, but the tape is not persistent",
            module.location(tape.maker),
            Evidence("the first call releases the tape", location=module.location(first)),
            Evidence("the second call raises an error", location=module.location(second)),
            fix("make the tape persistent", set_argument(module.code(tape.maker), "persistent", "True")),
            subject=f"tape {tape.name}",
        )


def _branches(module: Module, node: ast.AST) -> dict[ast.If, bool]:
    """Return the branches around a node, since calls in different branches do not follow each other."""
    around = {node, *module.parents(node)}
    return {each: not around.isdisjoint(each.body) for each in around if isinstance(each, ast.If)}


@CAUSE.rule("GradientTape", says=_NO_GRADIENTS, in_source=False, anywhere=True)
def called_before(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find the model call right before the block whose gradients the failing line applies."""
    uncalled = uncalled_at(failure, module.project or NO_FILES) if failure is not None else None
    if uncalled is not None and uncalled.module is module and uncalled.before is not None:
        made, tape = uncalled.before, uncalled.tape
        yield _too_early(tape, module.code(made).target, made, moved_in(module, made, tape.block))


@CAUSE.rule("GradientTape", says=_NONE, anywhere=True)
def overwritten(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find a step `w = w - rate * gradient` in a loop, after which `w` is an unwatched tensor."""
    for tape in tapes(module):
        asked = {
            node.id: node
            for call in _used(tape, failure)
            for argument in call.args[1:2]
            for node in ast.walk(argument)
            if isinstance(node, ast.Name)
        }
        steps = [step for step in _steps_behind(tape) if step.name in asked and _was_variable(module, step)]
        if steps and not tape.watches(steps[0].name):
            name = steps[0].name
            yield CAUSE.finding(
                f"after this line, `{name}` is a tensor instead of a variable, and the tape does not watch it",
                module.location(steps[0].statement),
                Evidence(
                    "its gradient is computed here",
                    "None from the second iteration on",
                    f"a gradient for `{name}`",
                    location=module.location(asked[name]),
                ),
                fix(f"update the variable in place: `{steps[0].in_place}`", [step.edit for step in steps]),
                subject=f"tape {tape.name}",
            )


@CAUSE.rule("GradientTape", says=_NONE, anywhere=True)
def not_watched(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find gradients of tensors that the tape does not watch."""
    for tape in tapes(module):
        for source in _unwatched(tape, _used(tape, failure)):
            plain, function = _is_plain_tensor(module, source), module.function_of(source)
            given = failure is not None and function is not None and source.id in function.parameters
            if not plain and not given or _told_by_inner(tape, source):
                continue
            if plain and _changed_like_a_variable(module, source):
                yield _should_be_variable(tape, source)
                continue
            gradient = f"a gradient for `{source.id}`"
            yield CAUSE.finding(
                f"`{tape.name}` does not watch `{source.id}`, which is not a variable, so its gradient is None",
                module.location(tape.maker),
                Evidence("the gradient is computed here", "None", gradient, location=module.location(source)),
                fix(f"call `{tape.name}.watch({source.id})`", _watching(tape, source)),
                subject=f"tape {tape.name}",
            )


@CAUSE.rule(
    "GradientTape", says="Tensor' object has no attribute '_unique_id'", in_source=False, anywhere=True
)
def should_be_variable(module: Module) -> Iterator[Finding]:
    """Find a tensor that is optimized."""
    for tape in tapes(module):
        for source in _unwatched(tape, tape.gradients):
            if _is_plain_tensor(module, source) and _changed_like_a_variable(module, source):
                yield _should_be_variable(tape, source)


def _should_be_variable(tape: Tape, source: ast.Name) -> Finding:
    """Report a tensor that is optimized, although only a variable can be updated and is watched automatically."""
    module = tape.module
    made = module.made_by(source)
    spelling, imports = spell(module.code(made), "tensorflow", "tf")
    return CAUSE.finding(
        f"`{source.id}` is a tensor, but only variables can be optimized",
        module.location(made),
        Evidence("its gradient is computed here", "None", location=module.location(source)),
        fix("make it a variable", wrap(module.code(made), f"{spelling}.Variable({{}})"), imports),
        subject=f"tape {tape.name}",
    )


@CAUSE.rule("GradientTape", says=_NO_GRADIENTS, anywhere=True)
def before_the_block(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find a block that uses an earlier prediction and computes nothing from weights itself."""
    for tape in tapes(module):
        calls = _used(tape, failure)
        target = next(_targets_before(tape, calls), None)
        if target is not None:
            moved = moved_to_the_end(module, leading_to(target, tape.before()), tape.block)
            last = next(each for each in reversed(tape.before()) if target in stores(each))
            yield _too_early(tape, target, last, moved)
            continue
        if not calls or any(getattr(node, "attr", "") == "watch" for node in tape.nodes):
            continue  # a watched tensor may have been computed before
        asked = _variables_asked_about(module, calls)
        if uses_weights(module, tape.block.body, asked):
            continue
        for node in (each for each in tape.read if each.id not in tape.stored):
            found = last_assignment(module, node)
            made = found[0].value if found is not None and not found[0].path else None
            if (
                made is not None
                and made.lineno < tape.block.lineno
                and surely_uses_weights(module, made, asked)
            ):
                yield _too_early(tape, node.id, made, moved_in(module, made, tape.block))
                break


def _too_early(tape: Tape, name: str, made: ast.AST, moved: tuple[Edit, ...]) -> Finding:
    module = tape.module
    return CAUSE.finding(
        f"`{name}` is computed before the tape starts recording",
        module.location(made),
        Evidence("the tape starts recording here", location=module.location(tape.block)),
        fix(f"compute `{name}` inside the `with` block", moved),
        subject="tape",
    )


def _targets_before(tape: Tape, calls: list[ast.Call]) -> Iterator[str]:
    """Yield the gradient targets that are computed before the block and not again in or after it."""
    for call, target in _targets(tape.module, calls):
        between = tape.until(call)
        if between is None or target in tape.stored or any(target in stores(each) for each in between):
            continue
        if any(target in stores(each) for each in tape.before()):
            yield target


def _targets(module: Module, calls: list[ast.Call]) -> Iterator[tuple[ast.Call, str]]:
    """Yield the gradient targets that are names, except those that a comprehension around the call binds."""
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for call in calls:
        match call.args:
            case [ast.Name() as target, *_]:
                scope = module.index.lookup(target.id, module.scope(target))
                if scope is None or not isinstance(scope.node, comprehensions):
                    yield call, target.id


@CAUSE.rule("GradientTape", says=f"{_NONE}|{_NO_GRADIENTS}", anywhere=True)
def after_the_block(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find a gradient target that is computed from the block's results after recording has stopped."""
    for tape in tapes(module):
        for call, target in _targets(module, _used(tape, failure)):
            between = tape.until(call) or []
            last = next((each for each in reversed(between) if target in stores(each)), None)
            if last is None or not tape.stored & names_in(last):
                continue
            if isinstance(last, ast.Assign) and _only_picks(last.value):
                continue
            moved = moved_to_the_end(module, between[: between.index(last) + 1], tape.block)
            end = module.location(module.statement(tape.block.body[-1]))
            yield CAUSE.finding(
                f"`{target}` is computed after the `{tape.name}` block, so the tape does not record it",
                module.location(last),
                Evidence("the tape stops recording here", location=end),
                fix(f"compute `{target}` inside the `with` block", moved),
                subject="tape",
            )
            break


def _only_picks(node: ast.expr) -> bool:
    """Return whether it only reads from a dict, list or object (`metrics["loss"]`), without computing."""
    match node:
        case ast.IfExp(body=first, orelse=second):
            return _only_picks(first) and _only_picks(second)
        case ast.Call(func=ast.Name(id="getattr"), args=[value, *_]):
            return _only_picks(value)
        case ast.Call(func=ast.Attribute(value=value, attr="get" | "pop")):
            return _only_picks(value)
        case ast.Attribute(value=value) | ast.Subscript(value=value):
            return _only_picks(value)
    return isinstance(node, ast.Name)


CAUSE.message(
    r"with `tf.Variable`s is not supported. Use `variable.assign",
    "`+=` and `-=` do not work on a variable",
    "update it in place with `assign_add` or `assign_sub`",
    subject="variable",
    confidence=Confidence.CERTAIN,
)
CAUSE.message(
    _NONE,
    "a gradient is None: the tape did not record how the target depends on the source",
    "compute the target inside the `with` block, watch plain tensors, and update variables with `assign`",
    subject="tape",
    fits=lambda failure: speaks_of_gradients(failure) and failure.called != "fit",
    unread=True,
)
CAUSE.message(
    r"`?tape`? is required when a `?Tensor`? loss is passed",
    "the optimizer gets the value of the loss, but no tape that recorded how it was computed",
    "compute the loss under `tf.GradientTape()` and pass its gradients to `apply_gradients`",
    subject="gradients",
    types=("ValueError",),
    confidence=Confidence.CERTAIN,
)


def _used(tape: Tape, failure: FailureFacts | None) -> list[ast.Call]:
    """Return the gradients whose result is used: one that is only displayed does not fail."""
    return [call for call in tape.gradients if failure is not None or not _only_shown(tape.module, call)]


def _only_shown(module: Module, call: ast.Call) -> bool:
    """Whether a gradient is only displayed, as in a lesson about gradients that are None: nothing fails then."""
    statement = module.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return _is_shown(module, call)
    names = [node for target in statement.targets for node in ast.walk(target)]
    if any(not isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.expr_context)) for node in names):
        return False
    scope, line = module.scope(statement), statement.lineno
    for name in (node.id for node in names if isinstance(node, ast.Name)):
        rebound = [getattr(node, "lineno", 0) for node in module.stores(scope, name)]
        end = min((each for each in rebound if each > line), default=10**9)
        reads = [read for read in module.reads.get(name, ()) if line < read.lineno <= end]
        if scope.node is not module.tree or not reads or not all(_is_shown(module, read) for read in reads):
            return False
    return True


def _is_shown(module: Module, value: ast.expr) -> bool:
    """Whether a value stands alone at the end of a cell, or is printed."""
    around = module.parent(value)
    while isinstance(around, (ast.Tuple, ast.List, ast.FormattedValue, ast.JoinedStr)):
        around = module.parent(around)
    return isinstance(around, ast.Expr) or module.called(around) in ("print", "IPython.display.display")


# --- tensors that a tape does not watch ---------------------------------------------------------------------------


def _unwatched(tape: Tape, calls: list[ast.Call]) -> Iterator[ast.Name]:
    """Yield the gradient sources that a tape does not watch: `tape.gradient(y, x)`, `tape.gradient(y, [x, t])`."""
    for call in calls:
        given = argument_of(call, "sources", 1)
        for value in given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]:
            if isinstance(value, ast.Name) and not tape.watches(value.id):
                yield value


def _told_by_inner(tape: Tape, source: ast.Name) -> bool:
    """Return whether an inner tape has the same unwatched source and so fails first."""
    inner = (each for each in tapes(tape.module) if each.block in tape.nodes)
    return any(source.id == found.id for each in inner for found in _unwatched(each, each.gradients))


def _watching(tape: Tape, source: ast.Name) -> list[Edit]:
    """Add `tape.watch(x)` to this tape and to outer ones with the same source."""
    edits: list[Edit] = []
    for each in tapes(tape.module):
        around = tape.block in each.nodes and any(
            source.id == one.id for one in _unwatched(each, each.gradients)
        )
        if each.block is tape.block or around:
            edits += insert_before(tape.module.code(each.block.body[0]), f"{each.name}.watch({source.id})")
    return edits


_NO_VARIABLE = tuple(
    f"tensorflow.{name}"
    for name in (
        "random.", "zeros", "ones", "constant", "cast", "reshape", "linspace", "range", "convert_to_tensor", "concat",
        "stack", "expand_dims", "squeeze", "transpose", "tile", "gather", "one_hot", "math.", "image.", "identity",
    )
)  # fmt: skip


def _is_plain_tensor(module: Module, name: ast.Name) -> bool:
    """Return whether a name is certainly not a variable, because arithmetic or an operation computed it."""
    made = module.made_by(name)
    return _is_arithmetic(made) or module.called(made).startswith(_NO_VARIABLE)


def _is_arithmetic(made: ast.expr) -> bool:
    """Return whether `a + b` computes with tensors; lists of variables are concatenated the same way."""
    if not isinstance(made, ast.BinOp) or not isinstance(made.op, ast.Add):
        return isinstance(made, ast.BinOp)
    return any(isinstance(side, ast.Constant) or _is_arithmetic(side) for side in (made.left, made.right))


def _changed_like_a_variable(module: Module, name: ast.Name) -> bool:
    """Return whether the function passes a name to an optimizer or assigns to it, so that it must be a variable."""
    here = module.function_of(name)
    changed: list[ast.expr] = [
        site.receiver
        for site in module.method_calls("assign", "assign_add", "assign_sub")
        if site.function is here
    ]
    applied = (site for site in module.method_calls("apply_gradients") if site.function is here)
    inner = (node for site in applied for argument in site.node.args for node in ast.walk(argument))
    return any(isinstance(node, ast.Name) and node.id == name.id for node in (*changed, *inner))


def _variables_asked_about(module: Module, calls: list[ast.Call]) -> frozenset[str]:
    """Return the variables among the gradient sources: `tape.gradient(loss, [w, b])`."""
    asked = [value for call in calls for given in call.args[1:2] for value in (given, module.made_by(given))]
    nodes = (
        node
        for value in asked
        for node in (value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value])
    )
    return frozenset(
        module.segment(node)
        for node in nodes
        if isinstance(node, (ast.Name, ast.Attribute))
        and module.called(module.made_by(node)) in MAKES_VARIABLE
    )


# --- steps by hand: `w = w - rate * gradient` replaces the variable with a tensor, and `w -= …` is rejected ----------


@dataclass(frozen=True, eq=False)
class _Step:
    """A statement that computes a new value for a name from its old one."""

    statement: ast.stmt
    name: str
    in_place: str
    """The statement as an in-place update of a variable."""
    edit: Edit


def _steps_behind(tape: Tape) -> Iterator[_Step]:
    """Return the steps after a block in the same loop."""
    module, block = tape.module, tape.module.block(tape.block)
    if isinstance(module.parent(tape.block), (ast.For, ast.While)):
        steps = (_step(module, statement) for statement in block[block.index(tape.block) + 1 :])
        yield from (step for step in steps if step is not None)


def _was_variable(module: Module, step: _Step) -> bool:
    """Return whether one of the values assigned to the name of a step is a variable."""
    scope = module.index.lookup(step.name, module.scope(step.statement))
    bound = scope.bindings[step.name] if scope is not None else []
    return any(module.called(assignment_of(module, node).value) in MAKES_VARIABLE for node in bound)


def _step(module: Module, statement: ast.stmt) -> _Step | None:
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub() as operator, value=change):
            pass
        case ast.Assign(
            targets=[ast.Name(id=name), *_],
            value=ast.BinOp(left=ast.Name(id=old), op=ast.Add() | ast.Sub() as operator, right=change),
        ) if old == name:
            pass
        case _:
            return None
    method = "assign_sub" if isinstance(operator, ast.Sub) else "assign_add"
    text = f"{name}.{method}({module.segment(change)})"
    return _Step(statement, name, text, Edit(module.location(statement), text))
