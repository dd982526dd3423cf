"""Two layers of a model with the same name.

## What happens

`ValueError: The name "hidden" is used 2 times in the model. All operation names should be unique` when the model is
created. A `Sequential` model raises `All layers added to a Sequential model should have unique names`.

## Why

A line was copied together with its `name`, or the name is in a loop or in a function that creates several layers. Two
instances of the same pretrained network share a name too. Layers without a name get a unique one.

## Fix

Rename one of them, or remove the name. For pretrained networks: `ResNet50(…, name="left")`.

## Known limits

`lint` reports only models whose layers it can read from the source.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import append_arguments, fix, remove_argument
from fitdoctor.facts import Code, FailureFacts, ModelFacts
from fitdoctor.failure.failed_line import module_of, raised_here
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT328", slug="name-used-twice", severity=Severity.ERROR, raises="ValueError")

_SAID = re.compile(
    r"The name ['\"](?P<name>[^'\"\n]+)['\"] is used \d+ times in the model"
    r"|should have unique names\. Name ['\"](?P<added>[^'\"\n]+)['\"] is already the name of a layer"
)


@CAUSE.in_source
@mentions("name=", "name =")
def from_source(model: ModelFacts) -> Iterator[Finding]:
    """Report two layers of a model with the same name; a subclassed model may repeat them."""
    if model.kind == "subclassed":
        return
    known: dict[str, Code] = {}
    for layer in model.layers:
        code = layer.code
        given = code.argument("name") if isinstance(code, Code) else None
        if not isinstance(code, Code) or given is None or given.text.strip("\"'") != layer.name:
            continue
        if layer.name in known:
            yield _finding(layer.name, [known[layer.name], code])
            return
        known[layer.name] = code


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Read the duplicate name from the Keras error."""
    said = _SAID.search(failure.message)
    if said is None:
        return
    name, frame = said["name"] or said["added"], failure.last_user_frame
    written = [] if not project else list(_written(project, name))
    here = module_of(project, frame)
    near = [code for code in written if here is not None and code.location.path == here.path] or written
    if near:
        yield certain(_finding(name, near), failure)
        return
    yield CAUSE.certain(
        f"two parts of the model are named `{name}`",
        failure.location,
        raised_here(failure),
        fix(
            "rename one of them: most layers and pretrained networks accept `name=`",
            _named_apart(project, name),
        ),
        subject=f"name {name}",
    )


def _named_apart(project: Project, name: str) -> tuple[Edit, ...]:
    """Name the layers that Keras would call so by their class: without its name, the next one gets it."""
    calls = [
        (module, call.node)
        for module in project.modules
        for call in module.calls_under("keras.layers.")
        if call.argument("name") is None and snake_case(call.name.rpartition(".")[2]) == name
    ]
    return tuple(
        edit
        for number, (module, node) in enumerate(calls, 1)
        for edit in append_arguments(
            module.code(node), f'name="{name}_layer{f"_{number}" if number > 1 else ""}"'
        )
    )


def _written(project: Project, name: str) -> Iterator[Code]:
    """Yield the Keras calls that set the name."""
    for module in project.modules:
        for call in module.calls_under("keras."):
            given = call.argument("name")
            if isinstance(given, ast.Constant) and given.value == name:
                yield module.code(call.node)


def _finding(name: str, written: list[Code]) -> Finding:
    last = written[-1]
    again = written[0].location != last.location
    given = last.argument("name")
    return CAUSE.finding(
        f"two layers of the model are named `{name}`",
        given.location if given is not None else last.location,
        Evidence(
            f"an earlier layer is named `{name}`" if again else "this line creates more than one layer",
            f"`{name}`",
            "a unique name",
            location=written[0].location,
        ),
        *_remedies(name, last, given.location if given is not None and again else None),
        subject=f"name {name}",
    )


def _remedies(name: str, code: Code, given: Location | None) -> list[Fix]:
    unnamed = fix("remove the name: Keras gives each layer a unique one", remove_argument(code, "name"))
    if given is None:
        return [unnamed]
    return [fix("rename the second layer", (Edit(given, f'"{name}_2"'),)), unnamed]
