"""Attributes and methods that Keras 3 models, layers, metrics and optimizers do not have: by the table of changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from fitdoctor.catalogue.environment.removed_in_keras_3.entry import CAUSE
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix, merged_removal, rename_argument, spell
from fitdoctor.facts import Code, Frame
from fitdoctor.failure.failed_line import at_frame
from fitdoctor.source.conditions import knows_another_way
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.keras_changes import changes
from fitdoctor.source.keras_objects import (
    defines,
    is_keras_metric,
    is_keras_model,
    is_keras_optimizer,
    reads_keras_layer,
)
from fitdoctor.source.line_edits import attribute_name, indent_of
from fitdoctor.source.module import FunctionInfo, Module

OWNERS = ("Model", "Layer", "Metric", "Optimizer")
_REPLACEMENT = "find another way in the documentation of Keras 3, or install `tf_keras`, which is Keras 2"


def lost_attributes(module: Module) -> Iterator[Finding]:
    """Find removed methods of a model and removed attributes of its parts."""
    names = {name for owner in OWNERS for name in changes("attribute", owner)}
    for node in module.nodes(ast.Attribute):
        owner = _owner(module, node) if node.attr in names else ""
        if owner and not knows_another_way(module, node):
            yield _finding(module, node, owner)


def refused_optimizers(module: Module) -> Iterator[Finding]:
    """Find `if not hasattr(optimizer, "lr"): raise …`: an optimizer of Keras 3 never has it."""
    for site in module.calls:
        call, refused = site.node, module.parent(site.node)
        around = module.parent(refused) if isinstance(refused, ast.UnaryOp) else None
        if not (isinstance(call.func, ast.Name) and call.func.id == "hasattr" and len(call.args) == 2):
            continue
        owner, name = call.args
        if not isinstance(name, ast.Constant) or name.value != "lr" or not is_keras_optimizer(module, owner):
            continue
        if isinstance(around, ast.If) and around.test is refused and isinstance(around.body[-1], ast.Raise):
            reads = module.attributes.get("lr", [])
            others = _learning_rate(module, reads[0]).edits if reads else ()
            yield CAUSE.finding(
                "a Keras 3 optimizer has no `lr`, so this check always raises",
                module.location(call),
                Evidence("Keras 2 optimizer attribute", "lr", "learning_rate"),
                fix("use `learning_rate`", [Edit(module.location(name), '"learning_rate"'), *others]),
                subject="attribute lr of the optimizer",
            )


def tensor_shapes(module: Module, at: Frame | None) -> Iterator[Finding]:
    """Find `shape.as_list()` and `x.get_shape()` on the line that raised: in Keras 3, shapes are tuples."""
    calls = (*module.method_calls("get_shape"), *module.method_calls("as_list")) if at is not None else ()
    for site in calls:
        function, whole, node = site.node.func, module.parent(site.node), site.node
        assert isinstance(function, ast.Attribute)
        listed = function.attr == "as_list"
        shape = module.segment(function.value) + ("" if listed else ".shape")
        outer = module.parent(whole) if isinstance(whole, ast.Attribute) and whole.attr == "as_list" else None
        if isinstance(outer, ast.Call):
            listed, node = True, outer
        new = f"list({shape})" if listed else shape
        yield CAUSE.finding(
            "the shape of a Keras 3 tensor is a plain tuple, without the methods of `tf.TensorShape`",
            module.location(node),
            Evidence("Keras 2 shape", f"{function.attr}()", new),
            fix(f"use `{new}`", (Edit(module.location(node), new),)),
            subject="shape of the tensor",
        )


def failed_attributes(module: Module, at: Frame, name: str, owner: str) -> Iterator[Finding]:
    """Find the attribute that an exception names on a line.

    Args:
        module: the file.
        at: the line.
        name: the attribute.
        owner: `Model`, `Layer`, `Metric` or `Optimizer`, if the message names it; otherwise read from the source.
    """
    for node in module.attributes.get(name, ()):
        if at_frame(module, node, at):
            called = isinstance(module.parent(node), ast.Call)
            likely = ("Optimizer", "Model", "Layer") if called else ("Optimizer", "Layer")
            guesses = (each for each in likely if name in changes("attribute", each))
            found = owner or _owner(module, node) or next(guesses, "")
            if found:
                yield _finding(module, node, found)


def _owner(module: Module, node: ast.Attribute) -> str:
    """Return which kind of object lost an attribute, or "" if that is uncertain."""
    name, value = node.attr, node.value
    if name in changes("attribute", "Model") and isinstance(module.parent(node), ast.Call):
        if is_keras_model(module, value) and not defines(module, value, name):
            return "Model"
    if name in changes("attribute", "Optimizer") and is_keras_optimizer(module, value):
        # Setting a new attribute is allowed, but setting `lr` no longer has an effect.
        return "Optimizer" if isinstance(node.ctx, ast.Load) or name == "lr" else ""
    lost = changes("attribute", "Metric").get(name)
    # Metrics were layers in Keras 2; programs do not use the other attributes they lost, such as `trainable`.
    if lost is not None and lost.new and is_keras_metric(module, value) and not defines(module, value, name):
        return "Metric"
    return "Layer" if name in changes("attribute", "Layer") and reads_keras_layer(module, node) else ""


def _finding(module: Module, node: ast.Attribute, owner: str) -> Finding:
    call, kind = module.parent(node), owner.lower()
    sort = "method" if isinstance(call, ast.Call) and call.func is node else "attribute"
    change = changes("attribute", owner).get(node.attr)
    new = change.new if change is not None else ""
    special = _SPECIAL.get((owner, node.attr))
    return CAUSE.finding(
        f"a Keras 3 {kind} has no `{node.attr}`",
        module.location(node),
        Evidence(f"Keras 2 {kind} attribute", node.attr, new),
        special(module, node) if special is not None else _renamed(module, node, owner, new),
        subject=f"{sort} {node.attr} of the {kind}",
    )


def _renamed(module: Module, node: ast.Attribute, owner: str, new: str) -> Fix:
    if not new:
        return fix(_ADVICE.get(owner, _REPLACEMENT))
    if owner == "Model":
        return fix(f"call `{new}`", _renamed_method(module, node, new))
    everywhere = (
        [each for each in module.attributes[node.attr] if each is node or is_keras_metric(module, each.value)]
        if owner == "Metric"
        else [node]
    )
    verb = "call" if owner == "Metric" else "use"
    return fix(f"{verb} `{new}`", [Edit(attribute_name(module, each), new) for each in everywhere])


_ADVICE = {
    "Model": "call the model directly, or find another way in the documentation of Keras 3",
    "Optimizer": "use `apply_gradients` or `apply`",
}


# --- models -----------------------------------------------------------------------------------------------------------

_OF_GENERATORS = {
    "fit_generator": "generator steps_per_epoch epochs verbose callbacks validation_data validation_steps".split(),
    "evaluate_generator": ["generator", "steps", "callbacks"],
    "predict_generator": ["generator", "steps", "callbacks"],
}
"""The argument order of methods that accepted only generators."""


def _renamed_method(module: Module, node: ast.Attribute, new: str) -> tuple[Edit, ...]:
    """Rename the method and adapt its arguments; drop those that no longer exist."""
    edits: tuple[Edit, ...] = (Edit(attribute_name(module, node), new),)
    call = module.parent(node)
    if not isinstance(call, ast.Call):
        return edits
    code, changed = module.code(call), changes("argument", f"Model.{new}")
    for change in changed.values():
        if change.new and code.argument(change.new) is None:
            edits += rename_argument(code, change.name, change.new)
    if node.attr in _OF_GENERATORS:
        edits += _by_name(code, _OF_GENERATORS[node.attr])
    return (*edits, *merged_removal(code, [change.name for change in changed.values() if not change.new]))


def _by_name(code: Code, names: list[str]) -> tuple[Edit, ...]:
    """Pass the generator as `x` and later positional arguments by name, because the order differs."""
    positional = [argument for argument in code.arguments if not argument.name]
    named = list(zip(names, positional, strict=False))[1:]
    return (
        *rename_argument(code, "generator", "x"),
        *(Edit(argument.location.start, f"{name}=") for name, argument in named),
    )


def _class_of_prediction(module: Module, node: ast.Attribute) -> Fix:
    """Replace `predict_classes(x)` with the argmax of `predict(x)`, or a threshold for one sigmoid unit."""
    call = module.parent(node)
    if not isinstance(call, ast.Call):
        return fix("compute the class from `predict`")
    inner, place = module.segment(call).replace(".predict_classes(", ".predict(", 1), module.location(call)
    # The layers in the file end in one sigmoid unit, as far as they can be read.
    last = list(module.calls_to("keras.layers.Dense"))[-1:]
    units = last[0].argument("units", 0) if last else None
    if isinstance(units, ast.Constant) and units.value == 1:
        return fix(
            "compare the output of `predict` with 0.5", (Edit(place, f'({inner} > 0.5).astype("int32")'),)
        )
    numpy = module.code(call).spelling("numpy")
    text = f"{numpy}.argmax({inner}, axis=-1)" if numpy else f"{inner}.argmax(axis=-1)"
    return fix("take the argmax of `predict`", (Edit(place, text),))


def _each_layer_reset(module: Module, node: ast.Attribute) -> Fix:
    """Replace `reset_states` of a model with an explicit loop over its layers."""
    title, statement = "reset the stateful layers", module.statement(node)
    whole = module.location(statement)
    shares_line = module.line_text(whole.line, whole.cell)[: whole.column - 1].strip()
    if not isinstance(statement, ast.Expr) or statement.value is not module.parent(node) or shares_line:
        return fix(title)
    indent = indent_of(module, statement)
    lines = (
        f"for layer in {module.segment(node.value)}.layers:",
        f'{indent}    if getattr(layer, "stateful", False):',
        f"{indent}        layer.reset_state()",
    )
    return fix(title, (Edit(whole, "\n".join(lines)),))


# --- optimizers -------------------------------------------------------------------------------------------------------


def _learning_rate(module: Module, node: ast.Attribute) -> Fix:
    """Replace `lr` with `learning_rate`, and the removed `K.get_value` and `K.set_value` around it."""
    edits = []
    for each in module.attributes["lr"]:
        if each is not node and not is_keras_optimizer(module, each.value):
            continue
        rate, call = f"{module.segment(each.value)}.learning_rate", module.parent(each)
        name = module.resolve(call.func) if isinstance(call, ast.Call) and each in call.args[:1] else ""
        edit = Edit(attribute_name(module, each), "learning_rate")
        if isinstance(call, ast.Call) and name == "keras.backend.get_value":
            edit = Edit(module.location(call), f"float({rate})")
        elif isinstance(call, ast.Call) and name == "keras.backend.set_value" and len(call.args) == 2:
            edit = Edit(module.location(call), f"{rate}.assign({module.segment(call.args[1])})")
        edits.append(edit)
    return fix("use `learning_rate`", edits)


def _values_of_variables(module: Module, node: ast.Attribute) -> Fix:
    call = module.parent(node)
    values = f"[variable.numpy() for variable in {module.segment(node.value)}.variables]"
    edits = (Edit(module.location(call), values),) if isinstance(call, ast.Call) and not call.args else ()
    return fix("read the values of `variables`", edits)


def _written_out_minimize(module: Module, node: ast.Attribute) -> Fix:
    """Wrap the loss call in a tape; if the program already has one, apply its gradients."""
    title = "compute the gradients with a `tf.GradientTape` and call `apply_gradients`"
    call = module.parent(node)
    if not isinstance(call, ast.Call) or not isinstance(module.parent(call), ast.Expr):
        return fix(title)
    loss, variables, tape = (
        argument_of(call, name, position) for name, position in (("loss", 0), ("var_list", 1), ("tape", 3))
    )
    if loss is None or variables is None or isinstance(module.definition(variables), FunctionInfo):
        return fix(title)
    if isinstance(variables, (ast.Lambda, ast.Starred)):
        return fix(title)
    optimizer, trained = module.segment(node.value), module.segment(variables)
    if tape is not None:
        gradients = f"{module.segment(tape)}.gradient({module.segment(loss)}, {trained})"
        return fix(
            title, (Edit(module.location(call), f"{optimizer}.apply_gradients(zip({gradients}, {trained}))"),)
        )
    value = _loss_value(module, loss)
    if not value:
        return fix(title)
    tf, imports = spell(module.code(call), "tensorflow", "tf")
    lines = [
        f"with {tf}.GradientTape() as tape:",
        f"    loss_value = {value}",
        f"gradients = tape.gradient(loss_value, {trained})",
        f"{optimizer}.apply_gradients(zip(gradients, {trained}))",
    ]
    text = f"\n{module.code(call).indent}".join(lines)
    return fix(title, (Edit(module.location(call), text), *imports))


def _loss_value(module: Module, loss: ast.expr) -> str:
    """Return the loss expression: `loss_fn()`, or the body of a lambda; "" if it may not be a function."""
    if isinstance(loss, ast.Lambda):
        return module.segment(loss.body)
    known = isinstance(module.made_by(loss), ast.Lambda) or isinstance(module.definition(loss), FunctionInfo)
    return f"{module.segment(loss)}()" if known else ""


_SPECIAL: dict[tuple[str, str], Callable[[Module, ast.Attribute], Fix]] = {
    ("Model", "predict_classes"): _class_of_prediction,
    ("Model", "reset_states"): _each_layer_reset,
    ("Optimizer", "lr"): _learning_rate,
    ("Optimizer", "get_weights"): _values_of_variables,
    ("Optimizer", "minimize"): _written_out_minimize,
}
"""Fixes that need more than another name."""

WITHOUT_SOURCE = {
    "predict_classes": "take the argmax, `model.predict(x).argmax(axis=-1)`, or `model.predict(x) > 0.5` for a sigmoid unit",
    "reset_states": "call `reset_state()` on each stateful layer of the model",
    "lr": "use `learning_rate`",
    "get_weights": "read the values of `variables`",
    "minimize": "compute the gradients with a `tf.GradientTape` and call `apply_gradients`",
}
"""What to do about attributes of models and optimizers, if the source is not there to change."""
