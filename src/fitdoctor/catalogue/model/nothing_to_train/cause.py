"""Nothing in the model can be trained.

## What happens

`fit` runs to its end, the loss goes up and down with the batches and does not fall. No weight changes. Keras says nothing.

## Why

Every layer is frozen: `model.trainable = False` (which reaches every layer inside, also those that were added to a
frozen backbone), or a loop over `model.layers` that takes the new head along. Or no layer has weights at all.

## Fix

Freeze the backbone before the head is put on it, leave the last layers out of the loop, or add a layer with weights;
then compile again.

## Known limits

A model of one's own class that is not built yet has no weights to count. A model with its own `train_step` may train
other variables, and is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, LayerFacts, ModelFacts, Unknown
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT311", slug="nothing-to-train", severity=Severity.WARNING)

_TRAINS = frozenset({"fit", "train_on_batch", "fit_generator"})


@CAUSE.before_fit
def from_model(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """The model that is trained has no trainable weight."""
    if (
        fit.method not in _TRAINS
        or data.role != "training"
        or model.trainable_parameters != 0
        or not model.built
    ):
        return
    if isinstance(model.trainable_parameters, Unknown) or "train_step" in model.overrides:
        return
    if model.untracked_variables or _adapts(model):
        return
    if model.parameters:
        yield _frozen(model, fit, project)
    else:
        yield _weightless(model, fit)


def _adapts(model: ModelFacts) -> bool:
    """Whether fit is called for the moving averages of batch normalisation."""
    return any(
        layer.class_name == "BatchNormalization" and layer.trainable and layer.parameters
        for layer in model.every_layer()
    )


def _weightless(model: ModelFacts, fit: FitFacts) -> Finding:
    last: LayerFacts | None = model.layers[-1] if model.layers else None
    return CAUSE.finding(
        "no layer of the model has weights: there is nothing to train",
        subject="model",
        location=place(last.code if last is not None else None, model.code, fit.code),
        evidence=[
            Evidence(
                claim="weights of the model",
                observed="0",
                fact="model.parameters",
                location=place(model.code),
            )
        ],
        fixes=[fix("add a layer with weights, such as `Dense`")],
        confidence=Confidence.CERTAIN,
    )


def _frozen(model: ModelFacts, fit: FitFacts, project: Project | Unknown) -> Finding:
    found = _freezing(model, fit, project)
    layer = next((each for each in model.every_layer() if _made_frozen(each)), None)
    return CAUSE.finding(
        f"all {model.parameters} weights of the model are frozen: there is nothing to train",
        subject="model",
        location=place(
            _line(*found) if found is not None else None,
            layer.code if layer is not None else None,
            model.compile_code,
            fit.code,
        ),
        evidence=[
            Evidence(
                claim="trainable weights",
                observed=f"0 of {model.parameters}",
                fact="model.trainable_parameters",
                location=place(fit.code),
            )
        ],
        fixes=[
            unsafe("leave the last layer trainable", _all_but_the_last(*found) if found is not None else ()),
            fix("freeze only the layers that are not to be trained, before `compile`"),
        ],
        confidence=Confidence.CERTAIN,
    )


def _made_frozen(layer: LayerFacts) -> bool:
    code = layer.code
    argument = None if isinstance(code, Unknown) else code.argument("trainable")
    return argument is not None and argument.text == "False"


def _line(module: Module, statement: ast.stmt) -> Location:
    whole = module.location(statement)
    return (
        whole
        if whole.line == whole.end_line
        else Location(whole.path, whole.line, whole.column, cell=whole.cell)
    )


def _freezing(model: ModelFacts, fit: FitFacts, project: Project | Unknown) -> tuple[Module, ast.stmt] | None:
    """The statement that freezes: one that names the model that is trained before any other, the last before."""
    if isinstance(project, Unknown):
        return None
    names = {name for name in (_receiver(model.compile_code), fit.model) if name}
    found = [each for module in project.modules for each in _freezes(module)]
    own = [(module, statement) for module, statement, owner in found if owner in names]
    others = [(module, statement) for module, statement, _ in found]
    chosen = own or others
    return chosen[-1] if chosen else None


def _receiver(code: Code | Unknown) -> str:
    """What stands before `.compile(`."""
    return "" if isinstance(code, Unknown) else code.text.split("(")[0].rpartition(".")[0].strip()


def _freezes(module: Module) -> Iterator[tuple[Module, ast.stmt, str]]:
    """`x.trainable = False`, alone or in a loop over `x.layers`, with the text of `x`."""
    for statement in module.nodes(ast.Assign):
        target, value = statement.targets[0], statement.value
        if not (isinstance(target, ast.Attribute) and target.attr == "trainable"):
            continue
        if not (isinstance(value, ast.Constant) and value.value is False):
            continue
        owner = module.segment(target.value)
        loop = module.parent(statement)
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and loop.target.id == owner:
            yield (
                module,
                loop,
                module.segment(loop.iter).rpartition(".layers")[0] or module.segment(loop.iter),
            )
        else:
            yield module, statement, owner


def _all_but_the_last(module: Module, statement: ast.stmt) -> tuple[Edit, ...]:
    if isinstance(statement, ast.For):
        text = module.segment(statement.iter)
        return (Edit(module.location(statement.iter), f"{text}[:-1]"),) if text.endswith(".layers") else ()
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        owner = module.segment(statement.targets[0].value)
        loop = f"for layer in {owner}.layers[:-1]: layer.trainable = False"
        return (Edit(module.location(statement), loop),)
    return ()
