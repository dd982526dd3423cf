"""Devices configured after TensorFlow has initialized them.

## What happens

`RuntimeError: Virtual devices cannot be modified after being initialized`, or the same error for memory growth, visible
devices or threads.

## Why

TensorFlow initializes its devices when the first operation runs: a `tf.constant`, a layer with weights, `tf.random`.
After that, their configuration is fixed.

## Fix

Move the configuration to the top of the program, right after the imports, before any other TensorFlow call.

## Known limits

`lint` considers only calls that certainly run, in the order of the file and of the functions it calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.reorder_statements import leading_to, moved_before, moved_up
from fitdoctor.catalogue.run_order import calls_in_order
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import calls_at
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT609", slug="device-configured-too-late", severity=Severity.ERROR, raises="RuntimeError")

CONFIGURATION = (
    "tensorflow.config.set_logical_device_configuration",
    "tensorflow.config.experimental.set_virtual_device_configuration",
    "tensorflow.config.set_visible_devices",
    "tensorflow.config.experimental.set_visible_devices",
    "tensorflow.config.experimental.set_memory_growth",
    "tensorflow.config.threading.set_intra_op_parallelism_threads",
    "tensorflow.config.threading.set_inter_op_parallelism_threads",
)
_TENSORS = frozenset(
    "constant zeros ones fill eye range linspace convert_to_tensor Variable cast reshape stack concat one_hot matmul "
    "reduce_sum reduce_mean reduce_max add multiply sqrt square exp".split()
)
_OF_KERAS = frozenset(
    "Dropout SpatialDropout1D SpatialDropout2D GaussianNoise GaussianDropout LSTM GRU SimpleRNN".split()
)
"""Layers that create variables (their random state) on construction in Keras 3."""


@CAUSE.in_source
@mentions("config")
def from_source(module: Module) -> Iterator[Finding]:
    """Report configuration calls that run after a call that initializes TensorFlow's devices."""
    if not module.calls_to(*CONFIGURATION):
        return
    started: CallSite | None = None
    for site in calls_in_order(module):
        if site.name in CONFIGURATION and started is not None and not _hides_nothing(site):
            yield _finding(module, site, started, Confidence.LIKELY, [])
            return
        if started is None and _starts(module, site):
            started = site


def _hides_nothing(site: CallSite) -> bool:
    """Whether the call is `set_visible_devices([], "GPU")`, which does not raise on a machine without a GPU."""
    given = site.argument("devices", 0)
    return isinstance(given, ast.List) and not given.elts


def _starts(module: Module, site: CallSite) -> bool:
    """Whether a call certainly makes TensorFlow initialize its devices."""
    package, _dot, last = site.name.rpartition(".")
    if package == "tensorflow":
        return last in _TENSORS
    if package == "tensorflow.random":
        return last != "set_seed"
    if package in ("tensorflow.data.Dataset", "tensorflow.distribute"):
        return package == "tensorflow.data.Dataset" or last.endswith("Strategy")
    if site.name == "tensorflow.config.list_logical_devices":
        return True
    if module.keras != 3:
        return False
    if package in ("keras.optimizers", "keras.metrics"):
        return last[:1].isupper()
    if package == "keras.layers":
        return last in _OF_KERAS
    if last in ("Sequential", "Model") and package in ("keras", "keras.models"):
        from fitdoctor.catalogue.devices.scope_parts import gives_built_model

        return gives_built_model(module, site.node)
    if site.method in ("fit", "evaluate", "predict", "compile") and isinstance(site.node.func, ast.Attribute):
        return is_keras_model(module, site.receiver)
    return False


def _finding(
    module: Module, site: CallSite, start: CallSite | None, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    name = site.name.rpartition(".")[2]
    started = (
        [Evidence("TensorFlow initializes its devices here", location=module.location(start.node))]
        if start
        else []
    )
    return CAUSE.finding(
        f"`{name}` is called after TensorFlow has initialized its devices",
        module.location(site.node),
        *started,
        *evidence,
        fix("move the configuration before the first TensorFlow operation", _moved(module, site, start)),
        subject=f"call of {name}",
        confidence=confidence,
    )


def _started_before(module: Module, late: CallSite) -> CallSite | None:
    """Return the call that initialized TensorFlow before `late`, which may be in a loop or a branch."""
    sites = list(calls_in_order(module))
    for statement in leading_to(module, late.node):
        within = set(ast.walk(statement))
        reached = next((index for index, site in enumerate(sites) if site.node in within), None)
        if reached is not None:
            return next((site for site in sites[:reached] if _starts(module, site)), None)
    return None


def _moved(module: Module, site: CallSite, start: CallSite | None) -> tuple[Edit, ...]:
    return moved_up(module, site.node) or (
        moved_before(module, site.node, start.node) if start is not None else ()
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Read the `RuntimeError` of a configuration call that came too late."""
    message = failure.message
    if failure.type != "RuntimeError" or "cannot be modified after" not in message:
        if "must be set before" not in message or "initialized" not in message:
            return
    evidence = [Evidence("TensorFlow rejects the change", message[:100], fact="failure.message")]
    for site in calls_at(failure, project):
        if site.name in CONFIGURATION:
            started = _started_before(site.module, site)
            yield _finding(site.module, site, started, Confidence.CERTAIN, evidence)
            return
    yield CAUSE.finding(
        "devices are configured after TensorFlow has initialized them",
        failure.location,
        *evidence,
        fix("move the configuration before the first TensorFlow operation"),
        subject="device configuration",
        confidence=Confidence.CERTAIN,
    )
