"""`call` method with separate arguments for its inputs.

## What happens

`TypeError: missing a required argument: 'right'` when `fit`, `evaluate` or `predict` calls the model (or when a
layer is called with a list).

## Why

Whether `x` is an array, a list, a tuple or a dict, `fit` passes it to `call` as **one** argument. Separate arguments work
only when you call the model yourself.

## Fix

Take one argument and unpack it inside: `def call(self, inputs): left, right = inputs`.

## Known limits

A model with a custom `train_step` may call itself with several arguments, so it is reported only after the failure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_classes import (
    called_layers,
    class_of_model,
    head,
    required_inputs,
)
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_before
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.called import called_in
from fitdoctor.failure.failed_line import module_of
from fitdoctor.source.module import ClassInfo, FunctionInfo
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of

CAUSE = Cause(
    id="FIT321",
    slug="inputs-as-separate-arguments",
    severity=Severity.ERROR,
    raises="TypeError",
    explains=("FIT109", "FIT314"),
)

_MISSING = re.compile(r"missing a required argument: '(?P<name>\w+)'")
_KERAS_2 = re.compile(r"the first argument in `call\(\)` as positional arguments, found: \['(?P<name>\w+)'")
_MISSING_NAMED = re.compile(r"\.call\(\) missing \d+ required positional arguments?: '(?P<name>\w+)'")
_STEPS = {
    "fit": "train_step",
    "train_on_batch": "train_step",
    "evaluate": "test_step",
    "test_on_batch": "test_step",
}
_STEPS |= {"predict": "predict_step", "predict_on_batch": "predict_step"}

_STRUCTURES = (ast.List, ast.Tuple, ast.Dict)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("def", "lambda")
def from_model(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a `call` that needs more than the one argument Keras passes."""
    step = _STEPS.get(fit.method, "")
    if not step or data.role != "training" or {step, "__call__", f"make_{step}"} & set(model.overrides):
        return
    owner = class_of_model(model, project)
    call = owner.module.method(owner, "call") if owner is not None else None
    if owner is None or call is None or len(required_inputs(call)) < 2:
        return
    evidence = [
        Evidence(
            f"`{fit.method}` calls the model with one argument",
            _structure(data),
            fact="data.x",
            location=place(fit.code),
        )
    ]
    yield _finding(owner, call, data, evidence)


def _structure(data: DataFacts) -> str:
    return {"single": "x", "list": "a list of x", "tuple": "a tuple of x", "dict": "a dict of x"}.get(
        data.x_structure, "x"
    )


def _finding(
    owner: ClassInfo,
    call: FunctionInfo,
    data: DataFacts | Unknown,
    evidence: list[Evidence],
) -> Finding:
    needed = required_inputs(call)
    return CAUSE.certain(
        f"{name_of(call)} takes its inputs as {len(needed)} arguments, but Keras passes one",
        head(call),
        Evidence(
            "required arguments of `call`",
            ", ".join(f"`{name}`" for name in needed),
            "one argument with all inputs",
            location=head(call),
        ),
        *evidence,
        *_fixes(call, needed, data),
        subject=f"call of {owner.name}",
    )


def _fixes(call: FunctionInfo, needed: tuple[str, ...], data: DataFacts | Unknown) -> list[Fix]:
    title = "take one argument and unpack it in `call`"
    known = data if isinstance(data, DataFacts) else None
    keys = {array.key for array in known.x} if known is not None and known.x_structure == "dict" else set()
    if "inputs" in call.parameters or _calls_itself_so(call, len(needed)) or keys and keys != set(needed):
        return [fix(title)]
    if known is not None and len(known.x) != len(needed):
        return [fix(title)]
    module, body, listed = call.module, call.statements, call.node.args.args
    if not body or body[0].lineno == call.node.lineno:
        return [fix(title)]
    first, last = listed[1], listed[len(needed)]
    if (first.arg, last.arg) != (needed[0], needed[-1]):
        return [fix(title)]
    value = ", ".join(f'inputs["{name}"]' for name in needed) if keys else "inputs"
    parameters = Edit(module.location(first).through(module.location(last)), "inputs")
    return [fix(title, (parameters,), insert_before(module.code(body[0]), f"{', '.join(needed)} = {value}"))]


def _calls_itself_so(call: FunctionInfo, count: int) -> bool:
    """Whether the program calls `self` with that many arguments elsewhere, which the edit would break."""
    owner = call.owner
    calls = [node for node in ast.walk(owner.node) if isinstance(node, ast.Call)] if owner is not None else []
    return any(ast.unparse(node.func) == "self" and len(node.args) >= count for node in calls)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Read the missing argument from the `TypeError`."""
    missing = _KERAS_2.search(failure.message)
    if failure.type == "TypeError":
        missing = _MISSING.search(failure.message) or _MISSING_NAMED.search(failure.message)
    if missing is None:
        return
    if isinstance(data, DataFacts) and data.role != "training":
        return
    evidence = [Evidence("Python rejects the call", missing[0])]
    if not project:
        frame = failure.last_user_frame
        if failure.called in _STEPS and (frame is None or called_in(frame) in _STEPS):
            yield _without_source(failure, missing["name"], evidence)
        return
    for owner, call in _candidates(failure, model, project):
        needed = required_inputs(call)
        if len(needed) >= 2 and missing["name"] in needed[1:]:
            seen = data if failure.called in _STEPS else Unknown()
            yield _finding(owner, call, seen, evidence)
            return


def _without_source(failure: FailureFacts, name: str, evidence: list[Evidence]) -> Finding:
    return CAUSE.finding(
        f"`call` requires the argument `{name}`, but Keras passes all of `x` as one argument",
        failure.location,
        *evidence,
        fix("take one argument and unpack it in `call`"),
        subject="call",
    )


def _candidates(
    failure: FailureFacts, model: ModelFacts | Unknown, project: Project
) -> Iterator[tuple[ClassInfo, FunctionInfo]]:
    """Yield the classes whose `call` may have run: the model's, the one called on the line, then any other."""
    owners = [class_of_model(model, project)]
    module = module_of(project, failure.last_user_frame)
    # With several arguments, the program calls it as it is written.
    calls = called_layers(module, failure.last_user_frame)
    owners += [
        owner for call, owner in calls if len(call.args) == 1 and isinstance(call.args[0], _STRUCTURES)
    ]
    if failure.called in _STEPS or isinstance(model, Unknown):
        owners += [owner for owner in project.classes if owner.kind in ("Model", "Layer")]
    for owner in dict.fromkeys(owners):
        call = owner.module.method(owner, "call") if owner is not None else None
        if owner is not None and call is not None:
            yield owner, call
