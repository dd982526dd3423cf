"""Attribute name reserved by Keras.

## What happens

`AttributeError: `Model.layers` attribute is reserved and should not be used`, or `property 'model' of 'History' object has
no setter` as soon as the object is created. Keras 2 raises `Can't set the attribute "layers"`, and allows a callback to
set `model`.

## Why

Models, layers, losses, metrics and callbacks have attributes that Keras computes or sets itself: a model's `layers`,
`weights`, `metrics`, `input` and `output`, a callback's `model`, the `num_batches` of a `PyDataset`.
They are read-only properties.

## Fix

Rename the attribute everywhere in the class. A callback does not need `self.model = model`: Keras sets it before
training.

## Known limits

A class that defines its own property of that name is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.source.callees import is_self
from fitdoctor.source.module import ClassInfo, Module

CAUSE = Cause(id="FIT326", slug="attribute-reserved", severity=Severity.ERROR, raises="AttributeError")

_OF_LAYERS = frozenset(
    """path variables trainable_variables non_trainable_variables weights trainable_weights non_trainable_weights
    metrics metrics_variables dtype compute_dtype variable_dtype input_dtype losses input output""".split()
)
_RESERVED = {
    "Layer": _OF_LAYERS,
    "Model": _OF_LAYERS | {"layers", "metrics_names", "compiled_metrics", "distribute_strategy"},
    "Callback": frozenset({"model"}),
    "Loss": frozenset({"dtype"}),
    "Metric": frozenset({"dtype", "variables"}),
    "PyDataset": frozenset({"num_batches"}),
}
"""Properties of Keras 3.15 that raise on assignment."""
_ANY = frozenset().union(*_RESERVED.values())


@CAUSE.rule(
    *(f"self.{name}" for name in sorted(_ANY)),
    says=r"(?:`Model\.|property '|[Cc]an't set (?:the )?attribute ['\"])"
    rf"(?P<name>{'|'.join(sorted(_ANY))})"
    r"(?:` attribute is reserved|' of '\w+' object has no setter|['\"])",
    types=("AttributeError",),
    problem="`{name}` is an attribute that Keras manages: it cannot be set",
    remedy="rename the attribute",
    subject="attribute {name}",
)
def reserved(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report subclasses of Keras classes that set such an attribute."""
    for owner in module.classes if module.keras == 3 or failure is not None else ():
        stores = module.attribute_stores(owner.node)
        names = _RESERVED.get(owner.kind, frozenset()) if failure is None else _ANY
        for name in sorted(names & stores.keys()) if owner.kind else ():
            if failure is None and _is_its_own(owner, name):
                continue
            for store in stores[name][: 1 if failure is None else None]:
                yield CAUSE.finding(
                    f"`{owner.name}` sets `self.{name}`, a read-only attribute of Keras",
                    module.location(module.statement(store)),
                    Evidence(
                        f"`{name}` of a Keras {owner.kind.lower()} is a read-only property",
                        module.segment(store),
                        location=module.location(store),
                    ),
                    _renamed(owner, name),
                    subject=f"attribute {name}",
                )


def _is_its_own(owner: ClassInfo, name: str) -> bool:
    """Whether the class, or one of the user's base classes, defines the name."""
    return any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name == name
        or isinstance(node, (ast.Assign, ast.AnnAssign))
        and any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))
        for ancestor in owner.module.ancestry(owner)
        for node in ancestor.node.body
    )


def _renamed(owner: ClassInfo, name: str) -> Fix:
    """Rename `self.layers` to `self.own_layers` in the whole class."""
    module = owner.module
    reads = [
        node
        for node in module.attributes.get(name, ())
        if is_self(module, node.value) and module.class_of(node) is owner
    ]
    given = f"own_{name}"
    if given in module.text:
        return fix("rename the attribute")
    edits = tuple(Edit(module.location(node), f"{module.segment(node.value)}.{given}") for node in reads)
    return fix(f"rename it to `{given}`", edits)
