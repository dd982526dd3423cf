"""Devices configured after TensorFlow has started.

## What happens

`RuntimeError: Virtual devices cannot be modified after being initialized`, or the same of memory growth, visible
devices or threads.

## Why

TensorFlow sets its devices up with the first operation: a `tf.constant`, a layer with weights, `tf.random`. What
configures them must come before.

## Fix

Move the configuration to the top of the program, right after the imports, before anything else of TensorFlow runs.

## Known limits

From the source alone only operations at the top level of the same file count as a start.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.moved_up import moved_up
from fitdoctor.catalogue.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
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
STARTS = (
    "tensorflow.constant",
    "tensorflow.zeros",
    "tensorflow.ones",
    "tensorflow.random.normal",
    "tensorflow.random.uniform",
    "tensorflow.Variable",
    "tensorflow.convert_to_tensor",
    "tensorflow.config.list_logical_devices",
)
"""Calls that surely start TensorFlow's devices."""


@CAUSE.in_source
@mentions("config")
def from_source(module: Module) -> Iterator[Finding]:
    """At the top level of the file an operation stands before the configuration."""
    starts = [site for site in module.calls_to(*STARTS) if _at_top(module, site)]
    for site in module.calls_to(*CONFIGURATION):
        before = [start for start in starts if start.node.lineno < site.node.lineno]
        if _at_top(module, site) and before:
            yield _finding(module, site, before[0], Confidence.LIKELY, [])
            return


def _at_top(module: Module, site: CallSite) -> bool:
    """Whether a call runs when the file is run, whatever happens: no function, branch or handler around it."""
    parent = module.parent(site.node)
    while parent is not None and not isinstance(parent, ast.Module):
        if isinstance(
            parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.If, ast.Try)
        ):
            return False
        parent = module.parent(parent)
    return True


def _finding(
    module: Module,
    site: CallSite,
    start: CallSite | None,
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    name = site.name.rpartition(".")[2]
    started = (
        [Evidence(claim="TensorFlow has started here", location=module.location(start.node))] if start else []
    )
    return CAUSE.finding(
        f"`{name}` comes after TensorFlow has set up its devices",
        subject=f"call of {name}",
        location=module.location(site.node),
        evidence=[*started, *evidence],
        fixes=[
            fix("move the configuration up, before anything of TensorFlow runs", moved_up(module, site.node))
        ],
        confidence=confidence,
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """TensorFlow names what cannot be changed any more."""
    message = failure.message
    if failure.type != "RuntimeError" or "cannot be modified after" not in message:
        if "must be set before" not in message or "initialized" not in message:
            return
    evidence = [
        Evidence(claim="TensorFlow refused the change", observed=message[:100], fact="failure.message")
    ]
    frame = failure.last_user_frame
    module = module_of(project, frame) if frame is not None and isinstance(project, Project) else None
    for site in module.calls_to(*CONFIGURATION) if module is not None else ():
        assert module is not None
        assert frame is not None
        if at_frame(module, site.node, frame):
            yield _finding(module, site, None, Confidence.CERTAIN, evidence)
            return
    yield CAUSE.finding(
        "devices are configured after TensorFlow has set them up",
        subject="device configuration",
        location=frame.location if frame else None,
        evidence=evidence,
        fixes=[fix("move the configuration up, before anything of TensorFlow runs")],
        confidence=Confidence.CERTAIN,
    )
