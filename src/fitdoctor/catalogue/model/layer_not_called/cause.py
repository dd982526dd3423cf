"""Layer passed instead of its output.

## What happens

`keras.Model(inputs, outputs)` raises `ValueError: All outputs values must be KerasTensors. Received: outputs=<Dense
name=forces, built=False>`; a layer that is called on another layer raises `Only input tensors may be passed as positional
arguments. The following argument value should be passed as a keyword argument: <SpatialDropout1D …>`. A keyword argument
does not help either.

## Why

`x = Dropout(0.2)` creates a layer; `x = Dropout(0.2)(x)` creates a layer and calls it. Only the result of the call is a
tensor that the next layer, or the model, accepts.

## Fix

Call the layer on the previous tensor.

## Known limits

The fix assumes that the layer should be called on the most recent tensor. Adding a layer to a tensor (`layer + x`) raises
no error when the model is created and is not detected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.models.layer_source import (
    found_in,
    is_layer_call,
    layer_of,
    made_at,
    node_at,
)
from fitdoctor.catalogue.knowledge.models.refusals import of_failure, of_site
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame, LayerFacts, Unknown
from fitdoctor.failure.failed_line import module_of
from fitdoctor.failure.traced_code import library_behind
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.fits.fit_sites import ModelSite
from fitdoctor.source.keras_names import snake_case
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT309",
    slug="layer-not-called",
    severity=Severity.ERROR,
    raises=("ValueError", "NotImplementedError", "TypeError"),
    explains=("FIT312", "FIT407", "FIT408"),
)

_OUTPUTS = re.compile(
    r"All `(?:inputs|outputs)` values must be KerasTensors|must be the output of a TensorFlow `Layer`"
    r"|Inputs to a layer should be tensors\. Got:? '?<[\w.]*layers\."
)
_POSITIONAL = "Only input tensors may be passed as positional arguments"
_LAYER = re.compile(r"<(?P<kind>[A-Z]\w*) name=(?P<name>[\w/.-]+), built=\w+>")
_CLASS = (
    r"(?:<class '[\w.]*\.|(?:Found|Got):? '?<[\w.]*layers\.[\w.]*\.)(?P<kind>[A-Z]\w*)"
    r"(?:'> \(?of type <class 'type'>| object at 0x)"
)
"""A class, or in the wording of Keras 2 a layer."""
_SEQUENTIAL = (
    r"(?:Only instances of `?keras\.Layer`? can be added|added layer must be an instance of class Layer)"
)
_TENSOR = r"<KerasTensor\b|of type <class '[\w.]*KerasTensor'>|Found: KerasTensor|Found: Tensor\("
_NEEDS_NOTHING = re.compile(
    r"Flatten|\w*Pooling\dD|\w*Normalization|\w*ReLU|ELU|Softmax|Masking|UpSampling[123]D|ZeroPadding[123]D"
)
"""Layers whose constructors need no argument."""
_MOST_STEPS = 10


def _speaks_of_layers(message: str) -> bool:
    return bool(_OUTPUTS.search(message)) or _POSITIONAL in message


@CAUSE.in_source
def from_source(site: ModelSite, project: Project) -> Iterator[Finding]:
    """Report a layer in the source where a tensor is expected."""
    refusal = of_site(site)
    if refusal is None or not _speaks_of_layers(refusal.message) or not refusal.way:
        return
    yield _finding(refusal.way[0], refusal.place, project)


@CAUSE.rule(
    says=_SEQUENTIAL + rf"(?s:.)*?{_CLASS}",
    problem="the class `{kind}` is used instead of an instance",
    remedy="create a layer: `{kind}()`",
    subject="layer {kind}",
    confidence=Confidence.CERTAIN,
    anywhere=True,
)
def class_in_sequential(module: Module) -> Iterator[Finding]:
    """Report a class in a `Sequential` where a layer is expected."""
    for given in _given_to_sequential(module):
        name = module.resolve(given) if isinstance(given, (ast.Name, ast.Attribute)) else ""
        if not name.startswith("keras.layers.") or not name.rpartition(".")[2][:1].isupper():
            continue
        kind, here = module.segment(given), module.location(given)
        yield CAUSE.finding(
            f"the class `{kind}` is used instead of an instance",
            here,
            Evidence("element of the `Sequential`", f"the class `{kind}`", f"`{kind}()`"),
            fix(f"create a layer: `{kind}()`", (Edit(here.end, "()"),))
            if _NEEDS_NOTHING.fullmatch(kind.rpartition(".")[2])
            else fix(f"create a layer: `{kind}(…)`"),
            subject=f"layer {kind}",
        )


@CAUSE.rule(
    says=_SEQUENTIAL + rf"(?s:.)*?(?:{_TENSOR})",
    problem="a tensor is passed to a `Sequential`, which expects layers and calls them itself",
    remedy="pass the layer or the model, not its output",
    subject="layers of the Sequential",
    confidence=Confidence.CERTAIN,
)
def tensor_in_sequential(module: Module, frame: Frame | None) -> Iterator[Finding]:
    """Report `model.add(Dense(8)(x))` and, where it failed, `model.add(base.output)`: the model calls its layers itself."""
    for given in _given_to_sequential(module):
        if isinstance(given, ast.Call) and is_layer_call(module, given.func) and given.args:
            kind, layer = layer_of(module, given.func).class_name, given.func  # type: ignore[arg-type]
            what, remedy = f"the output of `{kind}`", "pass the layer"
            seen = Evidence("element of the `Sequential`", "a tensor", f"the layer `{kind}(…)`")
        elif frame is not None and isinstance(given, ast.Attribute) and given.attr == "output":
            kind, layer = "", given.value
            what, remedy = "a tensor", "pass the layer or the model, not its output"
            seen = Evidence("element of the `Sequential`", "a tensor", "a layer")
        else:
            continue
        yield CAUSE.finding(
            f"{what} is passed to a `Sequential`, which expects layers and calls them itself",
            module.location(given),
            seen,
            fix(remedy, (Edit(module.location(given), module.segment(layer)),)),
            subject=f"layer {kind}" if kind else "layers of the Sequential",
        )


def _given_to_sequential(module: Module) -> Iterator[ast.expr]:
    """Yield the elements passed to a `Sequential` or to `add`."""
    for site in module.calls_to("keras.Sequential"):
        listed = site.argument("layers", 0)
        yield from listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else ()
    for site in module.method_calls("add"):
        maker = module.made_by(site.receiver)
        if isinstance(maker, ast.Call) and module.resolve(maker.func) == "keras.Sequential":
            yield from site.node.args


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Read the layer from the Keras error."""
    shown = _LAYER.search(failure.message)
    unmade = re.search(_CLASS, failure.message)
    if unmade is not None and re.search(_SEQUENTIAL, failure.message):
        return  # a rule explains it
    if shown is None and _raised_in_making(failure):
        yield from _tensor_given(failure, project)
        return
    unsupported = "Attempt to convert a value" in failure.message
    if not _speaks_of_layers(failure.message) and not unsupported or (shown is None and unmade is None):
        return
    unknown = Unknown("not needed here")
    refusal = of_failure(failure, project, unknown, unknown, _speaks_of_layers)
    if refusal.confidence is Confidence.CERTAIN and refusal.way:
        yield certain(_finding(refusal.way[0], refusal.place, project), failure)
        return
    frame = failure.last_user_frame
    kind = (shown or unmade or {"kind": ""})["kind"]
    name = shown["name"] if shown is not None else ""
    layer = _made(module_of(project, frame), kind, name)
    call = place(frame.code if frame is not None else None, failure.location)
    yield certain(_finding(layer, call, project, kind), failure)


def _made(module: Module | None, kind: str, name: str) -> LayerFacts | None:
    """Return the only layer of that kind in the file that is created but not called."""
    made = [
        layer_of(module, site.node)
        for site in (module.calls if module is not None else ())
        if module is not None
        and is_layer_call(module, site.node)
        and getattr(module.parent(site.node), "func", None) is not site.node
    ]
    alike = [layer for layer in made if layer.class_name == kind]
    named = [layer for layer in alike if layer.name == name and name != snake_case(kind)]
    alike = named or alike
    return alike[0] if len(alike) == 1 else None


def _finding(layer: LayerFacts | None, call: Location | None, project: Project, kind: str = "") -> Finding:
    made = found_in(project, layer.code) if layer is not None else None
    kind = layer.class_name if layer is not None else kind
    passed = _passed(project, made, call)
    location = place(
        passed[0].location(passed[1]) if passed is not None else None, layer.code if layer else None, call
    )
    return CAUSE.finding(
        f"`{kind}` is not called: the layer is passed instead of its output",
        location,
        Evidence("a tensor is expected here", f"the layer `{kind}`", "its output", location=call),
        *_fixes(passed),
        subject=f"layer {kind}",
    )


def _passed(
    project: Project, made: tuple[Module, ast.Call] | None, call: Location | None
) -> tuple[Module, ast.expr] | None:
    """Return the expression that should be called: a layer used as a tensor."""
    if made is None:
        return None
    module = project.module_at(call.path) if call is not None and project else None
    node = node_at(module, call) if module is not None and call is not None else None
    if module is not None and node is not None:
        for argument in _arguments(node):
            expr = _followed(module, argument, made[1])
            if expr is not None:
                # The layer is called elsewhere, so this use is the mistake.
                return module, argument if _is_called_by_name(module, made[1]) else expr
            if isinstance(argument, ast.Name) and module.origin(argument).node is made[1]:
                return module, argument  # created by a function
    return made[0], _handed_on(*made) or made[1]


def _handed_on(module: Module, maker: ast.Call) -> ast.Name | None:
    """Return the only use of a name as a tensor whose other uses are as a layer: `norm` of `norm.adapt(x)`."""
    reads = [node for node in module.nodes(ast.Name) if isinstance(node.ctx, ast.Load)]
    uses = [node for node in reads if module.made_by(node) is maker]
    bare = [node for node in uses if not _is_used_as_layer(module, node)]
    return bare[0] if len(bare) == 1 and len(uses) > 1 else None


def _is_used_as_layer(module: Module, node: ast.Name) -> bool:
    parent = module.parent(node)
    return isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is node)


def _is_called_by_name(module: Module, maker: ast.Call) -> bool:
    return any(
        isinstance(site.node.func, (ast.Name, ast.Attribute)) and module.made_by(site.node.func) is maker
        for site in module.calls
        if not site.name
    )


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(value, (ast.List, ast.Tuple)):
            yield from value.elts
        else:
            yield value


def _followed(module: Module, expr: ast.expr, maker: ast.Call) -> ast.expr | None:
    """Follow names back to where the layer is created, or to an attribute that holds it."""
    for _ in range(_MOST_STEPS):
        if expr is maker:
            return maker
        if isinstance(expr, ast.Attribute):
            return expr if module.made_by(expr) is maker else None
        if not isinstance(expr, ast.Name):
            return None
        found = last_assignment(module, expr)
        if found is None or found[0].value is None or found[0].path:
            return None
        expr = found[0].value
    return None


# --- a tensor among the constructor arguments ----------------------------------------------------------------------


def _raised_in_making(failure: FailureFacts) -> bool:
    """Whether a Keras layer's constructor, called by the user's line, got a symbolic tensor."""
    if "keyword arguments passed to" in failure.message:
        return False  # the error names the unknown keyword argument
    return "kerastensor" in failure.message.lower() and any(
        frame.function == "__init__" and "/layers/" in frame.path.replace("\\", "/")
        for frame in library_behind(failure)
    )


def _tensor_given(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    frame = failure.last_user_frame
    module = module_of(project, frame)
    node = made_at(module, frame) if module is not None and frame is not None else None
    if module is not None and node is not None:
        yield certain(_finding(layer_of(module, node), module.location(node), project), failure)
        return
    yield CAUSE.certain(
        "a tensor is passed to a layer's constructor instead of to the layer",
        failure.location,
        Evidence("error", failure.message[:120]),
        fix("create the layer, then call it on the tensor: `Layer(…)(x)`"),
        subject="layer",
    )


def _applied(module: Module, maker: ast.Call) -> Fix | None:
    """Turn `Dropout(0.5, x)` into `Dropout(0.5)(x)`."""
    given = next((value for value in maker.args if _is_tensor(module, value)), None)
    if given is None:
        return None
    kept = [module.segment(value) for value in maker.args if value is not given]
    kept += [module.segment(keyword) for keyword in maker.keywords]
    text = f"{module.segment(maker.func)}({', '.join(kept)})({module.segment(given)})"
    return fix(f"call the layer on `{module.segment(given)}`", (Edit(module.location(maker), text),))


def _is_tensor(module: Module, value: ast.expr) -> bool:
    """Whether a value is certainly the output of a layer, an input, or a list of those."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return bool(value.elts) and all(_is_tensor(module, element) for element in value.elts)
    found = last_assignment(module, value) if isinstance(value, ast.Name) else None
    made = found[0].value if found is not None and not found[0].path else value
    return made is not None and _gives_tensor(module, made)


# --- repairs -------------------------------------------------------------------------------------------------------


def _fixes(passed: tuple[Module, ast.expr] | None) -> list[Fix]:
    if passed is None:
        return [fix("call the layer on the previous tensor")]
    module, expr = passed
    if isinstance(expr, ast.Name):
        return [fix(f"call the layer on a tensor: `{expr.id}(x)`")]
    applied = _applied(module, expr) if isinstance(expr, ast.Call) else None
    if applied is not None:
        return [applied]
    before = _tensor_before(module, expr)
    if before is None:
        return [fix("call the layer on the previous tensor")]
    behind = module.location(expr).end
    return [fix(f"call the layer on `{before}`", (Edit(behind, f"({before})"),))]


def _tensor_before(module: Module, expr: ast.expr) -> str | None:
    """Return the name last assigned a layer output, or an input, in the same function."""
    scope, statement = module.scope(expr), module.statement(expr)
    earlier = [
        node
        for node in module.nodes(ast.Assign)
        if module.scope(node) is scope
        and node.lineno < statement.lineno
        and _gives_tensor(module, node.value)
    ]
    if earlier:
        target = earlier[-1].targets[0]
        return target.id if isinstance(target, ast.Name) else None
    function = module.function_of(expr)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
        return name if function is not None and name in function.parameters else None
    return None


def _gives_tensor(module: Module, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    if module.resolve(value.func) == "keras.Input":
        return True
    maker = value.func if isinstance(value.func, ast.Call) else module.made_by(value.func)
    return is_layer_call(module, maker)
