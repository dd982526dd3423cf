"""A device that this machine does not have.

## What happens

With soft placement off, `InvalidArgumentError: Could not satisfy device specification '/device:GPU:0'` or `Cannot
assign a device for operation …`. With soft placement, which is the default, the same program runs on the CPU. A
`MirroredStrategy` over two GPU names that are not there says that it has two replicas, and then fit never returns.

## Why

The name of the device is written into the program, and the machine is another one.

## Fix

Ask TensorFlow which devices there are (`tf.config.list_physical_devices`), leave soft placement on, and give a strategy
no names: it takes what is there.

## Known limits

From the source alone the devices of the machine are not known: this is found when the program runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.strategies import device_names, made
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, remove_argument
from fitdoctor.facts import EnvironmentFacts, FailureFacts, FitFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT601",
    slug="device-not-here",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "RuntimeError", "ValueError"),
)

REFUSED = pattern(
    r"Could not satisfy (?:explicit )?device specification '([^']*)'"
    r"|was explicitly assigned to (\S+) but available devices"
    r"|Unknown device name|unknown device|device (\S+) is not registered",
    re.IGNORECASE,
)


@CAUSE.before_fit
def from_strategy(
    fit: FitFacts, environment: EnvironmentFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """A strategy over GPUs by name on a machine without them: fit would hang."""
    if isinstance(environment.devices, Unknown) or isinstance(project, Unknown) or fit.method != "fit":
        return
    if any("GPU" in device for device in environment.devices):
        return
    for module in project.modules:
        for site in made(module):
            given = site.argument("devices", 0)
            listed = module.made_by(given) if given is not None else None
            names = device_names(module.segment(listed)) if listed is not None else []
            if len(names) > 1:
                yield _strategy_finding(module, site.node, given, names)


def _strategy_finding(module: Module, node: ast.Call, given: ast.expr | None, names: list[str]) -> Finding:
    edits = remove_argument(module.code(node), "devices", 0) if given is not None else ()
    return CAUSE.finding(
        f"the strategy names {len(names)} GPUs, but there is none here: fit would never return",
        subject="devices of the strategy",
        location=module.location(node),
        evidence=[Evidence(claim="devices", observed=", ".join(names), expected="devices that are there")],
        fixes=[fix("name no devices: the strategy takes what is there", edits)],
        confidence=Confidence.CERTAIN,
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """TensorFlow names the device that it could not find."""
    refused = REFUSED.search(failure.message)
    if refused is None:
        return
    device = next((group for group in refused.groups() if group), "")
    evidence = [Evidence(claim="the device asked for", observed=device, fact="failure.message")]
    short = re.search(r"(GPU|TPU|CPU|XPU):(\d+)", device, re.IGNORECASE)
    for module in project.modules if isinstance(project, Project) else ():
        found = _written(module, short[0]) if short else None
        if found is not None:
            yield _named_finding(module, found, device, evidence)
            return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        f"the device {device or 'asked for'} is not here, and soft placement is off",
        subject="device",
        location=frame.location if frame else None,
        evidence=evidence,
        fixes=[fix("use a device that is there, or leave soft placement on")],
        confidence=Confidence.CERTAIN,
    )


def _written(module: Module, name: str) -> Location | None:
    """Where the device's name is written: first in a `tf.device`, else anywhere."""
    strings = [
        node
        for node in module.nodes(ast.Constant)
        if isinstance(node.value, str) and re.search(rf"{name}\b", node.value, re.IGNORECASE)
    ]
    direct = [node for node in strings if isinstance(module.parent(node), ast.Call)]
    chosen = direct or strings
    return module.location(chosen[0]) if chosen else None


def _named_finding(module: Module, where: Location, device: str, evidence: list[Evidence]) -> Finding:
    off = list(module.calls_to("tensorflow.config.set_soft_device_placement"))
    remedy = [
        fix(
            "leave soft placement on: TensorFlow then takes a device that is there",
            (Edit(module.location(site.node.args[0]), "True"),) if site.node.args else (),
        )
        for site in off[:1]
    ]
    return CAUSE.finding(
        f"the device {device} is not here, and soft placement is off",
        subject="device",
        location=where,
        evidence=[
            *evidence,
            *(
                Evidence(claim="soft placement is turned off here", location=module.location(s.node))
                for s in off[:1]
            ),
        ],
        fixes=remedy or [fix("use a device that is there")],
        confidence=Confidence.CERTAIN,
    )
