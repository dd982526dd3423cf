"""Device hard-coded inside a layer.

## What happens

Nothing visible. With soft placement on, which is the default, `tf.device("/GPU:0")` in `call` is only a preference.
Without a GPU, the layer runs on the CPU. With several replicas, it ties the work of every replica to one device.

## Why

TensorFlow places operations itself and copies tensors between devices as needed.

## Fix

Remove the device from the layer. To use several devices, create the model under a `tf.distribute` strategy.

## Known limits

A device chosen for the whole training is a deliberate decision and is not reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.devices.written_devices import soft_placement_off
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.source.module import CallSite, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import name_of

CAUSE = Cause(id="FIT603", slug="hard-coded-device", severity=Severity.INFO)


@CAUSE.in_source
@mentions("device")
def from_source(module: Module) -> Iterator[Finding]:
    """`tf.device` with a GPU's name in the `call` of a layer or model."""
    if soft_placement_off(module) is not None:
        return  # the device is then a requirement, see FIT601
    for site in module.calls_to("tensorflow.device"):
        function = site.function
        if function is None or function.traced is None or function.traced.how != "call":
            continue
        if _is_gpu(module, site, function):
            yield _finding(module, site, function)


def _is_gpu(module: Module, site: CallSite, function: FunctionInfo) -> bool:
    """Whether the device is a literal GPU name: here, or as the default of the parameter stored on `self`."""
    given = site.argument("device_name", 0)
    made = module.made_by(given) if given is not None else None
    if isinstance(made, ast.Constant):
        return _names_gpu(made.value)
    if isinstance(given, ast.Attribute) and function.owner is not None:
        setup = function.owner.methods.get("__init__")
        defaults = setup.node.args.defaults if setup is not None else []
        return any(isinstance(default, ast.Constant) and _names_gpu(default.value) for default in defaults)
    return False


def _names_gpu(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"/?(device:)?gpu:\d+", value, re.IGNORECASE) is not None


def _finding(module: Module, site: CallSite, function: FunctionInfo) -> Finding:
    return CAUSE.finding(
        f"{name_of(function)} hard-codes a device: no effect without that device, and a bottleneck with several replicas",
        module.location(site.node),
        Evidence("with soft placement, the device is only a preference", module.segment(site.node)),
        _without_device(module, site),
        subject=f"device in {function.qualname}",
    )


def _without_device(module: Module, site: CallSite) -> Fix:
    title = "remove the device: TensorFlow places the operations"
    block = module.parent(site.node)
    block = module.parent(block) if isinstance(block, ast.withitem) else block
    if not isinstance(block, ast.With) or len(block.items) != 1:
        return fix(title)
    first = module.location(block.body[0])
    depth = first.column - module.location(block).column
    lines = module.segment(block).split("\n")
    start = first.line - module.location(block).line
    body = [line[depth:] if line[:depth].isspace() else line for line in lines[start:]]
    return fix(title, (Edit(module.location(block), "\n".join([body[0].lstrip(), *body[1:]])),))
