"""Part of the model that receives no gradient.

## What happens

Training runs, and the loss may even decrease, but part of the model keeps its initial weights. Keras warns once,
`Gradients do not exist for variables [...]`. If only part of an output is cut off, the gradient is zero rather than
missing, and Keras does not warn at all.

## Why

The only path from those weights to the loss goes through an operation without a gradient (`round`, `argmax`, a
comparison, a cast to integers, `stop_gradient`), or the output of that part is never used. In a custom `train_step`,
that part may be called before the block of the `GradientTape`, which then does not record it.

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
from collections.abc import Iterator
from functools import lru_cache

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.model_classes import is_plain
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import is_layer_call, prediction_parameter, tapes
from fitdoctor.catalogue.variables.cut_layers import cutting_layers, has_other_ways
from fitdoctor.catalogue.variables.tape_moves import moved_in
from fitdoctor.catalogue.variables.traced_while_building import (
    compiled_finding,
    compiled_while_building,
    is_fitted_unbuilt,
)
from fitdoctor.catalogue.variables.uncalled_under_tape import called_before
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, insert_before, spell, unsafe
from fitdoctor.facts import Code, FitFacts, LayerFacts, ModelFacts, TrainingFacts, Unknown
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project
from fitdoctor.source.traced.gradients import Cut, IsRoot, body_of, cut_on_the_way, cuts_in
from fitdoctor.source.traced.symbolic import name_of, own_nodes, traced_functions

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
            [
                Evidence(
                    "layers whose only path to the loss goes through it",
                    names,
                    fact="model.layers",
                    location=place(found.before[0].code),
                )
            ],
        )


@CAUSE.in_source
@mentions("function")
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
    for site in module.calls:
        if module.definition(site.node.func) is not owner:
            continue
        around = module.parent(site.node)
        while isinstance(around, (ast.List, ast.Tuple)):
            around = module.parent(around)
        if isinstance(around, ast.Call) and around.func is site.node:
            return True
        if isinstance(around, ast.Call) and (
            module.resolve(around.func) == "keras.Sequential"
            or (isinstance(around.func, ast.Attribute) and around.func.attr == "add")
        ):
            return True
    return False


# --- the user's own call -------------------------------------------------------------------------------------------


@CAUSE.in_source
@mentions("def", "lambda")
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
        if isinstance(node, ast.Call) and is_layer_call(module, node):
            assert isinstance(node.func, ast.Attribute)
            found.setdefault(node.func.attr, []).append(node)
    return found


def _stays_as_it_is(module: Module, attribute: str) -> bool:
    """Return whether the program freezes the part, or its name says that it is not trained by gradients."""
    words = (
        "target",
        "teacher",
        "frozen",
        "freeze",
        "pretrained",
        "momentum",
        "ema",
        "backbone",
        "base",
        "fixed",
    )
    if any(word in attribute.lower().split("_") for word in words) or "norm" in attribute.lower():
        return True
    return _sets_trainable(module.project.modules if module.project is not None else (module,))


@lru_cache(maxsize=8)
def _sets_trainable(modules: tuple[Module, ...]) -> bool:
    return any(
        isinstance(node.ctx, ast.Store) for one in modules for node in one.attributes.get("trainable", ())
    ) or any(
        keyword.arg == "trainable"
        for one in modules
        for call in one.nodes(ast.Call)
        for keyword in call.keywords
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
    assert not isinstance(call.node, ast.Lambda)

    def is_root(expr: ast.expr) -> bool:
        return (
            isinstance(expr, ast.Call)
            and isinstance(expr.func, ast.Attribute)
            and expr.func.attr == attribute
            and is_layer_call(module, expr)
        )

    cut = cut_on_the_way(module, call.node.body, is_root)
    if cut is None:
        return None
    others = [name for name in _layers_called(module, call) if name != attribute]
    if not any(_is_open(module, call, name) for name in others):
        return None  # nothing learns at all: `no-gradient`
    return _cut_finding(
        cut,
        f"{cut.what} in {name_of(call)} blocks the gradient, so `self.{attribute}` cannot learn",
        f"self.{attribute}",
        [],
    )


def _is_open(module: Module, call: FunctionInfo, attribute: str) -> bool:
    """Return whether the output of some other layer reaches the result."""
    assert not isinstance(call.node, ast.Lambda)
    cut = cut_on_the_way(
        module,
        call.node.body,
        lambda expr: (
            isinstance(expr, ast.Call)
            and isinstance(expr.func, ast.Attribute)
            and expr.func.attr == attribute
            and is_layer_call(module, expr)
        ),
    )
    return cut is None


def _unused(module: Module, call: FunctionInfo, attribute: str, calls: list[ast.Call]) -> Finding | None:
    """Report a layer whose output is assigned to a name that nothing reads."""
    if len(calls) != 1:
        return None
    statement = module.parent(calls[0])
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id.startswith("_"):
        return None
    if any(
        isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load)
        for node in ast.walk(call.node)
    ):
        return None
    repeated = _repeated(call)
    return CAUSE.finding(
        f"`{target.id}`, the output of `self.{attribute}`, is never used, so `self.{attribute}` cannot learn",
        module.location(repeated if repeated is not None else statement),
        Evidence(
            "computed here, but never read",
            f"`{module.segment(statement)[:80]}`",
            location=module.location(statement),
        ),
        fix(f"use `{target.id}` in the output that `call` returns"),
        subject=f"self.{attribute}",
    )


def _repeated(call: FunctionInfo) -> ast.AST | None:
    """Return the only list (or sum) that contains the same name twice, where the forgotten one belongs."""
    found: list[ast.AST] = []
    for node in own_nodes(call):
        if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1:
            names = [part.id for part in node.elts if isinstance(part, ast.Name)]
            if len(names) == len(node.elts) and len(set(names)) < len(names):
                found.append(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if isinstance(node.left, ast.Name) and ast.unparse(node.left) == ast.unparse(node.right):
                found.append(node)
    return found[0] if len(found) == 1 else None


# --- what Keras warned about ---------------------------------------------------------------------------------------


@CAUSE.while_training
def from_warning(training: TrainingFacts, model: ModelFacts, project: Project) -> Iterator[Finding]:
    """Report the parts of the model for which Keras found no gradient, if the source does not show why."""
    parts = _without_gradient(training, model)
    if not parts or _leaves_out_outputs(model) or _shown_in_source(model, project):
        return
    cuts = _cuts(project)
    names = listing([part.name for part in parts], 4)
    if len(cuts) == 1:
        yield _cut_finding(
            cuts[0],
            f"{cuts[0].what} blocks the gradient, so {names} cannot learn",
            f"layer {parts[0].name}",
            [_warned(training)],
        )
        return
    unrecorded = _before_the_tape(parts, project)
    if unrecorded is not None:
        module, made, block = unrecorded
        yield CAUSE.finding(
            f"`{module.segment(made.func)}` is called before the block of the tape, so no gradient reaches {names}",
            module.location(made),
            _warned(training),
            unsafe("move the call into the block of the tape", moved_in(module, made, block)),
            subject=f"layer {parts[0].name}",
            confidence=Confidence.CERTAIN,
        )
        return
    called = _called_at(parts[0], project)
    yield CAUSE.finding(
        f"no gradient reaches {names}: the loss does not depend on it in a way that has a gradient",
        called or place(parts[0].code),
        _warned(training),
        fix(f"use the output of {parts[0].name} in what the model returns"),
        fix("set `trainable = False` on that part if it is meant to stay frozen"),
        subject=f"layer {parts[0].name}",
        confidence=Confidence.CERTAIN,
    )


def _cuts(project: Project) -> list[Cut]:
    """Return the operations that block a gradient in traced code, else in functions that are passed on by name."""
    traced = {one for module in project.modules for one in traced_functions(module)}
    every = {one for module in project.modules for one in module.functions if one.node not in project.callers}
    for functions in (traced, every - traced):
        cuts = [cut for one in functions if not _maps_data(one) for cut in cuts_in(one)]
        if cuts:
            return cuts
    return []


def _maps_data(function: FunctionInfo) -> bool:
    return function.traced is not None and "map" in function.traced.how


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
    if not isinstance(layer.code, Code) or not layer.code.target.startswith("self."):
        return None
    module = project.module_at(layer.code.location.path)
    attribute = layer.code.target.removeprefix("self.")
    calls = [
        node
        for node in (module.nodes(ast.Call) if module is not None else ())
        if isinstance(node.func, ast.Attribute) and node.func.attr == attribute
    ]
    return module.location(calls[0]) if module is not None and len(calls) == 1 else None


# --- losses --------------------------------------------------------------------------------------------------------


@CAUSE.in_source
@mentions("def", "lambda")
def from_loss(module: Module) -> Iterator[Finding]:
    """Report a part of the predictions that enters the loss only through `stop_gradient`."""
    for function in module.functions:
        tracing = function.traced
        if (
            tracing is None
            or tracing.how != "loss"
            or not tracing.direct
            or isinstance(function.node, ast.Lambda)
        ):
            continue
        for name in _parts_of_predictions(function):
            cut = cut_on_the_way(module, _after_naming(function, name), _named(name))
            if cut is not None and cut.what.endswith("stop_gradient`"):
                yield _cut_finding(
                    cut,
                    f"{cut.what} in {name_of(function)} blocks the gradient, so the layers that compute "
                    f"`{name}` cannot learn",
                    f"prediction {name}",
                    [],
                )


@CAUSE.in_source
@mentions("GradientTape")
def from_own_step(module: Module) -> Iterator[Finding]:
    """Report a part whose variables a custom step trains although its output enters the loss without a gradient."""
    for site in module.method_calls("gradient"):
        function = module.function_of(site.node)
        loss, sources = (site.argument("target", 0), site.argument("sources", 1))
        if function is None or not isinstance(loss, ast.Name) or sources is None:
            continue
        parts = _trained_parts(module, sources)
        cuts = {
            name: cut_on_the_way(module, body_of(function), _called_as(module, name), loss.id)
            for name in parts
        }
        if all(cuts.values()):
            continue  # nothing learns at all: `no-gradient`
        for name, cut in cuts.items():
            if cut is not None:
                yield _cut_finding(
                    cut,
                    f"{cut.what} in {name_of(function)} blocks the gradient, so `{name}` cannot learn",
                    name,
                    [],
                )


def _trained_parts(module: Module, sources: ast.expr) -> list[str]:
    """Return the models whose variables are in a list of variables, as they are written."""
    listed = origin(module, sources).node
    variables = [
        node
        for node in ast.walk(listed)
        if isinstance(node, ast.Attribute) and node.attr in ("trainable_variables", "trainable_weights")
    ]
    return list(dict.fromkeys(module.segment(node.value) for node in variables))


def _called_as(module: Module, name: str) -> IsRoot:
    return lambda expr: isinstance(expr, ast.Call) and module.segment(expr.func) == name


def _named(name: str) -> IsRoot:
    return lambda expr: isinstance(expr, ast.Name) and expr.id == name


def _parts_of_predictions(function: FunctionInfo) -> list[str]:
    """Return the names of slices of the predictions."""
    predictions = prediction_parameter(function)
    found: list[str] = []
    for node in own_nodes(function):
        if not predictions or not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            pairs = list(zip(target.elts, value.elts, strict=True))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
            pairs = [
                (element, value.args[0]) for element in target.elts if value.args and _splits(function, value)
            ]
        else:
            pairs = [(target, value)]
        for element, part in pairs:
            whole = (
                part.value
                if isinstance(part, ast.Subscript)
                else part
                if isinstance(value, ast.Call)
                else None
            )
            if isinstance(element, ast.Name) and isinstance(whole, ast.Name) and whole.id == predictions:
                found.append(element.id)
    return found


def _splits(function: FunctionInfo, call: ast.Call) -> bool:
    return function.module.resolve(call.func).rpartition(".")[2] in ("split", "unstack")


def _after_naming(function: FunctionInfo, name: str) -> list[ast.stmt]:
    """Return the body without the statement that names the part."""
    assert not isinstance(function.node, ast.Lambda)
    return [
        statement
        for statement in function.node.body
        if not (
            isinstance(statement, ast.Assign)
            and any(
                isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
                for node in ast.walk(statement)
            )
        )
        and not isinstance(statement, FUNCTIONS)
    ]


def _cut_finding(cut: Cut, message: str, subject: str, evidence: list[Evidence]) -> Finding:

    module = cut.module
    return CAUSE.finding(
        message,
        module.location(cut.node),
        Evidence(
            "the operation that blocks the gradient",
            f"`{module.segment(cut.node)[:80]}`",
            location=module.location(cut.node),
        ),
        *evidence,
        unsafe(
            "remove `tf.stop_gradient`"
            if cut.what.endswith("stop_gradient`")
            else "use an operation that has a gradient, or the straight-through form "
            "`x + tf.stop_gradient(f(x) - x)`",
            passed_straight_through(cut),
        ),
        fix("set `trainable = False` on that part if it is meant to stay frozen"),
        subject=subject,
    )


# the straight-through estimator: keep the value of an operation without a gradient, and pass gradients around it.


_SAME_SHAPE = frozenset({"round", "rint", "floor", "ceil", "sign"})
"""Operations that keep the shape of their input."""
_PRIMARY = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


def passed_straight_through(cut: Cut) -> tuple[Edit, ...]:
    """Rewrite `tf.round(soft)` as `soft + tf.stop_gradient(tf.round(soft) - soft)`, if the shape stays the same.

    A `tf.stop_gradient` of the user's own is removed.
    """
    module = cut.module
    if isinstance(cut.node, ast.Call) and module.resolve(cut.node.func) == "tensorflow.stop_gradient":
        return _without_stop(module, cut.node)
    found = _hard_and_soft(module, cut.node)
    if found is None:
        return ()
    hard, soft = found
    code = module.code(hard)
    tf, imports = spell(code, "tensorflow", "tf")
    text, inner = module.segment(hard), module.segment(soft)
    name, first = inner, tuple[Edit, ...]()
    if not isinstance(soft, ast.Name):
        taken = any(each.id == "soft" for each in module.nodes(ast.Name))
        if taken or module.function_of(hard) is None or isinstance(_around(module, hard), ast.Lambda):
            return ()
        name, first = "soft", insert_before(code, f"soft = {inner}")
        start = module.places.span(soft)[0] - module.places.span(hard)[0]
        text = f"{text[:start]}soft{text[start + len(inner) :]}"
    passed = f"{name} + {tf}.stop_gradient({text} - {name})"
    if not isinstance(module.parent(hard), (ast.Return, ast.Assign, ast.Lambda)):
        passed = f"({passed})"
    return (*first, Edit(code.location, passed), *imports)


def _without_stop(module: Module, call: ast.Call) -> tuple[Edit, ...]:
    """Return the edit that removes `tf.stop_gradient`."""
    if len(call.args) != 1 or call.keywords:
        return ()
    code, inner = module.code(call), module.segment(call.args[0])
    if code.target == inner and code.statement is not None and isinstance(module.parent(call), ast.Assign):
        return (Edit(code.statement.lines, ""),)  # this would leave `z = z`
    return (Edit(code.location, inner if isinstance(call.args[0], _PRIMARY) else f"({inner})"),)


def _hard_and_soft(module: Module, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Return the operation without a gradient and its input: a rounding, or a comparison cast to float."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        last = module.resolve(node.func).rpartition(".")[2]
        return (node, node.args[0]) if last in _SAME_SHAPE else None
    around = module.parent(node)
    if isinstance(node, ast.Compare) and isinstance(around, ast.Call) and len(around.args) == 2:
        cast = module.resolve(around.func).rpartition(".")[2] == "cast"
        if cast and "float" in module.segment(around.args[1]):
            return around, node.left
    return None


def _around(module: Module, node: ast.AST) -> ast.AST | None:
    """Return the function that contains a node."""
    function = module.function_of(node)
    return function.node if function is not None else None
