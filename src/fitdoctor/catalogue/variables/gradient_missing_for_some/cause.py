"""Part of the model that receives no gradient.

## What happens

Training runs, and the loss may even decrease, but part of the model keeps its initial weights. Keras warns once,
`Gradients do not exist for variables [...]`. If only part of an output is cut off, the gradient is zero rather than
missing, and Keras does not warn at all.

## Why

The only path from those weights to the loss goes through an operation without a gradient (`round`, `argmax`, a
comparison, a cast to integers, `stop_gradient`), or the output of that part is never used. In a custom `train_step`,
that part may be called before the block of the `GradientTape`, which then does not record it, or its variables may be
missing from those that `tape.gradient` gets.

## Fix

Use an operation that has a gradient, or the straight-through form `x + tf.stop_gradient(f(x) - x)`. If a part is
unused by mistake, use its output. To freeze a part on purpose, set `trainable = False`.

## Known limits

From source alone, models with a custom `train_step` and layers that add losses are not checked, because gradients can
reach their weights in other ways; when a program runs, Keras's warning is used. In a loss, only `stop_gradient` on
part of the predictions is checked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_classes import is_plain
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import (
    OF_TRAINING,
    is_layer_call,
    is_model_call,
    prediction_parameter,
    tapes,
    trained_parts,
)
from fitdoctor.catalogue.variables.cut_layers import cutting_layers, has_other_ways
from fitdoctor.catalogue.variables.straight_through import around_a_choice, passed_straight_through
from fitdoctor.catalogue.variables.tape_moves import moved_in
from fitdoctor.catalogue.variables.traced_while_building import (
    compiled_finding,
    compiled_while_building,
    is_fitted_unbuilt,
)
from fitdoctor.catalogue.variables.uncalled_under_tape import called_before
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, replace_code, unsafe
from fitdoctor.facts import Code, FitFacts, LayerFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.source.callees import is_self
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project
from fitdoctor.source.traced.gradients import Cut, IsRoot, body_of, cut_at, cut_on_the_way
from fitdoctor.source.traced.symbolic import name_of, own_nodes

CAUSE = Cause(id="FIT506", slug="gradient-missing-for-some", severity=Severity.WARNING)


# --- a layer in the middle -----------------------------------------------------------------------------------------


@CAUSE.in_source
@CAUSE.before_fit
@mentions("def", "lambda")
def from_layers(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report a custom layer that blocks the only gradient path of the layers before it."""
    for found in cutting_layers(model, project) if fit.method in ("fit", "train_on_batch") else ():
        if found.is_everything:
            continue  # then nothing learns, and fit raises: `no-gradient`
        cut, names = found.cut, listing([one.name for one in found.before], 4)
        yield _cut_finding(
            cut,
            f"{cut.what} in {name_of(found.function)} blocks the gradient, so {names} cannot learn",
            f"layer {found.layer.name}",
            Evidence(
                "layers whose only path to the loss goes through it",
                names,
                fact="model.layers",
                location=place(found.before[0].code),
            ),
        )


@CAUSE.rule("function")
def from_compiled_parts(module: Module) -> Iterator[Finding]:
    """Report a part of the model that is a `tf.function` and builds its layers in the first trace."""
    for compiled in compiled_while_building(module):
        if compiled.owner.kind == "Model" and (compiled.is_whole_call or not is_fitted_unbuilt(compiled)):
            continue  # then nothing learns, and fit raises: `no-gradient`
        if compiled.owner.kind == "Layer" and not _goes_into_a_model(compiled.owner):
            continue
        yield compiled_finding(CAUSE, compiled, " and never change")


def _goes_into_a_model(owner: ClassInfo) -> bool:
    """Return whether a layer of the class is called on a Keras tensor or added to a Sequential model."""
    module = owner.module
    for made in (site.node for site in module.calls if module.definition(site.node.func) is owner):
        around = module.around(made, ast.Call)
        if around is not None:
            added = getattr(around.func, "attr", "") == "add" or module.called(around) == "keras.Sequential"
            if added or around.func is made:
                return True
    return False


# --- the user's own call -------------------------------------------------------------------------------------------


@CAUSE.rule("def", "lambda")
def from_call(module: Module) -> Iterator[Finding]:
    """Report a layer whose output is blocked or never used in a model's `call`."""
    for owner in module.classes:
        call = owner.methods.get("call")
        if owner.kind != "Model" or call is None or not is_plain(owner) or has_other_ways(owner):
            continue
        if call.traced is None:
            continue
        for attribute, calls in _layers_called(module, call).items():
            if _stays_as_it_is(module, attribute) or _is_used_elsewhere(module, call, attribute):
                continue
            finding = _cut_off(module, call, attribute) or _unused(module, call, attribute, calls)
            if finding is not None:
                yield finding


def _layers_called(module: Module, call: FunctionInfo) -> dict[str, list[ast.Call]]:
    """Return the layers of `self` that `call` calls, by attribute."""
    found: dict[str, list[ast.Call]] = {}
    for node in own_nodes(call):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and is_layer_call(module, node)
        ):
            found.setdefault(node.func.attr, []).append(node)
    return found


_NOT_TRAINED = frozenset("target teacher frozen freeze pretrained momentum ema backbone base fixed".split())


def _stays_as_it_is(module: Module, attribute: str) -> bool:
    """Return whether the program freezes the part, or its name says that it is not trained by gradients."""
    if _NOT_TRAINED & set(attribute.lower().split("_")) or "norm" in attribute.lower():
        return True
    return _sets_trainable(module.project.modules if module.project is not None else (module,))


@lru_cache(maxsize=8)
def _sets_trainable(modules: tuple[Module, ...]) -> bool:
    return any(
        any(isinstance(node.ctx, ast.Store) for node in one.attributes.get("trainable", ()))
        or any(keyword.arg == "trainable" for keyword in one.nodes(ast.keyword))
        for one in modules
    )


def _is_used_elsewhere(module: Module, call: FunctionInfo, attribute: str) -> bool:
    """Return whether the layer is read anywhere other than where it is created and where `call` calls it."""
    modules = module.project.modules if module.project is not None else (module,)
    return any(
        isinstance(node.ctx, ast.Load) and one.function_of(node) is not call
        for one in modules
        for node in one.attributes.get(attribute, ())
    )


def _cut_off(module: Module, call: FunctionInfo, attribute: str) -> Finding | None:
    def cut_after(name: str) -> Cut | None:
        calls = _layers_called(module, call)[name]
        return cut_on_the_way(module, body_of(call), lambda expr: expr in calls)

    cut = cut_after(attribute)
    # If the output of no other layer reaches the result, nothing learns at all: `no-gradient`.
    if cut is None or all(cut_after(name) for name in _layers_called(module, call) if name != attribute):
        return None
    message = f"{cut.what} in {name_of(call)} blocks the gradient, so `self.{attribute}` cannot learn"
    return _cut_finding(cut, message, f"self.{attribute}")


def _unused(module: Module, call: FunctionInfo, attribute: str, calls: list[ast.Call]) -> Finding | None:
    """Report a layer whose output is assigned to a name that nothing reads."""
    match module.parent(calls[0]):
        case ast.Assign(targets=[ast.Name(id=name)]) as statement if len(calls) == 1 and name[0] != "_":
            pass
        case _:
            return None
    if any(module.function_of(read) is call for read in module.reads.get(name, ())):
        return None
    written = f"`{module.segment(statement)[:80]}`"
    return CAUSE.finding(
        f"`{name}`, the output of `self.{attribute}`, is never used, so `self.{attribute}` cannot learn",
        module.location(_repeated(call) or statement),
        Evidence("computed here, but never read", written, location=module.location(statement)),
        fix(f"use `{name}` in the output that `call` returns"),
        subject=f"self.{attribute}",
    )


def _repeated(call: FunctionInfo) -> ast.AST | None:
    """Return the only list (or sum) that contains the same name twice, where the forgotten one belongs."""
    found: list[ast.AST] = []
    for node in own_nodes(call):
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                pass
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = [left, right]
            case _:
                continue
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(names) == len(parts) and len(set(names)) < len(names):
            found.append(node)
    return found[0] if len(found) == 1 else None


# --- what Keras warned about ---------------------------------------------------------------------------------------


@CAUSE.while_training
def from_warning(training: TrainingFacts, model: ModelFacts, project: Project) -> Iterator[Finding]:
    """Report the parts of the model for which Keras found no gradient, if the source does not show why."""
    parts = _without_gradient(training, model)
    if not parts or _leaves_out_outputs(model) or _shown_in_source(model, project):
        return
    lines = training.gradient_cuts
    modules = [(project.module_at(line.path), line.location) for line in lines]
    cuts = [cut for module, line in modules if module is not None and (cut := cut_at(module, line))]
    names = listing([part.name for part in parts], 4)
    if cuts:
        yield _cut_finding(
            cuts[0],
            f"{cuts[0].what} blocks the gradient, so {names} cannot learn",
            f"layer {parts[0].name}",
            _warned(training),
        )
        return
    unrecorded = _before_the_tape(parts, project)
    if unrecorded is not None:
        module, made, block = unrecorded
        yield CAUSE.certain(
            f"`{module.segment(made.func)}` is called before the block of the tape, so no gradient reaches {names}",
            module.location(made),
            _warned(training),
            unsafe("move the call into the block of the tape", moved_in(module, made, block)),
            subject=f"layer {parts[0].name}",
        )
        return
    called = lines[0].location if lines else _called_at(parts[0], project)
    yield CAUSE.certain(
        f"no gradient reaches {names}: the loss does not depend on it in a way that has a gradient",
        called or place(parts[0].code),
        _warned(training),
        fix(f"use the output of {parts[0].name} in what the model returns"),
        fix("set `trainable = False` on that part if it is meant to stay frozen"),
        subject=f"layer {parts[0].name}",
    )


def _warned(training: TrainingFacts) -> Evidence:
    return Evidence(
        "Keras reported that gradients do not exist for",
        listing(list(training.without_gradient), 3),
        fact="training.without_gradient",
    )


def _without_gradient(training: TrainingFacts, model: ModelFacts) -> list[LayerFacts]:
    """Return the layers that the user's own code makes; the parts of a library's model are not the user's to use."""
    layers = (layer for layer in model.every_layer() if layer.name in training.without_gradient)
    return [
        layer
        for layer in layers
        if isinstance(layer.code, Code) and layer.class_name in layer.code.text.partition("(")[0]
    ]


def _leaves_out_outputs(model: ModelFacts) -> bool:
    """Return whether `compile` gives a loss for some outputs only: the others are not meant to be trained."""
    trained = sum(loss.kind != "none" for loss in model.losses)
    return not isinstance(model.outputs, Unknown) and 0 < trained < len(model.outputs)


def _shown_in_source(model: ModelFacts, project: Project) -> bool:
    """Return whether another judge reports the same gap with its line."""
    found = (finding for module in project.modules for finding in (*from_call(module), *from_loss(module)))
    layers = (True for one in cutting_layers(model, project) if not one.is_everything)
    return any(True for _ in found) or any(layers)


def _before_the_tape(parts: list[LayerFacts], project: Project) -> tuple[Module, ast.Call, ast.With] | None:
    """Return the call of a part before the block of a tape that reads its result, and the block."""
    for code in (part.code for part in parts if isinstance(part.code, Code) and part.code.target):
        module = project.module_at(code.location.path)
        for tape in tapes(module) if module is not None else ():
            made = called_before(tape, code.target)
            if isinstance(made, ast.Call):
                return tape.module, made, tape.block
    return None


def _called_at(layer: LayerFacts, project: Project) -> Location | None:
    """Return the only call of a layer that is an attribute of its model."""
    code = layer.code
    if not isinstance(code, Code) or not code.target.startswith("self."):
        return None
    module = project.module_at(code.location.path)
    calls = module.method_calls(code.target.removeprefix("self.")) if module is not None else ()
    return calls[0].module.location(calls[0].node) if len(calls) == 1 else None


# --- losses --------------------------------------------------------------------------------------------------------


@CAUSE.rule("def", "lambda")
def from_loss(module: Module) -> Iterator[Finding]:
    """Find a part of the predictions that enters the loss only through `stop_gradient`."""
    for function in module.functions:
        if function.how != "loss" or function.traced is None or not function.traced.direct:
            continue
        for name, naming in _parts_of_predictions(function):
            body = [
                each for each in body_of(function) if each is not naming and not isinstance(each, FUNCTIONS)
            ]
            cut = cut_on_the_way(module, body, lambda expr: getattr(expr, "id", "") == name)  # noqa: B023
            if cut is not None and cut.what.endswith("stop_gradient`"):
                where = f"{cut.what} in {name_of(function)}"
                message = f"{where} blocks the gradient, so the layers that compute `{name}` cannot learn"
                yield _cut_finding(cut, message, f"prediction {name}")


@CAUSE.rule("GradientTape")
def from_own_step(module: Module) -> Iterator[Finding]:
    """Report a part whose variables a custom step trains although its output enters the loss without a gradient."""
    for site in module.method_calls("gradient"):
        function = module.function_of(site.node)
        loss, sources = (site.argument("target", 0), site.argument("sources", 1))
        if function is None or not isinstance(loss, ast.Name) or sources is None:
            continue
        parts = trained_parts(module, sources)
        cuts = {
            name: cut_on_the_way(module, body_of(function), _called_as(module, name), loss.id)
            for name in parts
        }
        if all(cuts.values()):
            continue  # nothing learns at all: `no-gradient`
        for name, cut in cuts.items():
            if cut is not None:
                message = f"{cut.what} in {name_of(function)} blocks the gradient, so `{name}` cannot learn"
                yield _cut_finding(cut, message, name)


@CAUSE.rule("GradientTape")
def from_before_the_tape(module: Module) -> Iterator[Finding]:
    """Report a part that is to be trained, but is only called before the block of the tape."""
    for tape in tapes(module):
        if len(tape.gradients) != 1 or len(tape.gradients[0].args) < 2:
            continue
        trained = trained_parts(module, tape.gradients[0].args[1])
        inside = {module.segment(node.func) for node in tape.nodes if isinstance(node, ast.Call)}
        if not any(each in trained or _is_own(each) and "self" in trained for each in inside):
            continue  # nothing learns, and the optimizer raises: `tape-misused`
        for statement in tape.before():
            call = statement.value if isinstance(statement, ast.Assign) else None
            part = module.segment(call.func) if isinstance(call, ast.Call) else ""
            if part in inside or part not in trained and not (_is_own(part) and "self" in trained):
                continue
            if not isinstance(call, ast.Call) or not is_model_call(module, call):
                continue
            if called_before(tape, part) is not call or _stays_as_it_is(module, part.rpartition(".")[2]):
                continue
            yield CAUSE.finding(
                f"`{part}` is called before the block of the tape, so no gradient reaches it",
                module.location(call),
                Evidence("its variables are to be trained", location=module.location(tape.gradients[0])),
                unsafe("move the call into the block of the tape", moved_in(module, call, tape.block)),
                subject=part,
            )


def _is_own(part: str) -> bool:
    return part.startswith("self.") and part.count(".") == 1


@CAUSE.rule("GradientTape")
def left_out(module: Module) -> Iterator[Finding]:
    """Report a part that a custom step calls to train it, but whose variables no gradient is computed for."""
    for tape in tapes(module):
        owner = module.class_of(tape.block)
        if (
            owner is None
            or owner.kind != "Model"
            or len(tape.gradients) != 1
            or len(tape.gradients[0].args) < 2
        ):
            continue
        made = origin(module, tape.gradients[0].args[1])
        trained = trained_parts(made.module, made.node) if isinstance(made.node, ast.expr) else []
        called = dict.fromkeys(
            node.func.attr
            for node in tape.nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and is_self(module, node.func.value)
            and getattr(argument_of(node, "training"), "value", None) is True
        )
        if (
            made.module is not module
            or not trained
            or not {f"self.{each}" for each in called}.issuperset(trained)
        ):
            continue
        forgotten = [
            each
            for each in called
            if not _variables_read(module, each)
            and not _stays_as_it_is(module, each)
            and not _WEIGHTLESS.search(each)
        ]
        if forgotten:
            parts = [f"self.{each}" for each in called if each in forgotten or f"self.{each}" in trained]
            kind = next(each for each in OF_TRAINING if each in module.segment(made.node))
            names = listing([f"self.{each}" for each in forgotten], 3)
            yield CAUSE.finding(
                f"{names} is called with `training=True`, but gets no gradient: only the variables of "
                f"{listing(trained, 3)} are trained",
                module.location(made.node),
                Evidence("called here", location=module.location(tape.block)),
                unsafe(
                    f"train {listing(parts, 4)}",
                    replace_code(module.code(made.node), " + ".join(f"{each}.{kind}" for each in parts)),
                ),
                fix("set `trainable = False` on that part if it is meant to stay frozen"),
                subject=f"self.{forgotten[0]}",
            )


_WEIGHTLESS = re.compile(r"(?i)augment|preprocess|normali|noise|sampl|random")
"""What the names of parts without trained weights say."""


def _variables_read(module: Module, part: str) -> bool:
    """Whether the program reads the variables of a part of `self`, or of the whole model, in any file."""
    modules = module.project.modules if module.project is not None else (module,)
    return any(
        isinstance(node.value, ast.Attribute) and node.value.attr == part
        for one in modules
        for name in (*OF_TRAINING, "variables", "weights")
        for node in one.attributes.get(name, ())
    )


def _called_as(module: Module, name: str) -> IsRoot:
    return lambda expr: isinstance(expr, ast.Call) and module.segment(expr.func) == name


def _parts_of_predictions(function: FunctionInfo) -> list[tuple[str, ast.stmt]]:
    """Return the names of slices of the predictions, and the statements that name them."""
    predictions, module = prediction_parameter(function), function.module
    found: list[tuple[str, ast.stmt]] = []
    for node in own_nodes(function) if predictions else ():
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = list(zip(names, values, strict=False)) if len(names) == len(values) else []
            case ast.Assign(
                targets=[ast.Tuple(elts=names)], value=ast.Call(args=[ast.Name(id=given), *_]) as call
            ):
                splits = (
                    module.called(call).rpartition(".")[2] in ("split", "unstack") and given == predictions
                )
                found += [(each.id, node) for each in names if splits and isinstance(each, ast.Name)]
                continue
            case ast.Assign(targets=[target], value=value):
                pairs = [(target, value)]
            case _:
                continue
        for name, part in pairs:
            sliced = isinstance(part, ast.Subscript) and getattr(part.value, "id", "") == predictions
            if isinstance(name, ast.Name) and sliced:
                found.append((name.id, node))
    return found


def _cut_finding(cut: Cut, message: str, subject: str, *evidence: Evidence) -> Finding:
    module, place = cut.module, cut.module.location(cut.node)
    through = around_a_choice(cut)
    title = (
        "use an operation that has a gradient, or the straight-through form `x + tf.stop_gradient(f(x) - x)`"
    )
    if cut.what.endswith("stop_gradient`"):
        title = "remove `tf.stop_gradient`"
    return CAUSE.finding(
        message,
        through[0].location if through else place,
        Evidence(
            "the operation that blocks the gradient", f"`{module.segment(cut.node)[:80]}`", location=place
        ),
        *evidence,
        unsafe(title, through or passed_straight_through(cut)),
        fix("set `trainable = False` on that part if it is meant to stay frozen"),
        subject=subject,
    )
