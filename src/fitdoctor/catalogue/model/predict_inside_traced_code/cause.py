"""`predict`, `fit` or `evaluate` inside traced code.

## What happens

`RuntimeError: Method requires being in cross-replica context`, `TypeError: int() argument must be a string, a
bytes-like object or a real number, not 'NoneType'`, or another message from deep inside Keras, on a line such as
`self.generator.predict(noise)` in a `train_step`, a layer, a loss or a `Dataset.map` function.

## Why

`predict` is a loop over batches of arrays: it builds its own dataset and its own graph, and returns NumPy arrays. While a
step is traced, there are no arrays, only symbolic tensors. No gradient would flow through `predict` either.

## Fix

Call the model: `self.generator(noise, training=False)`.

## Known limits

`lint` reports it only if the object is certainly a Keras model. In eager code, `predict` works and is not reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Confidence, Edit, Finding, Fix, Severity
from fitdoctor.edits import fix, replace_code
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import at_frame, function_at, module_of, raised_here
from fitdoctor.failure.traced_code import raised_in_trace
from fitdoctor.source.keras_objects import defines, kind_of_value
from fitdoctor.source.module import CallSite, FunctionInfo, Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.decided_branches import never_runs
from fitdoctor.source.traced.symbolic import name_of, traced_evidence

CAUSE = Cause(
    id="FIT319",
    slug="predict-inside-traced-code",
    severity=Severity.ERROR,
    raises=("RuntimeError", "TypeError", "ValueError", "AttributeError"),
    explains=("FIT407",),
)

PREDICTS = ("predict", "predict_on_batch")
LOOPS = (*PREDICTS, "evaluate", "fit", "train_on_batch", "test_on_batch")
_SAID = ("cross-replica context", "int() argument must be", "Unrecognized data type", "tf.function-decorated")
_TEXT = re.compile(r"\.(?P<method>predict|predict_on_batch|evaluate|fit|train_on_batch|test_on_batch)\(")


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report `predict`, `fit` or `evaluate` in a traced function."""
    for site in module.method_calls(*LOOPS):
        function = site.function
        if function is None or function.traced is None or function.traced.eager:
            continue
        known = kind_of_value(module, site.receiver) == "Model"
        if known and not defines(module, site.receiver, site.method) and not never_runs(function, site.node):
            yield _finding(module, site, function)


def _finding(module: Module, site: CallSite, function: FunctionInfo) -> Finding:
    return CAUSE.finding(
        f"`{module.segment(site.node.func)}` runs while {name_of(function)} is traced: "
        f"`{site.method}` needs arrays and runs its own loop",
        module.location(site.node),
        traced_evidence(function),
        *_fixes(module, site),
        subject=module.segment(site.node.func),
    )


def _fixes(module: Module, site: CallSite) -> list[Fix]:
    """Call the model directly, at every such place in the function."""
    if site.method not in PREDICTS or not _called(module, site):
        return [fix(f"move `{site.method}` out of the traced code")]
    others = [
        other
        for other in module.method_calls(*PREDICTS)
        if other.function is site.function and not _overlap(site.node, other.node)
    ]
    edits = [edit for one in (site, *others) for edit in _called(module, one)]
    return [fix("call the model directly", edits)]


def _called(module: Module, site: CallSite) -> tuple[Edit, ...]:
    receiver, given = site.receiver, site.argument("x", 0)
    if given is None or kind_of_value(module, receiver) not in ("Model", ""):
        return ()
    text = f"{module.segment(receiver)}({module.segment(given)}, training=False)"
    return replace_code(module.code(site.node), text)


def _overlap(first: ast.Call, second: ast.Call) -> bool:
    return first in ast.walk(second) or second in ast.walk(first)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain an error whose last user line calls such a method during tracing."""
    frame = failure.last_user_frame
    said = any(words in failure.message for words in _SAID)
    if frame is None or not raised_in_trace(failure, project) or not (said or failure.frames[-1].library):
        return
    module = module_of(project, frame)
    if module is None:
        written = _TEXT.search(frame.text)
        if written is not None and said:
            yield CAUSE.certain(
                f"`{written['method']}` is called while `{frame.function}` is traced",
                frame.location,
                raised_here(failure),
                fix("call the model directly"),
                subject=written["method"],
            )
        return
    function = function_at(module, frame.line, frame.cell)
    for site in module.method_calls(*LOOPS):
        if function is None or site.function is not function or not at_frame(module, site.node, frame):
            continue
        known = said or kind_of_value(module, site.receiver) == "Model"
        if known and not defines(module, site.receiver, site.method):
            sure = Confidence.CERTAIN if said else Confidence.LIKELY
            yield certain(_finding(module, site, function), failure, confidence=sure)
            return
