"""Validation data that is augmented like the training data.

## What happens

`val_loss` and `val_accuracy` are worse than the model is, and differ from run to run, since the images are flipped,
rotated or cropped at random. Early stopping and the best checkpoint follow these figures.

## Why

The function that prepares the training data, or the `ImageDataGenerator` with `rotation_range` and the like, was used
for the validation data as well.

## Fix

Augment the training data only: map a function without random operations over the other data, or make a second
`ImageDataGenerator` that only rescales. Layers such as `RandomFlip` inside the model are off during validation by
themselves.

## Known limits

Functions that augment under a condition are not reported, and neither are the two subsets of one `ImageDataGenerator`
with `validation_split`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.pipeline_steps import without_step
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import unsafe
from fitdoctor.source.callees import function_given
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.origins import Origin

CAUSE = Cause(id="FIT718", slug="validation-augmented", severity=Severity.WARNING)

_RANDOM = ("tensorflow.image.random_", "tensorflow.image.stateless_random_")
_RANGES = frozenset(
    "rotation_range width_shift_range height_shift_range brightness_range shear_range zoom_range "
    "channel_shift_range horizontal_flip vertical_flip".split()
)
_GENERATOR = "keras.preprocessing.image.ImageDataGenerator"


@CAUSE.rule("validation_data", "evaluate")
def augmented(module: Module) -> Iterator[Finding]:
    """Find data of `validation_data` and `evaluate` that was made with random operations."""
    if "andom" not in module.text and "ImageDataGenerator" not in module.text:
        return
    for site in module.method_calls("fit", "evaluate"):
        given = site.argument("validation_data") if site.method == "fit" else site.argument("x", 0)
        for where, step in _steps(module, given) if given is not None else ():
            yield from _from_map(where, step)
            yield from _from_generator(where, step)


def _steps(module: Module, given: ast.expr) -> Iterator[tuple[Module, ast.Call]]:
    """Yield the method calls that made some data, last first, as far as each is certain."""
    for _step in range(20):
        made = module.origin(given)
        if not made.certain or not isinstance(made.node, ast.Call):
            return
        module, call = made.module, made.node
        if not isinstance(call.func, ast.Attribute):
            return
        yield module, call
        given = call.func.value


def _from_map(module: Module, step: ast.Call) -> Iterator[Finding]:
    """Report a function that changes its images at random."""
    mapped = argument_of(step, "map_func", 0) if _method(step) == "map" else None
    function = function_given(module, mapped) if mapped is not None else None
    change = next(_random_calls(function.module, function.node), None) if function is not None else None
    if mapped is None or function is None or change is None:
        return
    where, call = change
    yield CAUSE.finding(
        f"the validation data is augmented: {_shown(module, mapped)} changes it at random",
        module.location(step),
        Evidence("random operation", where.segment(call.func), location=where.location(call)),
        unsafe("do not augment the validation data", without_step(module.code(step)))
        if _only_augments(function.node, call)
        else unsafe("map a function without random operations over the validation data"),
        subject="validation data",
    )


def _only_augments(function: ast.AST, call: ast.Call) -> bool:
    """Whether a function returns its parameters as they are, except for one that this call changes."""
    match function:
        case ast.Lambda(args=arguments, body=returned):
            pass
        case ast.FunctionDef(args=arguments, body=[*_docstring, ast.Return(value=returned)]) if len(
            _docstring
        ) <= 1 and all(isinstance(each, ast.Expr) for each in _docstring):
            pass
        case _:
            return False
    parts = returned.elts if isinstance(returned, ast.Tuple) else [returned]
    plain = [call.args[0] if each is call and call.args else each for each in parts]
    return [getattr(each, "id", "") for each in plain] == [each.arg for each in arguments.args]


def _shown(module: Module, mapped: ast.expr) -> str:
    named = isinstance(mapped, (ast.Name, ast.Attribute))
    return f"`{module.segment(mapped)}`" if named else "this function"


def _method(step: ast.Call) -> str:
    return step.func.attr if isinstance(step.func, ast.Attribute) else ""


def _random_calls(module: Module, function: ast.AST) -> Iterator[tuple[Module, ast.Call]]:
    """Yield the random changes that a function certainly makes."""
    for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
        if any(isinstance(each, (ast.If, ast.IfExp)) for each in _within(module, call, function)):
            continue
        trains = argument_of(call, "training")
        is_layer = isinstance(trains, ast.Constant) and trains.value is True and _augments(module, call.func)
        if module.called(call).startswith(_RANDOM) or is_layer:
            yield module, call


def _within(module: Module, node: ast.AST, end: ast.AST) -> Iterator[ast.AST]:
    for around in module.parents(node):
        if around is end:
            return
        yield around


def _augments(module: Module, callee: ast.expr) -> bool:
    """Whether a layer, or a `Sequential` of layers, changes images at random while training."""
    made = module.origin(callee)
    calls = (each for each in ast.walk(made.node) if isinstance(each, ast.Call))
    return any(made.module.called(each).startswith("keras.layers.Random") for each in calls)


def _from_generator(module: Module, step: ast.Call) -> Iterator[Finding]:
    """Report batches of a generator that changes images at random."""
    if _method(step) not in ("flow", "flow_from_directory", "flow_from_dataframe") or argument_of(
        step, "subset"
    ):
        return
    assert isinstance(step.func, ast.Attribute)
    made = module.origin(step.func.value)
    if not made.certain or made.module.called(made.node) != _GENERATOR or not isinstance(made.node, ast.Call):
        return
    given = {keyword.arg: keyword.value for keyword in made.node.keywords}
    ranges = [
        name
        for name, value in given.items()
        if name in _RANGES and getattr(value, "value", None) not in (0, False, 0.0)
    ]
    if ranges:
        yield CAUSE.finding(
            f"the validation data is augmented: its `ImageDataGenerator` has `{ranges[0]}`",
            module.location(step),
            Evidence(
                "random changes",
                ", ".join(map(str, ranges)),
                "none",
                location=made.module.location(made.node),
            ),
            unsafe(
                "use an `ImageDataGenerator` without them for the validation data",
                _with_plain_generator(module, step.func.value, made),
            ),
            subject="validation data",
        )


def _with_plain_generator(module: Module, generator: ast.expr, origin: Origin) -> tuple[Edit, ...]:
    """Use the generator without random changes that the program has, or a copy of this one without them."""
    made = origin.node
    if origin.module is not module or not isinstance(made, ast.Call) or "featurewise" in module.segment(made):
        return ()
    others = [
        module.segment(statement.targets[0])
        for site in module.calls_to(_GENERATOR)
        if isinstance(statement := module.statement(site.node), ast.Assign)
        and module.scope(statement) is module.scope(generator)
        and not any(each.arg in _RANGES for each in site.node.keywords)
    ]
    kept = [module.segment(each) for each in made.args]
    kept += [
        f"{each.arg}={module.segment(each.value)}"
        for each in made.keywords
        if each.arg not in (*_RANGES, "fill_mode", None)
    ]
    text = others[0] if len(others) == 1 else f"{module.segment(made.func)}({', '.join(kept)})"
    return (Edit(module.location(generator), text),)
