"""Variable on a different device than the compiled step.

## What happens

`InvalidArgumentError: Trying to access resource sequential/dense/kernel/0 (defined @ …) located in device
…CPU:1 from device …CPU:0` at the first step.

## Why

XLA (`jit_compile=True`) compiles the step for one device, and a variable cannot move to another. Outside compiled code,
TensorFlow copies the value when another device reads it; in a compiled step it cannot. The same holds for a fused
operation over two variables on different devices.

## Fix

Create the variables on the device that runs the step: move the model out of `with tf.device(…)`, or turn `jit_compile`
off.

## Known limits

Reported only after the failure. Verified with two logical CPUs; GPUs give the same message but were not tested.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import fix, remove_argument, unsafe
from fitdoctor.facts import FailureFacts, ModelFacts, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT602", slug="resource-on-other-device", severity=Severity.ERROR, raises="InvalidArgumentError"
)

_RESOURCE = re.compile(
    r"Trying to access resource (?P<name>\S+)(?: \(defined @ .{0,400}?\))? located in device (?P<here>\S+) "
    r"from device (?P<there>\S+)"
)
_EDGE = "a reference or resource edge connects colocation groups with incompatible assigned devices"


@CAUSE.after_failure
def from_failure(failure: FailureFacts, model: ModelFacts | Unknown, project: Project) -> Iterator[Finding]:
    """Read the variable and both devices from the error of the compiled step."""
    said = _RESOURCE.search(failure.message) or _RESOURCE.search(failure.raw_message)
    if said is None and _EDGE not in failure.message:
        return
    block = _device_block(project, said["here"]) if said is not None else None
    location = block[0].location(block[1]) if block is not None else failure.location
    told, evidence = "an operation uses variables on different devices", list[Evidence]()
    if said is not None:
        here, there = _short(said["here"]), _short(said["there"])
        told = f"variable `{said['name']}` is on {here}, but the compiled step runs on {there}"
        evidence = [Evidence("device of the variable", here, there)]
    compile_code = model.compile_code if isinstance(model, ModelFacts) else Unknown("no model")
    yield CAUSE.certain(
        told,
        location,
        *evidence,
        unsafe("turn `jit_compile` off", remove_argument(compile_code, "jit_compile")),
        fix("create the variables on the device that the step runs on"),
        subject="device of a variable",
    )


def _short(device: str) -> str:
    return device.rpartition("device:")[2] or device


def _device_block(project: Project, device: str) -> tuple[Module, ast.AST] | None:
    """Return the `with tf.device(…)` that names the variable's device."""
    for module in project.modules:
        for node in module.nodes(ast.With):
            for item in node.items:
                call = item.context_expr
                if (
                    isinstance(call, ast.Call)
                    and module.resolve(call.func) == "tensorflow.device"
                    and call.args
                ):
                    if _short(device).lower() in module.segment(call.args[0]).lower():
                        return module, call
    return None
