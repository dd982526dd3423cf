"""A device that this machine does not have.

## What happens

With soft placement off, `InvalidArgumentError: Could not satisfy device specification '/device:GPU:0'` or `Cannot
assign a device for operation …`. With soft placement, which is the default, the same program runs on the CPU. A
`MirroredStrategy` over two GPU names that are not there says that it has two replicas, and then fit never returns; the
same with `CPU:0` and `CPU:1` where the CPU was not split (Keras 3.0 to 3.4 trains there). `gpus[0]` of an empty list
of devices is an `IndexError`.

## Why

The name of the device is written into the program, and the machine is another one.

## Fix

Ask TensorFlow which devices there are (`tf.config.list_physical_devices`), leave soft placement on, and give a strategy
no names: it takes what is there.

Other libraries' names (`cuda:0`, `GPU0`, `0`) are no names here: `ValueError: Unknown attribute 'cuda' is encountered
while parsing the device spec`. Write `/GPU:0`.

## Known limits

From the source alone the devices of the machine are not known: what the program cannot do without is told as
information there, a name that cannot be read as an error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.devices.strategies import EXCHANGES_SINCE, made
from fitdoctor.catalogue.graph.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, remove_argument
from fitdoctor.facts import EnvironmentFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT601",
    slug="device-not-here",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "RuntimeError", "ValueError", "IndexError", "AssertionError"),
)

REFUSED = pattern(
    r"Could not satisfy (?:explicit )?device specification '([^']*)'"
    r"|was explicitly assigned to (\S+) but available devices"
    r"|Unknown device name|unknown device|device (\S+) is not registered",
    re.IGNORECASE,
)


@CAUSE.in_source
@mentions("device", "MirroredStrategy", "OneDeviceStrategy")
def from_source(module: Module) -> Iterator[Finding]:
    """Names that no TensorFlow can read, and devices without which the program cannot run."""
    from fitdoctor.catalogue.devices.written_devices import insisted, misnamed

    yield from misnamed(CAUSE, module)
    yield from insisted(CAUSE, module)


@CAUSE.before_fit
def from_strategy(
    model: ModelFacts, fit: FitFacts, environment: EnvironmentFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """A strategy over several devices of one kind by name, and not all of them are here: fit would hang.

    Of several kinds, a GPU and the CPU, it trains: TensorFlow then exchanges in another way.
    """
    if isinstance(environment.devices, Unknown) or fit.method != "fit":
        return
    if model.keras == 3 and environment.release("keras") < EXCHANGES_SINCE:
        return
    here = {device.rpartition("device:")[2].upper() for device in environment.devices}
    missing = [name for name in model.replica_devices if name.upper() not in here]
    kinds = {name.partition(":")[0].upper() for name in model.replica_devices}
    if not missing or len(model.replica_devices) < 2 or len(kinds) > 1:
        return
    kind = kinds.pop()
    some = any(device.startswith(kind + ":") for device in here)
    place, edits = _strategy_place(project)
    yield CAUSE.finding(
        f"the strategy names {len(model.replica_devices)} {kind}s, but "
        + (f"{', '.join(missing)} is not here" if some else "there is none here")
        + ": fit would never return",
        subject="devices of the strategy",
        location=place,
        evidence=[
            Evidence(
                claim="devices of the strategy",
                observed=", ".join(model.replica_devices),
                expected="devices that are there",
                fact="model.replica_devices",
            )
        ],
        fixes=[
            fix("name no devices: the strategy takes what is there", edits),
            *([fix(_SPLIT)] if kind == "CPU" else ()),
        ],
        # With some GPUs there it could not be run here.
        confidence=Confidence.LIKELY if kind != "CPU" and some else Confidence.CERTAIN,
    )


_SPLIT = "or split the CPU first, by `tf.config.set_logical_device_configuration`"


def _strategy_place(project: Project | Unknown) -> tuple[Location | None, tuple[Edit, ...]]:
    """The call that is told the devices, where there is one, and what takes them out."""
    found = [
        (module, site.node)
        for module in (() if isinstance(project, Unknown) else project.modules)
        for site in made(module)
        if site.argument("devices", 0) is not None
    ]
    if len(found) != 1:
        return (found[0][0].location(found[0][1]) if found else None), ()
    module, node = found[0]
    return module.location(node), remove_argument(module.code(node), "devices", 0)


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


@CAUSE.after_failure
def from_name(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """TensorFlow could not even read the name."""
    from fitdoctor.catalogue.devices.written_devices import refused_name

    yield from refused_name(CAUSE, failure, project)


_NO_TPU = ("Please provide a TPU Name to connect to", "Could not lookup TPU metadata from name")


@CAUSE.after_failure
def from_resolver(failure: FailureFacts) -> Iterator[Finding]:
    """A cluster resolver looks for a TPU on a machine that has none."""
    frame = failure.last_user_frame
    if any(words in failure.message for words in _NO_TPU):
        yield CAUSE.finding(
            "the program looks for a TPU, and none is here",
            subject="device",
            location=frame.location if frame is not None else None,
            evidence=[Evidence("the resolver found none", fact="failure.message")],
            fixes=[
                fix(
                    "catch the ValueError and go on with `tf.distribute.get_strategy()`, on this machine's devices"
                ),
                fix("or give the resolver the name of the TPU: `TPUClusterResolver(tpu=…)`"),
            ],
            confidence=Confidence.CERTAIN,
        )


_LISTS = tuple(
    f"tensorflow.config.{inner}list_{kind}_devices"
    for inner in ("", "experimental.")
    for kind in ("physical", "logical")
)


@CAUSE.after_failure
def from_empty_list(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The program takes a device out of a list that is empty here, or insists that there is one."""
    frame = failure.last_user_frame
    if (
        failure.type not in ("IndexError", "AssertionError")
        or frame is None
        or frame is not failure.frames[-1]
    ):
        return
    module = module_of(project, frame)
    if module is None:
        return
    for listed in _used_lists(module, failure.type):
        call = module.made_by(listed) if at_frame(module, listed, frame) else None
        if isinstance(call, ast.Call) and module.resolve(call.func) in _LISTS:
            yield _empty_finding(module, module.statement(listed), listed, call)
            return


def _used_lists(module: Module, raised: str) -> Iterator[ast.expr]:
    """What an element is taken of, or what an assertion speaks of."""
    if raised == "IndexError":
        yield from (node.value for node in module.nodes(ast.Subscript))
        return
    for assertion in module.nodes(ast.Assert):
        yield from (node for node in ast.walk(assertion.test) if isinstance(node, (ast.Name, ast.Call)))


def _empty_finding(module: Module, statement: ast.stmt, listed: ast.expr, call: ast.Call) -> Finding:
    asked = call.args[0] if call.args else next((each.value for each in call.keywords), None)
    kind = asked.value if isinstance(asked, ast.Constant) and isinstance(asked.value, str) else "such device"
    where = module.location(statement)
    edits: tuple[Edit, ...] = ()
    if isinstance(listed, ast.Name) and isinstance(statement, ast.Expr) and where.line == where.end_line:
        indent = indent_of(module, statement)
        edits = (Edit(where, f"if {listed.id}:\n{indent}    {module.segment(statement)}"),)
    return CAUSE.finding(
        f"TensorFlow sees no {kind} here: the list of devices is empty",
        subject="device",
        location=where,
        evidence=[Evidence(claim="the list is made here", observed="[]", location=module.location(call))],
        fixes=[
            fix("ask first whether there is one: the program then trains on the CPU", edits),
            fix("if the machine has a GPU, see `fitdoctor env --devices` for why TensorFlow does not use it"),
        ],
        confidence=Confidence.CERTAIN,
    )
