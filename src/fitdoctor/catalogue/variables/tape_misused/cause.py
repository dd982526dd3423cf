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

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.traced import module_of
from fitdoctor.catalogue.quoted import speaks_of_gradients
from fitdoctor.catalogue.sayings import Saying, findings_from_message
from fitdoctor.catalogue.variables.gradient_ways import (
    gradient_calls,
    surely_uses_weights,
    tapes,
    uses_weights,
)
from fitdoctor.catalogue.variables.plain_tensors import (
    changed_like_a_variable,
    is_parameter,
    is_plain_tensor,
    is_watched,
    variables_asked_about,
)
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
from fitdoctor.catalogue.variables.unwatched_tensors import told_by_inner, unwatched, watching
from fitdoctor.catalogue.variables.variable_steps import refused_steps, steps_behind, was_variable
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix, set_argument, spell, wrap
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.patterns import missing_gradients
from fitdoctor.patterns import pattern
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.conditions import expects_failure
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT507",
    slug="tape-misused",
    severity=Severity.ERROR,
    raises=("ValueError", "RuntimeError", "TypeError", "AttributeError"),
    explains=("FIT505",),
)

_REFUSED_STEP = "with `tf.Variable`s is not supported. Use `variable.assign"
_NO_VARIABLE = "Tensor' object has no attribute '_unique_id'"
NONE_VALUE = (
    "value (None)",
    "None values not supported",
    "NoneType",
    "to be differentiated, but received None",
)


@CAUSE.in_source
@mentions("GradientTape")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a tape used twice, and gradients of unwatched tensors or of computations outside the block."""
    for tape, block in tapes(module):
        calls = gradient_calls(module, tape, block)
        yield from _asked_twice(module, tape, block, calls, Confidence.LIKELY)
        for source in unwatched(tape, block, calls):
            if is_plain_tensor(module, source) and not told_by_inner(module, block, source):
                yield _not_watched(module, tape, block, source, Confidence.LIKELY, [])
        yield from _before_the_block(module, block, calls, Confidence.LIKELY, [])
        yield from _after_the_block(module, tape, block, calls, Confidence.LIKELY, [])
        yield from _overwritten(module, tape, block, calls, Confidence.LIKELY, [])


def _asked_twice(
    module: Module, tape: str, block: ast.With, calls: list[ast.Call], confidence: Confidence
) -> Iterator[Finding]:
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
        subject=f"tape {tape}",
        location=module.location(maker),
        evidence=[
            Evidence(claim="the first call releases the tape", location=module.location(first)),
            Evidence(claim="the second call raises an error", location=module.location(second)),
        ],
        fixes=[fix("make the tape persistent", set_argument(module.code(maker), "persistent", "True"))],
        confidence=confidence,
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


def _not_watched(
    module: Module,
    tape: str,
    block: ast.With,
    source: ast.Name,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    if is_plain_tensor(module, source) and changed_like_a_variable(module, source):
        return _should_be_variable(module, tape, source, confidence, evidence)
    return CAUSE.finding(
        f"`{tape}` does not watch `{source.id}`, which is not a variable, so its gradient is None",
        subject=f"tape {tape}",
        location=module.location(_maker(tape, block)),
        evidence=[
            Evidence(
                claim="the gradient is computed here",
                observed="None",
                expected=f"a gradient for `{source.id}`",
                location=module.location(source),
            ),
            *evidence,
        ],
        fixes=[
            fix(
                f"call `{tape}.watch({source.id})`",
                watching(module, tape, block, source),
            )
        ],
        confidence=confidence,
    )


def _should_be_variable(
    module: Module, tape: str, source: ast.Name, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    """Report a tensor that is optimized, although only a variable can be updated and is watched automatically."""
    made = module.made_by(source)
    spelling, imports = spell(module.code(made), "tensorflow", "tf")
    return CAUSE.finding(
        f"`{source.id}` is a tensor, but only variables can be optimized",
        subject=f"tape {tape}",
        location=module.location(made),
        evidence=[
            Evidence(
                claim="its gradient is computed here", observed="None", location=module.location(source)
            ),
            *evidence,
        ],
        fixes=[fix("make it a variable", wrap(module.code(made), f"{spelling}.Variable({{}})"), imports)],
        confidence=confidence,
    )


def _before_the_block(
    module: Module, block: ast.With, calls: list[ast.Call], confidence: Confidence, evidence: list[Evidence]
) -> Iterator[Finding]:
    """Report a block that uses an earlier prediction and computes nothing from weights itself."""
    asked_before = list(_asked_about_before(module, block, calls, confidence, evidence))
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
            yield _too_early(module, node.id, made, block, confidence, evidence)
            return


def _too_early(
    module: Module,
    name: str,
    made: ast.expr,
    block: ast.With,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    return CAUSE.finding(
        f"`{name}` is computed before the tape starts recording",
        subject="tape",
        location=module.location(made),
        evidence=[
            Evidence(claim="the tape starts recording here", location=module.location(block)),
            *evidence,
        ],
        fixes=[fix(f"compute `{name}` inside the `with` block", moved_in(module, made, block))],
        confidence=confidence,
    )


def _asked_about_before(
    module: Module, block: ast.With, calls: list[ast.Call], confidence: Confidence, evidence: list[Evidence]
) -> Iterator[Finding]:
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
            subject="tape",
            location=module.location(last),
            evidence=[
                Evidence(claim="the tape starts recording here", location=module.location(block)),
                *evidence,
            ],
            fixes=[
                fix(
                    f"compute `{target.id}` inside the `with` block",
                    moved_to_the_end(module, leading_to(target.id, before), block),
                )
            ],
            confidence=confidence,
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


def _after_the_block(
    module: Module,
    tape: str,
    block: ast.With,
    calls: list[ast.Call],
    confidence: Confidence,
    evidence: list[Evidence],
) -> Iterator[Finding]:
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
            subject="tape",
            location=module.location(last),
            evidence=[
                Evidence(
                    claim="the tape stops recording here",
                    location=module.location(module.statement(block.body[-1])),
                ),
                *evidence,
            ],
            fixes=[
                fix(f"compute `{target.id}` inside the `with` block", moved_to_the_end(module, moved, block))
            ],
            confidence=confidence,
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


def _overwritten(
    module: Module,
    tape: str,
    block: ast.With,
    calls: list[ast.Call],
    confidence: Confidence,
    evidence: list[Evidence],
) -> Iterator[Finding]:
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
        subject=f"tape {tape}",
        location=module.location(steps[0].statement),
        evidence=[
            Evidence(
                claim="its gradient is computed here",
                observed="None from the second iteration on",
                expected=f"a gradient for `{name}`",
                location=module.location(asked[name]),
            ),
            *evidence,
        ],
        fixes=[fix(f"update the variable in place: `{steps[0].in_place}`", [step.edit for step in steps])],
        confidence=confidence,
    )


def _refused_step(failure: FailureFacts, project: Project | Unknown) -> Finding:
    """Report `w -= change`, which TensorFlow rejects immediately."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    steps = refused_steps(module, frame) if module is not None and frame is not None else []
    return CAUSE.finding(
        "`+=` and `-=` do not work on a variable",
        subject="variable",
        location=frame.location if frame is not None else None,
        evidence=[
            Evidence(claim="TensorFlow reports", observed=failure.message[:120], fact="failure.message")
        ],
        fixes=[fix("update it in place with `assign_add` or `assign_sub`", [step.edit for step in steps])],
        confidence=Confidence.CERTAIN,
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a misused tape in the source that explains the failure."""
    if _REFUSED_STEP in failure.message:
        yield _refused_step(failure, project)
        return
    twice = "GradientTape can only be used to compute one set of gradients" in failure.message
    missing = missing_gradients(failure.message)
    none = any(words in failure.message for words in NONE_VALUE)
    no_variable = _NO_VARIABLE in failure.message
    if not twice and not none and not no_variable and (missing is None or not missing.every):
        return
    evidence = [Evidence(claim="TensorFlow reports", observed=failure.message[:120], fact="failure.message")]
    uncalled = uncalled_at(failure, project) if missing is not None else None
    if uncalled is not None and uncalled.before is not None:
        module, made = uncalled.module, uncalled.before
        name = module.code(made).target
        yield _too_early(module, name, made, uncalled.block, Confidence.CERTAIN, evidence)
        return
    for module in project.modules if isinstance(project, Project) else ():
        for tape, block in tapes(module):
            calls = gradient_calls(module, tape, block)
            if twice:
                yield from _asked_twice(module, tape, block, calls, Confidence.CERTAIN)
            elif no_variable:
                for source in unwatched(tape, block, calls):
                    if is_plain_tensor(module, source) and changed_like_a_variable(module, source):
                        yield _should_be_variable(module, tape, source, Confidence.CERTAIN, evidence)
            elif none:
                overwritten = list(_overwritten(module, tape, block, calls, Confidence.CERTAIN, evidence))
                yield from overwritten
                for source in unwatched(tape, block, calls) if not overwritten else ():
                    told = told_by_inner(module, block, source)
                    if not told and (is_plain_tensor(module, source) or is_parameter(module, source)):
                        yield _not_watched(module, tape, block, source, Confidence.CERTAIN, evidence)
            else:
                yield from _before_the_block(module, block, calls, Confidence.CERTAIN, evidence)
            if not twice and not no_variable:
                yield from _after_the_block(module, tape, block, calls, Confidence.CERTAIN, evidence)
    frame = failure.last_user_frame
    if none and isinstance(project, Unknown) and speaks_of_gradients(failure) and failure.called != "fit":
        yield CAUSE.finding(
            "a gradient is None: the tape did not record how the target depends on the source",
            subject="tape",
            location=frame.location if frame else None,
            evidence=evidence,
            fixes=[
                fix(
                    "compute the target inside the `with` block, watch plain tensors, and update variables with `assign`"
                )
            ],
        )
    if twice and isinstance(project, Unknown):
        yield CAUSE.finding(
            "`gradient` is called twice on a tape that is not persistent",
            subject="tape",
            location=frame.location if frame else None,
            evidence=evidence,
            fixes=[fix("create the tape with `persistent=True`")],
            confidence=Confidence.CERTAIN,
        )


_SAYINGS = (
    Saying(
        pattern(r"`?tape`? is required when a `?Tensor`? loss is passed"),
        "the optimizer gets the value of the loss, but no tape that recorded how it was computed",
        "compute the loss under `tf.GradientTape()` and pass its gradients to `apply_gradients`",
        types=("ValueError",),
        confidence=Confidence.CERTAIN,
    ),
)


@CAUSE.after_failure
def from_words(failure: FailureFacts) -> Iterator[Finding]:
    """Report what the message alone shows."""
    yield from findings_from_message(CAUSE, failure, _SAYINGS, "gradients")
