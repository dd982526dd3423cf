"""Two layers of one model have the same name.

## What happens

`ValueError: The name "hidden" is used 2 times in the model. All operation names should be unique`, when the model is
made; a Sequential says `All layers added to a Sequential model should have unique names`.

## Why

A line was copied with its `name`, or a name is written in a loop or in a function that makes several layers. Two copies
of one ready-made network have the same name too. Layers without a name get one of their own.

## Fix

Another name for one of them, or none. For ready-made networks: `ResNet50(…, name="left")`.

## Known limits

From the source: models whose layers are evident.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.traced import module_of, raised_here
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, remove_argument
from fitdoctor.facts import Code, FailureFacts, ModelFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT328", slug="name-used-twice", severity=Severity.ERROR, raises="ValueError")

_SAID = pattern(
    r"The name ['\"](?P<name>[^'\"\n]+)['\"] is used \d+ times in the model"
    r"|should have unique names\. Name ['\"](?P<added>[^'\"\n]+)['\"] is already the name of a layer"
)


@CAUSE.in_source
@mentions("name=", "name =")
def from_source(model: ModelFacts) -> Iterator[Finding]:
    """Two layers of a model that are given one name."""
    known: dict[str, Code] = {}
    for layer in model.layers:
        code = layer.code
        given = code.argument("name") if isinstance(code, Code) else None
        if not isinstance(code, Code) or given is None or given.text.strip("\"'") != layer.name:
            continue
        if layer.name in known:
            yield _finding(layer.name, [known[layer.name], code], Confidence.LIKELY)
            return
        known[layer.name] = code


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Keras says which name."""
    said = _SAID.search(failure.message)
    if said is None:
        return
    name, frame = said["name"] or said["added"], failure.last_user_frame
    written = [] if isinstance(project, Unknown) else list(_written(project, name))
    here = module_of(project, frame)
    near = [code for code in written if here is not None and code.location.path == here.path] or written
    raised = raised_here(failure)
    if near:
        yield _finding(name, near, Confidence.CERTAIN, raised)
        return
    yield CAUSE.finding(
        f"two parts of the model are named `{name}`",
        subject=f"name {name}",
        location=frame.location if frame is not None else None,
        evidence=[raised],
        fixes=[fix("give one of them another name: most layers and ready-made networks take `name=`")],
        confidence=Confidence.CERTAIN,
    )


def _written(project: Project, name: str) -> Iterator[Code]:
    """The calls of Keras that give the name."""
    for module in project.modules:
        for call in module.calls_under("keras."):
            given = call.argument("name")
            if isinstance(given, ast.Constant) and given.value == name:
                yield module.code(call.node)


def _finding(
    name: str, written: list[Code], confidence: Confidence, raised: Evidence | None = None
) -> Finding:
    last = written[-1]
    again = written[0].location != last.location
    evidence = [
        Evidence(
            claim=f"`{name}` is given to a layer before" if again else "the line makes more than one layer",
            observed=f"`{name}`",
            expected="a name of its own",
            location=written[0].location,
        )
    ]
    given = last.argument("name")
    return CAUSE.finding(
        f"two layers of the model are named `{name}`",
        subject=f"name {name}",
        location=given.location if given is not None else last.location,
        evidence=evidence if raised is None else [*evidence, raised],
        fixes=_remedies(name, last, given.location if given is not None and again else None),
        confidence=confidence,
    )


def _remedies(name: str, code: Code, given: Location | None) -> list[Fix]:
    unnamed = fix("leave the name out: Keras gives each layer one of its own", remove_argument(code, "name"))
    if given is None:
        return [unnamed]
    return [fix("give the second layer another name", (Edit(given, f'"{name}_2"'),)), unnamed]
