"""Custom `train_step` or `test_step` that unpacks or returns the wrong structure.

## What happens

An error that does not name the step:

- A step that returns the loss itself, or a tuple: `AttributeError: 'EagerTensor' object has no attribute 'items'`.
- A step that returns nothing: `ValueError: Attr 'Toutput_types' of 'OptionalFromValue' Op passed list of length 0`.
- A step that unpacks `x, y = data` although there are sample or class weights: `ValueError: too many values to unpack
  (expected 2)`. Without `y`: `Iterating over a symbolic tf.Tensor is not allowed`.

## Why

Keras calls the step with one batch: `(x, y)`; `(x, y, sample_weight)` if `fit` got `sample_weight` or `class_weight`; or
`x` alone if `fit` got nothing else. The step must return a dict of metric names and values.

## Fix

Return a dict such as `{"loss": self.loss_tracker.result()}`, and unpack with
`keras.utils.unpack_x_y_sample_weight(data)`.

## Known limits

`lint` reports a return value only if it is certainly a tensor, a tuple or `None`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_classes import (
    STEPS,
    batch_as_tensor,
    batch_unpacking,
    class_of_model,
    returned,
    steps_of,
)
from fitdoctor.catalogue.model.keras_contracts import is_called_by_program
from fitdoctor.catalogue.model.step_returns import as_dict, is_abstract, is_loss, not_a_dict, updated_tracker
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, insert_after, insert_before, replace_code, spell
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.failure.shapes import input_count
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of

CAUSE = Cause(
    id="FIT316",
    slug="train-step-contract",
    severity=Severity.ERROR,
    raises=("AttributeError", "ValueError", "OperatorNotAllowedInGraphError"),
    explains=("FIT109", "FIT310", "FIT408"),
)

_NO_ITEMS = re.compile(r"'(?P<type>[\w.]+)' object has no attribute 'items'|object has no attribute 'items'")
_NOTHING = "of 'OptionalFromValue' Op passed list of length 0"
_NOTHING_IN_KERAS_2 = "Can not convert a NoneType into a Tensor or Operation"
_UNPACK = re.compile(r"(?:too many|not enough) values to unpack")
_ITERATING = re.compile(
    r"Iterating over a symbolic|Cannot iterate over a tensor with unknown first dimension"
)
_TUPLE_AS_TENSOR = re.compile(
    r"list containing a tensor|unsupported type \(<class 'tuple'>\)|From merging shape|'tuple' (?:and|object)|and 'tuple'"
)
_TRAINS = frozenset({"fit", "evaluate", "train_on_batch", "test_on_batch"})


# --- what a step returns -------------------------------------------------------------------------------------------


@CAUSE.in_source
@mentions("_step")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a step that certainly returns a tensor, a tuple or nothing."""
    for step in steps_of(module):
        if not _is_the_programs_own(step):
            yield from _wrong_return(step)


def _is_the_programs_own(step: FunctionInfo) -> bool:
    """Whether the program calls the step itself, in a custom training loop."""
    owner = step.owner
    if owner is None or owner.module.method(owner, "fit") is not None:
        return True
    return is_called_by_program(step.module, step.name)


def _wrong_return(step: FunctionInfo) -> Iterator[Finding]:
    if isinstance(step.node, ast.Lambda) or step.node in step.module.generators:
        return
    values = returned(step)
    if not values:
        if not is_abstract(step):
            yield _returns_nothing(step)
        return
    for value in values:
        what = not_a_dict(step, value)
        if what:
            yield _returns(step, value, what)
            return


def _returns_nothing(step: FunctionInfo) -> Finding:
    module, last = step.module, step.statements[-1]
    tracker = updated_tracker(step)
    line = f"return {{m.name: m.result() for m in [{tracker}]}}"
    return CAUSE.finding(
        f"{name_of(step)} returns nothing, but Keras expects a dict of metrics",
        module.location(last),
        Evidence("the step ends without a `return`", location=module.location(last)),
        fix(
            "return a dict of metric names and values",
            insert_after(module.code(last), line) if tracker else (),
        ),
        subject=step.qualname,
    )


def _returns(step: FunctionInfo, value: ast.expr, what: str) -> Finding:
    module = step.module
    return CAUSE.finding(
        f"{name_of(step)} returns {what}, but Keras expects a dict of metrics",
        module.location(module.statement(value)),
        Evidence(
            "return value",
            f"`{module.segment(value)[:60]}`",
            'a dict such as `{"loss": loss}`',
            location=module.location(value),
        ),
        as_dict(step, value, what),
        subject=step.qualname,
    )


# --- what a step unpacks -------------------------------------------------------------------------------------------


@CAUSE.in_source
@CAUSE.before_fit
@mentions("_step")
def from_batch(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a step that unpacks a different number of values than the batch has."""
    name = (
        "train_step" if data.role == "training" and fit.method in ("fit", "train_on_batch") else "test_step"
    )
    if name not in model.overrides or fit.method not in _TRAINS:
        return
    owner = class_of_model(model, project)
    step = owner.module.method(owner, name) if owner is not None else None
    parts = _parts(fit, data)
    if step is None or parts is None or not step.module.on_tensorflow:
        return
    unpacking = batch_unpacking(step)
    if unpacking is not None and unpacking[1] != len(parts):
        yield _unpacks(step, *unpacking, parts)
    use = batch_as_tensor(step)
    if use is not None and len(parts) > 1:
        yield _takes_for_tensor(step, use, parts)


def _parts(fit: FitFacts, data: DataFacts) -> tuple[str, ...] | None:
    """Return the names of the batch's parts; None if unknown."""
    weighted = fit.class_weight is not None and data.role == "training"
    if data.form == "arrays":
        if not data.x or "**" in fit.given:
            return None
        labels = bool(data.y) or data.y_structure not in ("none", "single")
        if not labels and data.y_structure != "none":
            return None
        weights = bool(data.sample_weight) or weighted
        if not labels:
            return ("x",) if not weights and data.x_structure == "single" else None
        return ("x", "y", "sample_weight") if weights else ("x", "y")
    if data.form == "dataset" and data.element_size in (2, 3) and data.element.startswith("tuple"):
        size = 3 if weighted else data.element_size
        return ("x", "y", "sample_weight")[:size]
    return None


def _unpacks(step: FunctionInfo, statement: ast.Assign, count: int, parts: tuple[str, ...]) -> Finding:
    module = step.module
    batch = f"({', '.join(parts)})" if len(parts) > 1 else parts[0]
    return CAUSE.finding(
        f"{name_of(step)} unpacks {count} values, but `fit` passes {_number(parts)}",
        module.location(statement),
        Evidence(
            "batch passed to the step",
            batch,
            module.segment(statement.targets[0]),
            fact="data",
            location=module.location(statement),
        ),
        *_unpacking_fixes(step, statement, count, parts),
        subject=step.qualname,
    )


def _takes_for_tensor(step: FunctionInfo, use: ast.Name, parts: tuple[str, ...]) -> Finding:
    module = step.module
    return CAUSE.finding(
        f"{name_of(step)} uses `{use.id}` as one tensor, but `fit` passes {_number(parts)}",
        module.location(module.statement(use)),
        Evidence(
            "batch passed to the step",
            f"({', '.join(parts)})",
            "x alone",
            fact="data",
            location=module.location(use),
        ),
        fix("unpack `x` from the batch first, or pass only `x` to `fit`", _taking_first(step, use.id)),
        subject=step.qualname,
    )


def _taking_first(step: FunctionInfo, batch: str) -> tuple[Edit, ...]:
    """Insert `data = data[0]` as the first line of the step."""
    assert not isinstance(step.node, ast.Lambda)
    return insert_before(step.module.code(step.node.body[0]), f"{batch} = {batch}[0]")


def _number(parts: tuple[str, ...]) -> str:
    return (
        "only `x`" if len(parts) == 1 else f"{len(parts)} values: {', '.join(f'`{part}`' for part in parts)}"
    )


def _unpacking_fixes(
    step: FunctionInfo, statement: ast.Assign, count: int, parts: tuple[str, ...]
) -> list[Fix]:
    module, target = step.module, statement.targets[0]
    title = "unpack with `keras.utils.unpack_x_y_sample_weight`"
    keras, imports = spell(module.code(statement), "keras", "keras")
    value = f"{keras}.utils.unpack_x_y_sample_weight({module.segment(statement.value)})"
    if count == 3 and len(parts) == 2:
        return [fix(title, imports, replace_code(module.code(statement.value), value))]
    if count == 1 and isinstance(target, (ast.Tuple, ast.List)):
        names = f"{module.segment(target.elts[0])}, _, _"
        return [fix(title, imports, replace_code(module.code(statement), f"{names} = {value}"))]
    if count != 2 or len(parts) != 3 or not isinstance(target, ast.Tuple):
        return [fix(title)]
    names = ", ".join(module.segment(part) for part in target.elts)
    edits = replace_code(module.code(statement), f"{names}, sample_weight = {value}")
    weighted = [append_arguments(module.code(call), _WEIGHT) for call in _losses_without_weights(step)]
    return [fix(title, imports, edits, *weighted)]


_WEIGHT = "sample_weight=sample_weight"


def _losses_without_weights(step: FunctionInfo) -> Iterator[ast.Call]:
    """Yield `compute_loss` calls in the step, which need the weights too."""
    for site in step.calls:
        named = {keyword.arg for keyword in site.node.keywords}
        if (
            is_loss(step.module, site.node)
            and len(site.node.args) < 4
            and not named & {None, "sample_weight"}
        ):
            yield site.node


# --- from the failure ----------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project, model: ModelFacts | Unknown) -> Iterator[Finding]:
    """Explain the errors that such a step ends in."""
    message = failure.message
    if _UNPACK.search(message) or _ITERATING.search(message):
        yield from _failed_unpacking(failure, project)
        return
    count = input_count(message)
    refused = count is not None and count.expected == 1
    returns_no_dict = _NO_ITEMS.search(message) and failure.called in _TRAINS
    if (refused or _TUPLE_AS_TENSOR.search(message)) and not returns_no_dict:
        if project:
            yield from _failed_computing(failure, project, refused)
        return
    returns_nothing = _NOTHING in message or _NOTHING_IN_KERAS_2 in message and failure.called in _TRAINS
    if not returns_nothing and not returns_no_dict:
        return
    in_keras = bool(failure.frames) and failure.frames[-1].library
    found = list(_returning(failure, project, model, bool(returns_nothing)))
    if found:
        yield found[0]
    elif returns_nothing or not project and in_keras and "NoneType" not in message:
        # `None` may also be an epoch without batches: FIT705
        what = "nothing" if returns_nothing else "a value that is not a dict"
        yield CAUSE.finding(
            f"`train_step` or `test_step` returns {what}, but Keras expects a dict of metrics",
            failure.location,
            raised_here(failure),
            fix("return a dict of metric names and values"),
            subject="train_step",
        )


def _returning(
    failure: FailureFacts, project: Project, model: ModelFacts | Unknown, nothing: bool
) -> Iterator[Finding]:
    """Yield findings for the steps that match the error, those of the failing model's class first."""
    if not project:
        return
    owner = class_of_model(model, project)
    steps = [step for module in project.modules for step in steps_of(module)]
    own = [step for step in steps if owner is not None and step.owner in owner.module.ancestry(owner)]
    for step in own or steps:
        for finding in _wrong_return(step):
            if ("returns nothing" in finding.message) == nothing:
                yield certain(finding, failure)
    if not nothing:
        for step in own or steps:
            values = returned(step)
            plain = [value for value in values if not isinstance(value, (ast.Dict, ast.DictComp))]
            if plain:
                found = _returns(step, plain[-1], "a value that is not a dict")
                yield certain(found, failure, confidence=Confidence.LIKELY)


def _failed_unpacking(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    frame = failure.last_user_frame
    if frame is None or frame.function not in STEPS:
        return
    module = module_of(project, frame)
    if module is None and re.match(r"\(?\w+(?:, *\w+)+\)? *= *(?:data|batch|inputs)\b", frame.text.strip()):
        yield CAUSE.finding(
            f"`{frame.function}` unpacks a different number of values than the batch has",
            frame.location,
            raised_here(failure),
            fix("unpack with `keras.utils.unpack_x_y_sample_weight`"),
            subject=frame.function,
        )
    for step in steps_of(module) if module is not None else ():
        unpacking = batch_unpacking(step)
        if unpacking is None or not at_frame(step.module, unpacking[0], frame):
            continue
        parts: tuple[str, ...] = ("x", "y")
        if _ITERATING.search(failure.message):
            parts = ("x",)
        elif "too many" in failure.message:
            parts = ("x", "y", "sample_weight")
        if len(parts) != unpacking[1]:
            yield certain(_unpacks(step, *unpacking, parts), failure)
        return


def _failed_computing(failure: FailureFacts, project: Project, refused: bool) -> Iterator[Finding]:
    """Explain a batch, a tuple, that was used as a tensor."""
    frames = failure.user_frames[-1:] if refused else tuple(reversed(failure.user_frames))
    frame = next((one for one in frames if one.function in STEPS), None)
    module = module_of(project, frame)
    if module is None or frame is None:
        return
    for step in steps_of(module):
        use = batch_as_tensor(step, refused=refused) if step.name == frame.function else None
        if use is not None:
            yield certain(_takes_for_tensor(step, use, ("x", "y")), failure)
            return
