"""Model without trainable weights.

## What happens

`fit` runs to the end. The loss varies from batch to batch but does not fall, and no weight changes. Keras does not warn.

## Why

Every layer is frozen: by `model.trainable = False`, which also freezes layers added to a frozen backbone, or by a loop
over `model.layers` that includes the new head. Or no layer has weights at all.

## Fix

Freeze the backbone before adding the head, exclude the last layers from the loop, or add a layer with weights. Then
compile again. In a GAN, Keras 2 trained a discriminator that was frozen after its `compile`; Keras 3 does not, so unfreeze
it before its own steps and freeze it before those of the combined model.

## Known limits

A subclassed model that is not built yet has no weights to count. A model with a custom `train_step` may train other
variables and is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, LayerFacts, ModelFacts, Unknown
from fitdoctor.source.line_edits import indent_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT311", slug="nothing-to-train", severity=Severity.WARNING)

_TRAINS = frozenset({"fit", "train_on_batch", "fit_generator"})


@CAUSE.likely_in_source
@mentions("trainable")
def from_source(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report frozen weights from source alone; not for Keras 2, which trains what was trainable at `compile`."""
    if model.keras == 2 or not model.parameters:
        return
    yield from from_model(model, fit, data, project)


@CAUSE.before_fit
def from_model(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a model without trainable weights."""
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
    """Whether `fit` still updates moving averages of batch normalization."""
    return any(
        layer.class_name == "BatchNormalization" and layer.trainable and layer.parameters
        for layer in model.every_layer()
    )


def _weightless(model: ModelFacts, fit: FitFacts) -> Finding:
    last: LayerFacts | None = model.layers[-1] if model.layers else None
    return CAUSE.certain(
        "no layer of the model has weights, so there is nothing to train",
        place(last.code if last is not None else None, model.code, fit.code),
        Evidence("weights of the model", "0", fact="model.parameters", location=place(model.code)),
        fix("add a layer with weights, such as `Dense`"),
        subject="model",
    )


def _frozen(model: ModelFacts, fit: FitFacts, project: Project) -> Finding:
    found = _freezing(model, fit, project)
    in_turns = _in_turns(fit, project)
    layer = next((each for each in model.every_layer() if _made_frozen(each)), None)
    return CAUSE.certain(
        f"all {model.parameters:,} weights of the model are frozen, so there is nothing to train",
        place(
            _line(*found) if found is not None else None,
            layer.code if layer is not None else None,
            model.compile_code,
            fit.code,
        ),
        Evidence(
            "trainable weights",
            f"0 of {model.parameters:,}",
            fact="model.trainable_parameters",
            location=place(fit.code),
        ),
        *([in_turns] if in_turns is not None else _less_frozen(found)),
        subject="model",
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


def _freezing(model: ModelFacts, fit: FitFacts, project: Project) -> tuple[Module, ast.stmt] | None:
    """Return the statement that freezes the model: the last one before `fit`, preferably one that names this model."""
    if not project:
        return None
    names = {name for name in (_receiver(model.compile_code), fit.model) if name}
    found = [each for module in project.modules for each in _freezes(module)]
    own = [(module, statement) for module, statement, owner in found if owner in names]
    others = [(module, statement) for module, statement, _ in found]
    chosen = own or others
    return chosen[-1] if chosen else None


def _receiver(code: Code | Unknown) -> str:
    """Return the receiver of `.compile(`."""
    return "" if isinstance(code, Unknown) else code.text.split("(")[0].rpartition(".")[0].strip()


def _freezes(module: Module) -> Iterator[tuple[Module, ast.stmt, str]]:
    """Yield `x.trainable = False`, alone or in a loop over `x.layers`, with the text of `x`."""
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


def _less_frozen(found: tuple[Module, ast.stmt] | None) -> list[Fix]:
    return [
        unsafe("keep the last layer trainable", _all_but_the_last(*found) if found is not None else ()),
        fix("before `compile`, freeze only the layers that should not train"),
    ]


def _in_turns(fit_call: FitFacts, project: Project) -> Fix | None:
    """Unfreeze a model for its own steps if it takes turns with another one, as the discriminator of a GAN does."""
    call = node_of(project, fit_call.code) if fit_call.method == "train_on_batch" else None
    if call is None or not fit_call.model:
        return None
    module, node = call
    steps = [(module.statement(site.node), site) for site in module.method_calls("train_on_batch")]
    block = module.block(module.statement(node))
    own = [step for step, site in steps if step in block and module.segment(site.receiver) == fit_call.model]
    others = [step for step, _site in steps if step in block and step not in own]
    if not own or not others:
        return None
    name = f"{fit_call.model}.trainable"
    return unsafe(
        f"set `{name} = True` before its own steps, and `False` before those of the combined model",
        insert_before(module.code(own[0]), f"{name} = True"),
        insert_before(module.code(others[0]), f"{name} = False"),
    )


def _all_but_the_last(module: Module, statement: ast.stmt) -> tuple[Edit, ...]:
    if isinstance(statement, ast.For):
        text = module.segment(statement.iter)
        return (Edit(module.location(statement.iter), f"{text}[:-1]"),) if text.endswith(".layers") else ()
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        if not isinstance(statement.targets[0].value, (ast.Name, ast.Attribute)):
            return ()  # `model.layers[0]` and `model.get_layer("dense")` are layers, which have none of their own
        owner = module.segment(statement.targets[0].value)
        inner = f"{indent_of(module, statement)}    layer.trainable = False"
        loop = f"for layer in {owner}.layers[:-1]:\n{inner}"
        return (Edit(module.location(statement), loop),)
    return ()


CAUSE.message(
    r"^No variables (?:provided|to optimize)\W*$",
    "the optimizer gets no variables to train",
    "check that the model has been built, and that its layers are trainable",
    subject="variables",
    types=("ValueError",),
)
