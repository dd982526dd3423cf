"""Device not available on this machine.

## What happens

With soft placement off: `InvalidArgumentError: Could not satisfy device specification '…/device:GPU:0'` or `Cannot
assign a device for operation …`. With soft placement on, which is the default, the same program runs on the CPU.

A `MirroredStrategy` over two GPUs that the machine does not have reports two replicas, and then `fit` never returns. The
same happens with `CPU:0` and `CPU:1` if the CPU is not split into logical devices (Keras 3.0 to 3.4 trains in this case).

`gpus[0]` raises an `IndexError` if TensorFlow lists no GPU.

## Why

The program hard-codes the name of a device, and this machine has other devices.

## Fix

Ask TensorFlow which devices exist (`tf.config.list_physical_devices`), leave soft placement on, and pass no device names
to a strategy: it uses the devices it finds.

TensorFlow does not accept the names of other libraries (`cuda:0`, `GPU0`, `0`): `ValueError: Unknown attribute 'cuda' is
encountered while parsing the device spec`. Write `/GPU:0`.

## Known limits

`lint` does not know the machine's devices. It reports a device that the program requires as information, and a name
that TensorFlow cannot parse as an error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.devices import written_devices
from fitdoctor.catalogue.devices.strategies import EXCHANGES_SINCE, made
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, remove_argument
from fitdoctor.facts import EnvironmentFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT601",
    slug="device-not-here",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "RuntimeError", "ValueError", "IndexError", "AssertionError"),
)

REFUSED = re.compile(
    r"Could not satisfy (?:explicit )?device specification '([^']*)'"
    r"|was explicitly assigned to (\S+) but available devices"
    r"|Unknown device name|unknown device|device (\S+) is not registered",
    re.IGNORECASE,
)


@CAUSE.in_source
@mentions("device", "MirroredStrategy", "OneDeviceStrategy")
def from_source(module: Module) -> Iterator[Finding]:
    """Report devices that the program requires."""
    yield from written_devices.insisted(CAUSE, module)


@CAUSE.rule(
    *("device", "MirroredStrategy", "OneDeviceStrategy"),
    says=r"Unknown attribute '[^']*' is encountered while parsing the device spec: '(?P<name>[^']*)'",
    anywhere=True,
    problem="TensorFlow cannot parse the device name `{name}`",
    remedy="write `/GPU:0` or `/CPU:0`",
    subject="device",
    confidence=Confidence.CERTAIN,
)
def misnamed(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find names that TensorFlow rejects on every machine."""
    return written_devices.misnamed(CAUSE, module, failure)


CAUSE.message(
    "Please provide a TPU Name to connect to|Could not lookup TPU metadata from name",
    "the program looks for a TPU, but none is available",
    "catch the `ValueError` and fall back to `tf.distribute.get_strategy()`, on this machine's devices",
    "pass the name of the TPU to the resolver: `TPUClusterResolver(tpu=…)`",
    subject="device",
    confidence=Confidence.CERTAIN,
)


@CAUSE.before_fit
def from_strategy(
    model: ModelFacts, fit: FitFacts, environment: EnvironmentFacts, project: Project
) -> Iterator[Finding]:
    """Report a strategy that names several devices of one kind, not all of them available: `fit` would hang.

    With mixed kinds, such as a GPU and the CPU, it trains: TensorFlow then uses another all-reduce.
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
    # Not tested on a machine with some of the GPUs.
    yield CAUSE.finding(
        f"the strategy names {len(model.replica_devices)} {kind}s, but "
        + (f"this machine has no {' or '.join(missing)}" if some else "this machine has none")
        + ": `fit` would never return",
        place,
        Evidence(
            "devices of the strategy",
            ", ".join(model.replica_devices),
            "available devices",
            fact="model.replica_devices",
        ),
        fix("omit `devices`: the strategy then uses the devices it finds", edits),
        *([fix(_SPLIT)] if kind == "CPU" else ()),
        subject="devices of the strategy",
        confidence=Confidence.LIKELY if kind != "CPU" and some else Confidence.CERTAIN,
    )


_SPLIT = "split the CPU first, with `tf.config.set_logical_device_configuration`"


def _strategy_place(project: Project) -> tuple[Location | None, tuple[Edit, ...]]:
    """Return the strategy call that names devices, if there is one, and edits that remove them."""
    found = [
        (module, site.node)
        for module in project.modules
        for site in made(module)
        if site.argument("devices", 0) is not None
    ]
    if len(found) != 1:
        return (found[0][0].location(found[0][1]) if found else None), ()
    module, node = found[0]
    return module.location(node), remove_argument(module.code(node), "devices", 0)


_REMEDIES = {
    "is not available": "use a device that this machine has, or leave soft placement on",
    "cannot run this operation": "leave soft placement on, so that TensorFlow runs it on the CPU",
}


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Read the missing device from TensorFlow's error."""
    refused = REFUSED.search(failure.message)
    if refused is None:
        return
    device = next((group for group in refused.groups() if group), "")
    here = "cannot run this operation" if "no supported kernel for" in failure.message else "is not available"
    evidence = [Evidence("requested device", device)]
    short = re.search(r"(GPU|TPU|CPU|XPU):(\d+)", device, re.IGNORECASE)
    where, remedy = failure.location, fix(_REMEDIES[here])
    for module in project.modules:
        written = _written(module, short[0]) if short is not None else None
        if written is None:
            continue
        where = module.location(written)
        off = written_devices.soft_placement_off(module)
        if off is not None:
            evidence.append(Evidence("soft placement is turned off here", location=module.location(off.node)))
            remedy = written_devices.placed_softly(off)
        break
    yield CAUSE.certain(
        f"{f'device `{device}`' if device else 'the requested device'} {here}, and soft placement is off",
        where,
        *evidence,
        remedy,
        subject="device",
    )


def _written(module: Module, name: str) -> ast.Constant | None:
    """Return where the device's name is written: in a `tf.device` if possible, else anywhere."""
    strings = [
        node
        for node in module.nodes(ast.Constant)
        if isinstance(node.value, str) and re.search(rf"{name}\b", node.value, re.IGNORECASE)
    ]
    direct = (node for node in strings if isinstance(module.parent(node), ast.Call))
    return next(direct, strings[0] if strings else None)


_LISTS = tuple(
    f"tensorflow.config.{inner}list_{kind}_devices"
    for inner in ("", "experimental.")
    for kind in ("physical", "logical")
)


@CAUSE.after_failure
def from_empty_list(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report code that indexes an empty list of devices, or asserts that it is not empty."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if failure.type not in ("IndexError", "AssertionError") or module is None or frame is None:
        return
    if frame is not failure.frames[-1]:
        return
    for listed in _used_lists(module, failure.type):
        call = module.made_by(listed) if at_frame(module, listed, frame) else None
        if isinstance(call, ast.Call) and module.resolve(call.func) in _LISTS:
            yield _empty_finding(module, module.statement(listed), listed, call)
            return


def _used_lists(module: Module, raised: str) -> Iterator[ast.expr]:
    """Yield the expressions that a statement indexes or asserts on."""
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
    return CAUSE.certain(
        f"the list of devices is empty: TensorFlow finds no {kind} on this machine",
        where,
        Evidence("the list is created here", "[]", location=module.location(call)),
        fix("check that the list is not empty: the program then trains on the CPU", edits),
        fix("if the machine has a GPU, run `fitdoctor env --devices` to see why TensorFlow does not use it"),
        subject="device",
    )
