"""Global batch size or loss mean treated as per replica.

## What happens

`fit` divides `batch_size` among the replicas. If the first batch of `fit`, `evaluate` or the validation data cannot be
divided evenly (9 samples for 2 replicas, or 1), Keras 3.5 and later fails with an unrelated
`InvalidArgumentError: Inputs to operation AddN … must have the same size and shape`. A shorter last batch is harmless.
`predict` accepts any batch, and so do Keras 2 and Keras before 3.5.

A batch size meant for one replica (`BATCH_PER_REPLICA`) that is used as the global one runs without an error: each replica
gets only its part of it, and with the learning rate of a large batch the training is worse.

In a custom training loop, `tf.reduce_mean` over a replica's samples silently multiplies the step by the number of
replicas, because the optimizer sums the gradients of all replicas. If one of several workers uses a different batch size,
it runs a different number of steps: it fails with `InternalError: … Collective instance … expected type …`, and the
others fail with "Collective ops is aborted".

## Why

Under a strategy, the batch is global. Keras 3 averages the replicas' parts of the first batch to learn its shape, and
parts of different sizes cannot be averaged. Keras losses divide by the number of replicas; a plain mean does not.

## Fix

Use a batch size that is a multiple of the number of replicas, for validation too. In a custom training loop, use a Keras
loss, or divide the sum by the global batch size: `tf.nn.compute_average_loss(per_example, global_batch_size=…)`.

## Known limits

A mean that is scaled afterwards is recognized only in the same function. That a batch size is meant for one replica is read
from its name. The size of a dataset's first batch is known
before `fit` only if no stage after `batch` can change it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.devices.several_workers import out_of_step
from fitdoctor.catalogue.devices.strategies import EXCHANGES_SINCE, replica_functions
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import tapes
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, set_argument, spell, unsafe
from fitdoctor.facts import Code, DataFacts, EnvironmentFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import calls_at
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
    """Report a replica function that differentiates a plain mean."""
    for function in replica_functions(module):
        if _is_scaled(function) or "apply_gradients" not in module.segment(function.node):
            continue
        for source, mean in _differentiated_means(module, function):
            yield CAUSE.finding(
                "the loss is averaged over one replica's samples, but the gradients of all replicas are summed",
                source.location(mean),
                Evidence(
                    "the step is too large by a factor of the number of replicas",
                    source.segment(mean),
                    "a sum divided by the global batch size",
                ),
                _averaged(source, mean),
                subject=f"loss in {function.qualname}",
                severity=Severity.WARNING,
            )


_SHARE = re.compile(r"(?i)per_?(replica|gpu|device|worker|core)|(replica|gpu|device|worker)_batch")
"""Names of the size of one replica's share of a batch."""
_SEVERAL = ("MirroredStrategy", "MultiWorkerMirroredStrategy", "TPUStrategy")


@CAUSE.in_source
@mentions("Strategy")
def from_names(module: Module, project: Project) -> Iterator[Finding]:
    """Report the size of one replica's share where the global batch size is expected."""
    for call, size in _global_sizes(module):
        found = _named_share(module, size)
        if found is not None and _is_spread(project):
            name, where = found
            yield CAUSE.finding(
                f"`{name}` is the batch of one replica, but `{call}` expects the global batch: each replica gets "
                "only a part of it",
                where,
                Evidence(
                    "batch size",
                    module.segment(size),
                    f"`{name} * strategy.num_replicas_in_sync`",
                    location=module.location(size),
                ),
                unsafe("multiply it by `strategy.num_replicas_in_sync`"),
                subject="batch size",
                confidence=Confidence.LIKELY,
                severity=Severity.WARNING,
            )


def _is_spread(project: Project) -> bool:
    """Whether the project creates a strategy for several replicas that divides the batches itself."""
    if any("distribute_datasets_from_function" in one.text for one in project.modules):
        return False
    named = [one for one in project.modules if any(name in one.text for name in _SEVERAL)]
    return any(site.name.rpartition(".")[2] in _SEVERAL for one in named for site in one.calls)


def _global_sizes(module: Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the arguments that are global batch sizes, and the functions that expect them."""
    for site in module.method_calls("batch", *_CALLS):
        of_batch = site.method == "batch"
        function = module.function_of(site.node)
        if function is not None and any("context" in name for name in function.parameters):
            continue
        size = site.argument("batch_size", 0 if of_batch else None)
        if size is not None:
            yield site.method, size
    for site in module.calls_under("tensorflow.nn."):
        size = site.argument("global_batch_size")
        if size is not None:
            yield site.name.rpartition(".")[2], size


def _named_share(module: Module, size: ast.expr) -> tuple[str, Location] | None:
    """Return the name on the way back from an argument that says it is one replica's share, and where it is used."""
    end = module.origin(size)
    for where, node in ((module, size), *((step.module, step.node) for step in end.steps)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=name)):
                pass
            case _:
                continue
        if _SHARE.search(str(name)):
            return str(name), where.location(node)
    return None


def _averaged(module: Module, mean: ast.Call) -> Fix:
    """Replace the mean by one over the global batch, if the file states its size."""
    title = "use `tf.nn.compute_average_loss(…, global_batch_size=…)` or a Keras loss"
    sizes = {module.segment(site.node.args[0]) for site in module.method_calls("batch") if site.node.args}
    size = sizes.pop() if len(sizes) == 1 else ""
    known = size.isdigit() or any(assigned.value is not None for assigned in module.assignments(size))
    if not known or len(mean.args) != 1 or mean.keywords:
        return fix(title)
    tf, imports = spell(module.code(mean), "tensorflow", "tf")
    text = f"{tf}.nn.compute_average_loss({module.segment(mean.args[0])}, global_batch_size={size})"
    return unsafe(title, (Edit(module.location(mean), text),), imports)


def _is_scaled(function: FunctionInfo | None) -> bool:
    text = function.module.segment(function.node).lower() if function is not None else ""
    return any(word in text for word in SCALED)


def _differentiated_means(module: Module, function: FunctionInfo) -> Iterator[tuple[Module, ast.Call]]:
    """Yield the plain means that a function differentiates, those that a function of the user's returns included."""
    means = ("tensorflow.reduce_mean", "tensorflow.math.reduce_mean", "keras.ops.mean")
    for tape in tapes(module):
        for call in tape.gradients if module.function_of(tape.block) is function else ():
            if not call.args:
                continue
            loss = module.origin(call.args[0])
            made, source = loss.node, loss.module
            if isinstance(made, ast.Call) and source.called(made) in means and not loss.writes:
                if not _is_scaled(source.function_of(made)):
                    yield source, made


@CAUSE.before_fit
def from_call(
    model: ModelFacts, fit: FitFacts, data: DataFacts, environment: EnvironmentFacts
) -> Iterator[Finding]:
    """Report a first batch that does not divide evenly among the replicas."""
    rows, replicas = _first_rows(data), model.replicas
    if fit.method not in _CALLS or model.strategy != "MirroredStrategy" or not rows or rows % replicas == 0:
        return
    if model.keras != 3 or environment.release("keras") < EXCHANGES_SINCE:
        return
    yield CAUSE.certain(
        f"the first batch has {rows} sample{'s' * (rows > 1)} for {replicas} replicas: "
        + (
            "one of them gets none"
            if rows < replicas
            else "their shares differ in size, but Keras averages them"
        ),
        _batch_place(fit, data),
        Evidence(
            "size of the first batch", f"{rows} samples", f"a multiple of {replicas}", fact="data.first_batch"
        ),
        _shared_evenly(fit, data, rows, replicas),
        subject="batch size" if data.role == "training" else "batch size of the validation data",
    )


_CALLS = ("fit", "evaluate")


def _first_rows(data: DataFacts) -> int | None:
    """Return the number of samples in the first batch, or None if it is not certain."""
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
"""Pipeline stages that leave the first batch unchanged."""


def _batch_argument(data: DataFacts) -> tuple[str, int | None]:
    return ("batch_size", 2) if data.role == "training" else ("validation_batch_size", None)


def _batch_step(data: DataFacts) -> Code | None:
    """Return the `batch` stage of a pipeline."""
    step = next((one for one in reversed(data.pipeline) if one.operation == "batch"), None)
    return step.code if step is not None and isinstance(step.code, Code) else None


def _batch_place(fit: FitFacts, data: DataFacts) -> Location | None:
    given = fit.code.argument(*_batch_argument(data)) if isinstance(fit.code, Code) else None
    step = _batch_step(data)
    batched = step.argument("batch_size", 0) if step is not None else None
    written = given or batched
    return place(written.location if written is not None else None, step, fit.code)


def _shared_evenly(fit: FitFacts, data: DataFacts, rows: int, replicas: int) -> Fix:
    """Set a batch size near `rows` that is a multiple of `replicas`, but not above the number of samples."""
    title = f"use a batch size that is a multiple of {replicas}"
    whole = isinstance(data.samples, int) and data.samples <= rows
    size = rows // replicas * replicas if whole else -(-max(rows, 8) // replicas) * replicas
    step = _batch_step(data)
    if not size or data.form not in ("arrays", "dataset") or data.form == "dataset" and step is None:
        return fix(title)
    if data.form == "dataset":
        return fix(title, set_argument(step or Unknown(), "batch_size", str(size), position=0))
    name, position = _batch_argument(data)
    return fix(title, set_argument(fit.code, name, str(size), position=position))


_SUMMED = re.compile(r"operation AddN(?:_\d+)? of type AddN must have the same size and shape")
"""The sum over the replicas; a sum of gradients has their path in its name."""


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, model: ModelFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Read an AddN error: the replicas' shares of the first batch differ in size."""
    if not _SUMMED.search(failure.message):
        return
    if isinstance(model, ModelFacts) and not model.strategy:
        return
    given = fit.code if isinstance(fit, FitFacts) else Unknown("the `fit` call was not recorded")
    batch = given.argument("batch_size", 2) if not isinstance(given, Unknown) else None
    size = fit.batch_size if isinstance(fit, FitFacts) else None
    parts = _PARTS.search(failure.message)
    yield CAUSE.finding(
        "the first batch cannot be divided evenly among the replicas",
        (
            place(batch.location if batch is not None else None)
            or _batched_at(failure, project)
            or failure.location
        ),
        Evidence(
            "samples on two replicas" if parts else "batch size",
            f"{parts[1]} and {parts[2]}" if parts else f"batch_size={size}" if size else "",
            "the same number on each" if parts else "a multiple of the number of replicas",
        ),
        fix("use a batch size that is a multiple of the number of replicas, for validation too"),
        subject="batch size",
        confidence=Confidence.CERTAIN if size else Confidence.LIKELY,
    )


def _batched_at(failure: FailureFacts, project: Project) -> Location | None:
    """Return where the batch size of the failed call is set: in `fit` or in the pipeline's `batch`."""
    for site in calls_at(failure, project):
        if site.method in _CALLS:
            given, data = site.argument("batch_size", 2), site.argument("x", 0)
            if given is not None:
                return site.module.location(given)
            return _batch_call(site.module, data) if data is not None else None
    return None


def _batch_call(module: Module, data: ast.expr) -> Location | None:
    """Return the last `batch` of a pipeline, followed back through its variable names."""
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
"""Maximum number of pipeline stages followed."""

_PARTS = re.compile(r"Input 0: \[(\d+)[^\]]*\] != input \d+: \[(\d+)")


CAUSE.message(
    "^",
    "the workers are out of step: one has a different batch size or a different number of batches",
    "give every worker the same global batch size and the same number of batches; each takes its share",
    subject="global batch",
    fits=out_of_step,
)
