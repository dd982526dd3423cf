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

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.devices.scope_parts import gives_built_model
from fitdoctor.catalogue.reorder_statements import leading_to, moved_up
from fitdoctor.catalogue.run_order import calls_in_order
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import Frame
from fitdoctor.failure.failed_line import at_frame
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import CallSite, Module

CAUSE = Cause(id="FIT609", slug="device-configured-too-late", severity=Severity.ERROR, raises="RuntimeError")

_REMEDY = "move the configuration before the first TensorFlow operation"
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


@CAUSE.rule(
    "config",
    says=r"cannot be modified after|must be set before[\s\S]*initialized",
    types=("RuntimeError",),
    problem="devices are configured after TensorFlow has initialized them",
    remedy=_REMEDY,
    subject="device configuration",
    confidence=Confidence.CERTAIN,
)
def configured_too_late(module: Module, frame: Frame | None) -> Iterator[Finding]:
    """Report configuration calls that run after a call that initializes TensorFlow's devices."""
    sites = module.calls_to(*CONFIGURATION)
    if frame is not None:
        for site in sites:
            if at_frame(module, site.node, frame):
                yield _finding(module, site, _started_before(module, site))
        return
    started: CallSite | None = None
    for site in calls_in_order(module) if sites else ():
        if site.name in CONFIGURATION and started is not None and not _changes_nothing(module, site):
            yield _finding(module, site, started)
            return
        if started is None and _starts(module, site):
            started = site


def _changes_nothing(module: Module, site: CallSite) -> bool:
    """Whether the call makes visible what already is, which TensorFlow accepts: no GPU, or all devices of a type."""
    given = site.argument("devices", 0)
    if isinstance(given, ast.List):
        return not given.elts
    made = module.made_by(given) if given is not None else None
    return module.called(made).endswith(".list_physical_devices")


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
        return gives_built_model(module, site.node)
    if site.method in ("fit", "evaluate", "predict", "compile") and isinstance(site.node.func, ast.Attribute):
        return is_keras_model(module, site.receiver)
    return False


def _finding(module: Module, site: CallSite, start: CallSite | None) -> Finding:
    name = site.name.rpartition(".")[2]
    claim = "TensorFlow initializes its devices here"
    return CAUSE.finding(
        f"`{name}` is called after TensorFlow has initialized its devices",
        module.location(site.node),
        *([Evidence(claim, location=module.location(start.node))] if start else []),
        fix(_REMEDY, moved_up(module, site.node)),
        subject=f"call of {name}",
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
