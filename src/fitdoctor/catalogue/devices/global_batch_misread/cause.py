"""A batch size, or a mean, that is taken for one replica and holds for all.

## What happens

The `batch_size` of fit is divided among the replicas. With fewer samples than replicas one of them gets none, and fit
ends with an unrelated `InvalidArgumentError: Inputs to operation AddN … must have the same size and shape`. In a
training loop of one's own, `tf.reduce_mean` over the replica's samples gives a step that is larger by the number of
replicas, without a word: the optimizer sums the gradients of all replicas. Among workers, one with another batch has
another number of steps: `InternalError: … Collective instance … expected type …` on it, "Collective ops is aborted" on
the others.

## Why

Under a strategy the batch is global. Losses of Keras divide by the number of replicas themselves; a bare mean does not.

## Fix

Use a batch of at least one sample a replica. In a loop, use a loss of Keras, or divide the sum by the global batch
size: `tf.nn.compute_average_loss(per_example, global_batch_size=…)`.

## Known limits

A mean that is divided elsewhere is recognised only in the same function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.gradient_ways import gradient_calls, tapes
from fitdoctor.catalogue.several_workers import out_of_step
from fitdoctor.catalogue.strategies import replica_functions
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, set_argument, spell, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.module import FunctionInfo, Module

CAUSE = Cause(
    id="FIT605",
    slug="global-batch-misread",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "InternalError"),
)

SCALED = ("compute_average_loss", "scale_regularization_loss", "num_replicas_in_sync", "global_batch")


@CAUSE.in_source
@mentions("run")
def from_source(module: Module) -> Iterator[Finding]:
    """A function that a strategy runs differentiates a bare mean."""
    for function in replica_functions(module):
        text = module.segment(function.node).lower()
        if any(word in text for word in SCALED) or "apply_gradients" not in text:
            continue
        for mean in _differentiated_means(module, function):
            yield CAUSE.finding(
                "the mean is over one replica's samples, and the gradients of all replicas are summed",
                subject=f"loss in {function.qualname}",
                location=module.location(mean),
                evidence=[
                    Evidence(
                        claim="the step is larger by the number of replicas",
                        observed=module.segment(mean),
                        expected="a sum divided by the global batch size",
                    )
                ],
                fixes=[_averaged(module, mean)],
                severity=Severity.WARNING,
            )


def _averaged(module: Module, mean: ast.Call) -> Fix:
    """The mean over the global batch, where the file says plainly how large that is."""
    title = "use `tf.nn.compute_average_loss(…, global_batch_size=…)` or a loss of Keras"
    sizes = {module.segment(site.node.args[0]) for site in module.method_calls("batch") if site.node.args}
    size = sizes.pop() if len(sizes) == 1 else ""
    known = size.isdigit() or any(assigned.value is not None for assigned in module.assignments(size))
    if not known or len(mean.args) != 1 or mean.keywords:
        return fix(title)
    tf, imports = spell(module.code(mean), "tensorflow", "tf")
    text = f"{tf}.nn.compute_average_loss({module.segment(mean.args[0])}, global_batch_size={size})"
    return unsafe(title, (Edit(module.location(mean), text),), imports)


def _differentiated_means(module: Module, function: FunctionInfo) -> Iterator[ast.Call]:
    for tape, block in tapes(module):
        if module.function_of(block) is not function:
            continue
        for call in gradient_calls(module, tape, block):
            loss = module.made_by(call.args[0]) if call.args else None
            if isinstance(loss, ast.Call) and module.resolve(loss.func) in (
                "tensorflow.reduce_mean",
                "tensorflow.math.reduce_mean",
                "keras.ops.mean",
            ):
                yield loss


@CAUSE.before_fit
def from_call(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """A batch of fewer samples than replicas: Keras 3 gives one of them nothing, and adds what they give."""
    size = data.batch_size
    if model.keras != 3 or fit.method != "fit" or isinstance(size, Unknown) or not 0 < size < model.replicas:
        return
    name = "batch_size" if data.role == "training" else "validation_batch_size"
    batch = (
        fit.code.argument(name, 2 if name == "batch_size" else None) if isinstance(fit.code, Code) else None
    )
    step = next((one for one in reversed(data.pipeline) if "batch" in one.operation), None)
    enough = str(max(8, 2 * model.replicas))
    yield CAUSE.finding(
        f"a batch of {size} for {model.replicas} replicas: one of them gets no sample",
        subject="batch size",
        location=place(
            batch.location if batch is not None else None, step.code if step is not None else None, fit.code
        ),
        evidence=[
            Evidence(
                claim="the batch is divided among the replicas",
                observed=f"{size} samples",
                expected=f"at least {model.replicas}",
                fact="data.batch_size",
            )
        ],
        fixes=[
            fix(
                "use a batch of at least one sample a replica",
                set_argument(fit.code, name, enough, position=2 if name == "batch_size" else None)
                if batch is not None
                else (),
            )
        ],
        confidence=Confidence.CERTAIN,
    )


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, model: ModelFacts | Unknown
) -> Iterator[Finding]:
    """AddN met an empty part: a replica had no samples."""
    if "AddN" not in failure.message or "must have the same size and shape" not in failure.message:
        return
    if isinstance(model, ModelFacts) and not model.strategy:
        return
    frame = failure.last_user_frame
    given = fit.code if isinstance(fit, FitFacts) else Unknown("the call of fit was not seen")
    batch = given.argument("batch_size", 2) if not isinstance(given, Unknown) else None
    small = fit.batch_size if isinstance(fit, FitFacts) else None
    yield CAUSE.finding(
        "a batch has fewer samples than there are replicas: one of them got none",
        subject="batch size",
        location=place(batch.location if batch is not None else None) or (frame.location if frame else None),
        evidence=[
            Evidence(
                claim="the batch is divided among the replicas",
                observed=f"batch_size={small}" if small else "",
                expected="at least one sample a replica",
                fact="failure.message",
            )
        ],
        fixes=[
            fix(
                "use a batch of at least one sample a replica",
                set_argument(given, "batch_size", str(max(8, 2 * (small or 1))), position=2) if batch else (),
            )
        ],
        confidence=Confidence.CERTAIN if small else Confidence.LIKELY,
    )


@CAUSE.after_failure
def from_workers(failure: FailureFacts) -> Iterator[Finding]:
    """One worker had come to the end of its data, or to another step, when the others still exchanged gradients."""
    if not out_of_step(failure):
        return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        "the workers are not at the same step: one has another batch, or another number of them",
        subject="global batch",
        location=frame.location if frame else None,
        evidence=[Evidence(claim="two workers met in different exchanges", fact="failure.message")],
        fixes=[
            fix("give every worker the same global batch and as many batches: each takes its share of them")
        ],
        confidence=Confidence.LIKELY,
    )
