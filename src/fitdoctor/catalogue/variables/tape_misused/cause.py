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
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import (
    gradient_calls,
    surely_uses_weights,
    tapes,
    uses_weights,
)
from fitdoctor.catalogue.traceback_lines import speaks_of_gradients
from fitdoctor.catalogue.variables.tape_moves import (
    is_stored,
    leading_to,
    moved_in,
    moved_to_the_end,
    statements_beside,
    statements_between,
    stores,
)
from fitdoctor.catalogue.variables.uncalled_under_tape import uncalled_at
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, insert_before, set_argument, spell, wrap
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.failure.failed_line import at_frame
from fitdoctor.records import dataclass
from fitdoctor.source.assignments import assignment_of, last_assignment
from fitdoctor.source.conditions import expects_failure
from fitdoctor.source.module import Module
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


def _taped(module: Module) -> Iterator[tuple[str, ast.With, list[ast.Call]]]:
    """Yield every tape with its block and its `gradient` calls."""
    for tape, block in tapes(module):
        yield tape, block, gradient_calls(module, tape, block)


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
    for tape, block, calls in _taped(module):
        yield from _asked_twice(module, tape, block, calls)


@CAUSE.rule("GradientTape", says=_NO_GRADIENTS, in_source=False, anywhere=True)
def called_before(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find the model call right before the block whose gradients the failing line applies."""
    uncalled = uncalled_at(failure, module.project or Unknown("no project")) if failure is not None else None
    if uncalled is not None and uncalled.module is module and uncalled.before is not None:
        made = uncalled.before
        yield _too_early(module, module.code(made).target, made, uncalled.block)


@CAUSE.rule("GradientTape", says=_NONE, anywhere=True)
def overwritten(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find a step `w = w - rate * gradient` in a loop, after which `w` is an unwatched tensor."""
    for tape, block, calls in _taped(module):
        yield from _overwritten(module, tape, block, _used(module, calls, failure))


@CAUSE.rule("GradientTape", says=_NONE, anywhere=True)
def not_watched(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find gradients of tensors that the tape does not watch."""
    for tape, block, calls in _taped(module):
        for source in unwatched(tape, block, _used(module, calls, failure)):
            plain = is_plain_tensor(module, source) or failure is not None and is_parameter(module, source)
            if plain and not told_by_inner(module, block, source):
                yield _not_watched(module, tape, block, source)


@CAUSE.rule(
    "GradientTape", says="Tensor' object has no attribute '_unique_id'", in_source=False, anywhere=True
)
def should_be_variable(module: Module) -> Iterator[Finding]:
    """Find a tensor that is optimized."""
    for tape, block, calls in _taped(module):
        for source in unwatched(tape, block, calls):
            if is_plain_tensor(module, source) and changed_like_a_variable(module, source):
                yield _should_be_variable(module, tape, source)


@CAUSE.rule("GradientTape", says=_NO_GRADIENTS, anywhere=True)
def before_the_block(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find a block that uses an earlier prediction and computes nothing from weights itself."""
    for _tape, block, calls in _taped(module):
        yield from _before_the_block(module, block, _used(module, calls, failure))


@CAUSE.rule("GradientTape", says=f"{_NONE}|{_NO_GRADIENTS}", anywhere=True)
def after_the_block(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find a gradient target that is computed from the block's results after recording has stopped."""
    for tape, block, calls in _taped(module):
        yield from _after_the_block(module, tape, block, _used(module, calls, failure))


@CAUSE.rule(
    says=r"with `tf.Variable`s is not supported. Use `variable.assign",
    in_source=False,
    problem="`+=` and `-=` do not work on a variable",
    remedy="update it in place with `assign_add` or `assign_sub`",
    subject="variable",
    confidence=Confidence.CERTAIN,
)
def refused_step(module: Module, frame: Frame | None) -> Iterator[Finding]:
    """Find `w -= change`, which TensorFlow rejects immediately."""
    steps = refused_steps(module, frame) if frame is not None else []
    if frame is not None and steps:
        yield CAUSE.finding(
            "`+=` and `-=` do not work on a variable",
            frame.location,
            fix("update it in place with `assign_add` or `assign_sub`", [step.edit for step in steps]),
            subject="variable",
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


def _used(module: Module, calls: list[ast.Call], failure: FailureFacts | None) -> list[ast.Call]:
    """Return the calls whose result is used: one that is only displayed does not fail."""
    return [call for call in calls if failure is not None or not only_shown(module, call)]


def _asked_twice(module: Module, tape: str, block: ast.With, calls: list[ast.Call]) -> Iterator[Finding]:
    maker = _maker(tape, block)
    persistent = module.call(maker).argument("persistent", 0)
    if persistent is not None or len(calls) < 2:
        return
    first, second = calls[:2]
    if _branches(module, first) != _branches(module, second):
        return
    if expects_failure(module, second) and not expects_failure(module, first):
        return  # shown on purpose
    yield CAUSE.finding(
        f"`{tape}.gradient` is called twice, but the tape is not persistent",
        module.location(maker),
        Evidence("the first call releases the tape", location=module.location(first)),
        Evidence("the second call raises an error", location=module.location(second)),
        fix("make the tape persistent", set_argument(module.code(maker), "persistent", "True")),
        subject=f"tape {tape}",
    )


def _maker(tape: str, block: ast.With) -> ast.Call:
    for item in block.items:
        if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == tape:
            assert isinstance(item.context_expr, ast.Call)
            return item.context_expr
    raise ValueError(f"no tape {tape} in this block")


def _branches(module: Module, node: ast.AST) -> list[tuple[int, bool]]:
    """Return the branches around a node, since calls in different branches do not follow each other."""
    found = []
    child, parent = node, module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.If):
            found.append((id(parent), child in parent.body))
        child, parent = parent, module.parent(parent)
    return found


def _not_watched(module: Module, tape: str, block: ast.With, source: ast.Name) -> Finding:
    if is_plain_tensor(module, source) and changed_like_a_variable(module, source):
        return _should_be_variable(module, tape, source)
    return CAUSE.finding(
        f"`{tape}` does not watch `{source.id}`, which is not a variable, so its gradient is None",
        module.location(_maker(tape, block)),
        Evidence(
            "the gradient is computed here",
            "None",
            f"a gradient for `{source.id}`",
            location=module.location(source),
        ),
        fix(f"call `{tape}.watch({source.id})`", watching(module, tape, block, source)),
        subject=f"tape {tape}",
    )


def _should_be_variable(module: Module, tape: str, source: ast.Name) -> Finding:
    """Report a tensor that is optimized, although only a variable can be updated and is watched automatically."""
    made = module.made_by(source)
    spelling, imports = spell(module.code(made), "tensorflow", "tf")
    return CAUSE.finding(
        f"`{source.id}` is a tensor, but only variables can be optimized",
        module.location(made),
        Evidence("its gradient is computed here", "None", location=module.location(source)),
        fix("make it a variable", wrap(module.code(made), f"{spelling}.Variable({{}})"), imports),
        subject=f"tape {tape}",
    )


def _before_the_block(module: Module, block: ast.With, calls: list[ast.Call]) -> Iterator[Finding]:
    """Report a block that uses an earlier prediction and computes nothing from weights itself."""
    asked_before = list(_asked_about_before(module, block, calls))
    if asked_before:
        yield from asked_before
        return
    watches = (node for inner in block.body for node in ast.walk(inner) if isinstance(node, ast.Attribute))
    if not calls or any(node.attr == "watch" for node in watches):
        return  # a watched tensor may have been computed before
    asked = variables_asked_about(module, calls)
    if uses_weights(module, block.body, asked):
        return
    for node in _read_in(block):
        found = last_assignment(module, node)
        made = found[0].value if found is not None and not found[0].path else None
        if made is not None and made.lineno < block.lineno and surely_uses_weights(module, made, asked):
            yield _too_early(module, node.id, made, block)
            return


def _too_early(module: Module, name: str, made: ast.expr, block: ast.With) -> Finding:
    return CAUSE.finding(
        f"`{name}` is computed before the tape starts recording",
        module.location(made),
        Evidence("the tape starts recording here", location=module.location(block)),
        fix(f"compute `{name}` inside the `with` block", moved_in(module, made, block)),
        subject="tape",
    )


def _asked_about_before(module: Module, block: ast.With, calls: list[ast.Call]) -> Iterator[Finding]:
    """Report a gradient target that is computed before the block and not again inside it."""
    beside = statements_beside(module, block)
    before = beside[: beside.index(block)] if block in beside else []
    for call, target in _targets(module, calls):
        if is_stored(block, target.id):
            continue
        if any(target.id in stores(each) for each in statements_between(module, block, call)):
            continue
        last = next((each for each in reversed(before) if target.id in stores(each)), None)
        if last is None or module.statement(call) not in beside[beside.index(block) :]:
            continue
        yield CAUSE.finding(
            f"`{target.id}` is computed before the tape starts recording",
            module.location(last),
            Evidence("the tape starts recording here", location=module.location(block)),
            fix(
                f"compute `{target.id}` inside the `with` block",
                moved_to_the_end(module, leading_to(target.id, before), block),
            ),
            subject="tape",
        )
        return


def _targets(module: Module, calls: list[ast.Call]) -> Iterator[tuple[ast.Call, ast.Name]]:
    """Yield the gradient targets that are names, except those that a comprehension around the call binds."""
    for call in calls:
        target = call.args[0] if call.args else None
        if not isinstance(target, ast.Name):
            continue
        scope = module.index.lookup(target.id, module.scope(target))
        if scope is None or not isinstance(
            scope.node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            yield call, target


def _after_the_block(module: Module, tape: str, block: ast.With, calls: list[ast.Call]) -> Iterator[Finding]:
    """Report a gradient target that is computed from the block's results after recording has stopped."""
    stored = {
        node.id
        for inner in block.body
        for node in ast.walk(inner)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for call, target in _targets(module, calls):
        between = statements_between(module, block, call)
        last = next((each for each in reversed(between) if target.id in stores(each)), None)
        if last is None or not stored & {name.id for name in ast.walk(last) if isinstance(name, ast.Name)}:
            continue
        if isinstance(last, ast.Assign) and _only_picks(last.value):
            continue
        moved = between[: between.index(last) + 1]
        yield CAUSE.finding(
            f"`{target.id}` is computed after the `{tape}` block, so the tape does not record it",
            module.location(last),
            Evidence(
                "the tape stops recording here", location=module.location(module.statement(block.body[-1]))
            ),
            fix(f"compute `{target.id}` inside the `with` block", moved_to_the_end(module, moved, block)),
            subject="tape",
        )
        return


def _only_picks(node: ast.expr) -> bool:
    """Return whether it only reads from a dict, list or object (`metrics["loss"]`), without computing."""
    if isinstance(node, ast.IfExp):
        return _only_picks(node.body) and _only_picks(node.orelse)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "getattr":
            return _only_picks(node.args[0])
        picks = isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop")
        return picks and _only_picks(node.func)
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return _only_picks(node.value)
    return isinstance(node, ast.Name)


def _read_in(block: ast.With) -> Iterator[ast.Name]:
    """Return the names that a block reads but does not assign."""
    names = [node for inner in block.body for node in ast.walk(inner) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return (node for node in names if node.id not in stored and isinstance(node.ctx, ast.Load))


def _overwritten(module: Module, tape: str, block: ast.With, calls: list[ast.Call]) -> Iterator[Finding]:
    """Report a step `w = w - rate * gradient` in a loop, after which `w` is an unwatched tensor."""
    asked = {
        node.id: node
        for call in calls
        if len(call.args) > 1
        for node in ast.walk(call.args[1])
        if isinstance(node, ast.Name)
    }
    steps = [
        step
        for step in steps_behind(module, block)
        if step.target.id in asked and was_variable(module, step.target)
    ]
    if not steps or is_watched(block, tape, steps[0].target.id):
        return
    name = steps[0].target.id
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
        subject=f"tape {tape}",
    )


# tensors whose gradient a tape computes without watching them, also in nested tapes.


def unwatched(tape: str, block: ast.With, calls: list[ast.Call]) -> Iterator[ast.Name]:
    """Return the gradient sources that a tape does not watch."""
    for call in calls:
        for source in sources_of(call):
            if not is_watched(block, tape, source.id):
                yield source


def told_by_inner(module: Module, block: ast.With, source: ast.Name) -> bool:
    """Return whether an inner tape has the same unwatched source and so fails first."""
    return any(
        inner is not block and inner in ast.walk(block) and any(each.id == source.id for each in found)
        for tape, inner in tapes(module)
        for found in [list(unwatched(tape, inner, gradient_calls(module, tape, inner)))]
    )


def watching(module: Module, tape: str, block: ast.With, source: ast.Name) -> list[Edit]:
    """Add `tape.watch(x)` to this tape and to outer ones with the same source."""
    edits = list(insert_before(module.code(block.body[0]), f"{tape}.watch({source.id})"))
    for outer, around in tapes(module):
        if around is not block and block in ast.walk(around):
            asked = unwatched(outer, around, gradient_calls(module, outer, around))
            if any(each.id == source.id for each in asked):
                edits += insert_before(module.code(around.body[0]), f"{outer}.watch({source.id})")
    return edits


def only_shown(module: Module, call: ast.Call) -> bool:
    """Whether a gradient is only displayed, as in a lesson about gradients that are None: nothing fails then."""
    statement = module.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return _is_shown(module, call)
    names = [node for target in statement.targets for node in ast.walk(target)]
    if any(not isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.expr_context)) for node in names):
        return False
    scope = module.scope(statement)
    for name in (node.id for node in names if isinstance(node, ast.Name)):
        rebound = [
            node.lineno
            for node in module.stores(scope, name)
            if isinstance(node, ast.Name) and node.lineno > statement.lineno
        ]
        reads = [
            read
            for read in module.reads.get(name, ())
            if statement.lineno < read.lineno <= min(rebound, default=read.lineno)
        ]
        if scope.node is not module.tree or not reads or not all(_is_shown(module, read) for read in reads):
            return False
    return True


def _is_shown(module: Module, value: ast.expr) -> bool:
    """Whether a value stands alone at the end of a cell, or is printed."""
    around = module.parent(value)
    while isinstance(around, (ast.Tuple, ast.List, ast.FormattedValue, ast.JoinedStr)):
        around = module.parent(around)
    return isinstance(around, ast.Expr) or (
        isinstance(around, ast.Call) and module.resolve(around.func) in ("print", "IPython.display.display")
    )


# manual gradient steps: `w = w - rate * gradient` replaces the variable with a tensor, and `w -= …` is rejected.


@dataclass(frozen=True, eq=False)
class Step:
    """A statement that computes a new value for a name from its old one."""

    module: Module
    statement: ast.Assign | ast.AugAssign
    target: ast.Name
    change: ast.expr
    method: str
    """The in-place update method, `assign_add` or `assign_sub`."""

    @property
    def in_place(self) -> str:
        """Return the statement as an in-place update of a variable."""
        return f"{self.target.id}.{self.method}({self.module.segment(self.change)})"

    @property
    def edit(self) -> Edit:
        """Return the edit that replaces the statement."""
        return Edit(self.module.location(self.statement), self.in_place)


def steps_behind(module: Module, block: ast.With) -> Iterator[Step]:
    """Return the steps after a block in the same loop."""
    parent = module.parent(block)
    if isinstance(parent, (ast.For, ast.While)) and block in parent.body:
        for statement in parent.body[parent.body.index(block) + 1 :]:
            step = _step(module, statement)
            if step is not None:
                yield step


def refused_steps(module: Module, frame: Frame) -> list[Step]:
    """Return the rejected step, and steps on other variables in the same function that would be rejected next."""
    steps = [_step(module, statement) for statement in module.nodes(ast.AugAssign)]
    refused = next(
        (step for step in steps if step is not None and at_frame(module, step.statement, frame)), None
    )
    if refused is None:
        return []
    here = module.function_of(refused.statement)
    return [
        step
        for step in steps
        if step is not None
        and module.function_of(step.statement) is here
        and (step is refused or was_variable(module, step.target))
    ]


def was_variable(module: Module, name: ast.Name) -> bool:
    """Return whether one of the values assigned to a name is a variable."""
    scope = module.index.lookup(name.id, module.scope(name))
    bound = scope.bindings[name.id] if scope is not None else []
    values = [assignment_of(module, node).value for node in bound]
    return any(
        isinstance(value, ast.Call) and module.resolve(value.func) in MAKES_VARIABLE for value in values
    )


def _step(module: Module, statement: ast.stmt) -> Step | None:
    if isinstance(statement, ast.AugAssign):
        target, operator, change = statement.target, statement.op, statement.value
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        first, value = statement.targets[0], statement.value
        if not isinstance(first, ast.Name) or not isinstance(value.left, ast.Name):
            return None
        if value.left.id != first.id:
            return None
        target, operator, change = first, value.op, value.right
    else:
        return None
    if not isinstance(target, ast.Name) or not isinstance(operator, (ast.Add, ast.Sub)):
        return None
    method = "assign_sub" if isinstance(operator, ast.Sub) else "assign_add"
    return Step(module, statement, target, change, method)


# tensors that a tape differentiates with respect to: not variables, watched, or meant to be variables.


_NO_VARIABLE = tuple(
    f"tensorflow.{name}"
    for name in (
        "random.", "zeros", "ones", "constant", "cast", "reshape", "linspace", "range", "convert_to_tensor", "concat",
        "stack", "expand_dims", "squeeze", "transpose", "tile", "gather", "one_hot", "math.", "image.", "identity",
    )
)  # fmt: skip


def sources_of(call: ast.Call) -> Iterator[ast.Name]:
    """Return the names of the gradient sources: `tape.gradient(y, x)`, `tape.gradient(y, [x, t])`."""
    given = call.args[1] if len(call.args) > 1 else None
    for keyword in call.keywords:
        if keyword.arg == "sources":
            given = keyword.value
    for value in given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]:
        if isinstance(value, ast.Name):
            yield value


def is_plain_tensor(module: Module, name: ast.Name) -> bool:
    """Return whether a name is certainly not a variable, because arithmetic or an operation computed it."""
    made = module.made_by(name)
    if isinstance(made, ast.BinOp):
        return _is_arithmetic(made)
    return isinstance(made, ast.Call) and module.resolve(made.func).startswith(_NO_VARIABLE)


def _is_arithmetic(made: ast.BinOp) -> bool:
    """Return whether `a + b` computes with tensors; lists of variables are concatenated the same way."""
    if not isinstance(made.op, ast.Add):
        return True
    return any(
        isinstance(side, ast.BinOp) and _is_arithmetic(side) or isinstance(side, ast.Constant)
        for side in (made.left, made.right)
    )


def is_watched(block: ast.With, tape: str, name: str) -> bool:
    """Return whether a tape watches a name, or its block computes it and so records it."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "watch"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == tape
        and any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))
        for node in ast.walk(block)
    ) or any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(block)
    )


def changed_like_a_variable(module: Module, name: ast.Name) -> bool:
    """Return whether the function passes a name to an optimizer or assigns to it, so that it must be a variable."""
    here = module.function_of(name)
    assigned = module.method_calls("assign", "assign_add", "assign_sub")
    if any(site.function is here and _receiver(site.node) == name.id for site in assigned):
        return True
    return any(
        site.function is here
        and any(
            isinstance(inner, ast.Name) and inner.id == name.id
            for argument in site.node.args
            for inner in ast.walk(argument)
        )
        for site in module.method_calls("apply_gradients")
    )


def _receiver(call: ast.Call) -> str:
    value = call.func.value if isinstance(call.func, ast.Attribute) else None
    return value.id if isinstance(value, ast.Name) else ""


def variables_asked_about(module: Module, calls: list[ast.Call]) -> frozenset[str]:
    """Return the variables among the gradient sources: `tape.gradient(loss, [w, b])`."""
    asked = [module.made_by(call.args[1]) for call in calls if len(call.args) > 1]
    return frozenset(
        module.segment(node)
        for value in [*asked, *(call.args[1] for call in calls if len(call.args) > 1)]
        for node in (value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value])
        if isinstance(node, (ast.Name, ast.Attribute)) and _is_variable(module, node)
    )


def _is_variable(module: Module, node: ast.expr) -> bool:
    made = module.made_by(node)
    return isinstance(made, ast.Call) and module.resolve(made.func) in MAKES_VARIABLE


def is_parameter(module: Module, name: ast.Name) -> bool:
    """Return whether a name is a parameter of its function."""
    function = module.function_of(name)
    return function is not None and name.id in function.parameters
