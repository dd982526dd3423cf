"""Device names in a program: those that TensorFlow cannot parse, and those that it requires."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, remove_argument
from fitdoctor.facts import FailureFacts
from fitdoctor.source.module import CallSite, Module

_DEVICE = "tensorflow.device"
_MIRRORED = "tensorflow.distribute.MirroredStrategy"
_ONE_DEVICE = "tensorflow.distribute.OneDeviceStrategy"

_MISNAMED = re.compile(
    r"(?i)/?(?:device:)?(?:(?P<kind>cuda|[cgt]pu)(?P<number>\d*)|cuda:(?P<index>\d+)|(?P<alone>\d+))"
)
"""Device names of other libraries: `cuda:0`, `GPU0`, `0`. TensorFlow accepts plain `gpu` as the first GPU."""
_KIND = re.compile(r"(?i)^(?:/?job:\w+/replica:\d+/task:\d+)?/?(?:device:)?(?P<kind>[GT]PU):(?P<number>\d+)$")
_ASKS = (
    "list_physical_devices",
    "list_logical_devices",
    "is_gpu_available",
    "gpu_device_name",
    "get_visible_devices",
)
"""A program that lists devices is assumed to handle missing ones."""


def readable(name: str) -> str:
    """Return TensorFlow's name for a device; "" if the name is valid or not recognized."""
    found = _MISNAMED.fullmatch(name.strip())
    if found is None or (found["kind"] and found["kind"].lower() != "cuda" and not found["number"]):
        return ""
    kind = (found["kind"] or "gpu").lower().replace("cuda", "gpu").upper()
    return f"/{kind}:{int(found['number'] or found['index'] or found['alone'] or 0)}"


def misnamed(cause: Cause, module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report names that TensorFlow rejects on every machine; after a failure, the one in its message."""
    for _site, node, name in _written(module):
        meant = readable(name)
        if f"'{name}'" in failure.message if failure is not None else meant:
            yield cause.finding(
                f"TensorFlow cannot parse the device name `{name}`",
                module.location(node),
                Evidence("device name", name, meant or "/GPU:0, /CPU:0"),
                fix(
                    f"write `{meant}`" if meant else "write `/GPU:0` or `/CPU:0`",
                    (Edit(module.location(node), f'"{meant}"'),) if meant else (),
                ),
                subject="device",
            )


def placed_softly(off: CallSite) -> Fix:
    """Turn soft placement on again."""
    edits = (Edit(off.module.location(off.node.args[0]), "True"),) if off.node.args else ()
    return fix("leave soft placement on: TensorFlow then falls back to an available device", edits)


def insisted(cause: Cause, module: Module) -> Iterator[Finding]:
    """Report devices that the program requires: soft placement is off, or a strategy names several."""
    if any(map(module.mentions, _ASKS)):
        return
    off = soft_placement_off(module)
    for site, node, name in _written(module):
        if off is not None and site.name == _DEVICE and _KIND.match(name):
            yield cause.finding(
                f"the program fails on a machine without {_short(name)}: soft placement is off",
                module.location(node),
                Evidence("soft placement is turned off here", location=module.location(off.node)),
                placed_softly(off),
                subject="device",
                severity=Severity.INFO,
            )
            return
    for site in module.calls_to(_MIRRORED):
        names = [name for made_for, _node, name in _written(module) if made_for is site and _KIND.match(name)]
        if len(set(names)) > 1:
            yield cause.finding(
                f"`fit` never returns on a machine without {' and '.join(map(_short, names))}",
                module.location(site.node),
                Evidence("devices of the strategy", ", ".join(names), "available devices"),
                fix(
                    "omit `devices`: the strategy then uses the devices it finds",
                    remove_argument(module.code(site.node), "devices", 0),
                ),
                subject="devices of the strategy",
                severity=Severity.INFO,
            )


def _short(name: str) -> str:
    found = _KIND.match(name)
    assert found is not None
    return f"{found['kind'].upper()}:{found['number']}"


def soft_placement_off(module: Module) -> CallSite | None:
    """Return the call that turns soft placement off, so that device names are binding."""
    for site in module.calls_to("tensorflow.config.set_soft_device_placement"):
        given = site.argument("enabled", 0)
        if isinstance(given, ast.Constant) and given.value is False:
            return site
    return None


def _written(module: Module) -> Iterator[tuple[CallSite, ast.Constant, str]]:
    """Yield the literal device names, with the calls that use them."""
    for site in module.calls_to(_DEVICE, _MIRRORED, _ONE_DEVICE):
        given = site.argument("devices" if site.name == _MIRRORED else "device_name", 0)
        given = site.argument("device") or given if site.name == _ONE_DEVICE else given
        value = module.made_by(given) if given is not None else None
        for node in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield site, node, node.value
