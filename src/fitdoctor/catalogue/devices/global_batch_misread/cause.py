"""A batch size, or a mean, that is taken for one replica and holds for all.

## What happens

The `batch_size` of fit is divided among the replicas. Where the first batch of `fit` or `evaluate`, or of the validation
data, cannot be shared evenly (9 samples for 2 replicas, or 1), Keras 3.5 and later ends with an unrelated
`InvalidArgumentError: Inputs to operation AddN … must have the same size and shape`. A short batch at the end does no
harm, `predict` takes any, and so do Keras 2 and Keras before 3.5.

In a training loop of one's own, `tf.reduce_mean` over the replica's samples gives a step that is larger by the number
of replicas, without a word: the optimizer sums the gradients of all replicas. Among workers, one with another batch has
another number of steps: `InternalError: … Collective instance … expected type …` on it, "Collective ops is aborted" on
the others.

## Why

Under a strategy the batch is global. Keras 3 averages the replicas' parts of the first batch to learn its shape, and
parts of different sizes cannot be averaged. Losses of Keras divide by the number of replicas themselves; a bare mean
does not.

## Fix

Use a batch whose size is a multiple of the number of replicas, for validation too. In a loop, use a loss of Keras, or
divide the sum by the global batch size: `tf.nn.compute_average_loss(per_example, global_batch_size=…)`.

## Known limits

A mean that is divided elsewhere is recognised only in the same function. The first batch of a dataset is known before
fit where `batch` is followed by nothing that could change it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.devices.several_workers import out_of_step
from fitdoctor.catalogue.devices.strategies import EXCHANGES_SINCE, replica_functions
from fitdoctor.catalogue.graph.traced import at_frame, module_of
from fitdoctor.catalogue.variables.gradient_ways import gradient_calls, tapes
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument, spell, unsafe
from fitdoctor.facts import Code, DataFacts, EnvironmentFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

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
def from_call(
    model: ModelFacts, fit: FitFacts, data: DataFacts, environment: EnvironmentFacts
) -> Iterator[Finding]:
    """A first batch that the replicas cannot share evenly: Keras 3 adds up their parts of it."""
    rows, replicas = _first_rows(data), model.replicas
    if fit.method not in _CALLS or model.strategy != "MirroredStrategy" or not rows or rows % replicas == 0:
        return
    if model.keras != 3 or environment.release("keras") < EXCHANGES_SINCE:
        return
    yield CAUSE.finding(
        f"the first batch has {rows} sample{'s' * (rows > 1)} for {replicas} replicas: "
        + (
            "one of them gets none"
            if rows < replicas
            else "their parts are not alike, and Keras adds them up"
        ),
        subject="batch size" if data.role == "training" else "batch size of the validation data",
        location=_batch_place(fit, data),
        evidence=[
            Evidence(
                claim="the first batch is divided among the replicas",
                observed=f"{rows} samples",
                expected=f"a multiple of {replicas}",
                fact="data.first_batch",
            )
        ],
        fixes=[_shared_evenly(fit, data, rows, replicas)],
        confidence=Confidence.CERTAIN,
    )


_CALLS = ("fit", "evaluate")


def _first_rows(data: DataFacts) -> int | None:
    """How many samples the first batch has, where that is sure."""
    for spec in data.first_batch[:1]:
        if not isinstance(spec.shape, Unknown) and spec.shape and spec.shape[0] is not None:
            return spec.shape[0]
    at = next((at for at, step in enumerate(data.pipeline) if step.operation == "batch"), len(data.pipeline))
    after = {step.operation for step in data.pipeline[at + 1 :]}
    size = dict(data.pipeline[at].arguments).get("batch_size", "") if at < len(data.pipeline) else ""
    if not size.isdigit() or after - _AS_THEY_ARE:
        return None
    if isinstance(data.samples, int):
        return min(int(size), data.samples)
    several = isinstance(data.batches, int) and data.batches > 1 and "repeat" not in after
    return int(size) if several else None


_AS_THEY_ARE = {"prefetch", "repeat", "cache", "take"}
"""What hands the batches on, the first of them first."""


def _batch_argument(data: DataFacts) -> tuple[str, int | None]:
    return ("batch_size", 2) if data.role == "training" else ("validation_batch_size", None)


def _batch_step(data: DataFacts) -> Code | None:
    """The call of `batch` in a pipeline."""
    step = next((one for one in reversed(data.pipeline) if one.operation == "batch"), None)
    return step.code if step is not None and isinstance(step.code, Code) else None


def _batch_place(fit: FitFacts, data: DataFacts) -> Location | None:
    given = fit.code.argument(*_batch_argument(data)) if isinstance(fit.code, Code) else None
    step = _batch_step(data)
    batched = step.argument("batch_size", 0) if step is not None else None
    written = given or batched
    return place(written.location if written is not None else None, step, fit.code)


def _shared_evenly(fit: FitFacts, data: DataFacts, rows: int, replicas: int) -> Fix:
    """A batch of about that size that the replicas share; never of more samples than there are."""
    title = f"use a batch that {replicas} replicas share evenly"
    whole = isinstance(data.samples, int) and data.samples <= rows
    size = rows // replicas * replicas if whole else -(-max(rows, 8) // replicas) * replicas
    step = _batch_step(data)
    if not size or data.form not in ("arrays", "dataset") or data.form == "dataset" and step is None:
        return fix(title)
    if data.form == "dataset":
        return fix(title, set_argument(step or Unknown(), "batch_size", str(size), position=0))
    name, position = _batch_argument(data)
    return fix(title, set_argument(fit.code, name, str(size), position=position))


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, model: ModelFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """AddN met parts of different sizes: the replicas could not share the first batch evenly."""
    if "AddN" not in failure.message or "must have the same size and shape" not in failure.message:
        return
    if isinstance(model, ModelFacts) and not model.strategy:
        return
    frame = failure.last_user_frame
    given = fit.code if isinstance(fit, FitFacts) else Unknown("the call of fit was not seen")
    batch = given.argument("batch_size", 2) if not isinstance(given, Unknown) else None
    size = fit.batch_size if isinstance(fit, FitFacts) else None
    parts = _PARTS.search(failure.message)
    yield CAUSE.finding(
        "the replicas cannot share the first batch evenly",
        subject="batch size",
        location=place(batch.location if batch is not None else None)
        or _batched_at(failure, project)
        or (frame.location if frame else None),
        evidence=[
            Evidence(
                claim="the samples of two replicas" if parts else "the batch is divided among the replicas",
                observed=f"{parts[1]} and {parts[2]}" if parts else f"batch_size={size}" if size else "",
                expected="as many on each",
                fact="failure.message",
            )
        ],
        fixes=[fix("use a batch, for validation too, whose size is a multiple of the number of replicas")],
        confidence=Confidence.CERTAIN if size else Confidence.LIKELY,
    )


def _batched_at(failure: FailureFacts, project: Project | Unknown) -> Location | None:
    """Where the data of the call that failed get their batches: the argument of fit, or of `batch` of the pipeline."""
    frame = failure.last_user_frame
    module = module_of(project, frame) if frame is not None and isinstance(project, Project) else None
    sites = module.method_calls(*_CALLS) if module is not None else ()
    for site in sites:
        if module is None or frame is None or not at_frame(module, site.node, frame):
            continue
        given = site.argument("batch_size", 2)
        if given is not None:
            return module.location(given)
        data = site.argument("x", 0)
        return _batch_call(module, data) if data is not None else None
    return None


def _batch_call(module: Module, data: ast.expr) -> Location | None:
    """The last `batch` of a pipeline, step by step back through its names."""
    for _step in range(_DEEPEST):
        origin = module.origin(data)
        module, made = origin.module, origin.node
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
            return None
        if made.func.attr == "batch":
            size = argument_of(made, "batch_size", 0)
            return module.location(size if size is not None else made)
        data = made.func.value
    return None


_DEEPEST = 12
"""How many steps of a pipeline are followed."""

_PARTS = pattern(r"Input 0: \[(\d+)[^\]]*\] != input \d+: \[(\d+)")


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
