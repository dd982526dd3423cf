"""`call`, loss or metric that returns nothing.

## What happens

The next layer raises `ValueError: Inputs to a layer should be tensors. Got 'None' (of type <class 'NoneType'>)`. A
model, loss or metric that returns nothing raises `ValueError: None values not supported.` when `fit` traces the first
step. Neither error names the function.

## Why

The function computes its result but does not return it, and a Python function without `return` returns `None`. `compile`
and `add` return nothing, and `fit` returns the training history; none of them returns the model.

## Fix

Return the result.

## Known limits

A function that builds a model, or a part of one, is reported only if its result is used. A layer that exists for its side
effects (`add_loss`, `print`), and whose output is not used, may return nothing. `lint` does not report a function that
returns a value on some paths only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.models.layer_source import is_layer_call
from fitdoctor.catalogue.model.needed_losses import lacks_loss, says_no_loss
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.traceback_lines import gives_labels
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, insert_after, unsafe
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import calls_at
from fitdoctor.records import dataclass, replace
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.callees import callee
from fitdoctor.source.definitions import last_name
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of, own_nodes

CAUSE = Cause(
    id="FIT310",
    slug="call-returns-nothing",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "AttributeError", "InvalidArgumentError"),
    explains=("FIT215", "FIT303", "FIT506"),
)

_EFFECTS = frozenset({"add_loss", "add_metric", "print"})
"""Calls made for their side effects."""
_GIVE_NOTHING = frozenset({"compile", "add", "build", "summary", "load_weights", "set_weights", "save"})
"""Methods of a model that return nothing."""

_NO_MODEL = re.compile(
    r"'NoneType' object has no attribute '(?:fit|compile|evaluate|predict|summary|save|add|train_on_batch)'"
)
_SAID = re.compile(
    r"Got 'None' \(of type <class 'NoneType'>\) as input for layer"
    r"|should be passed as a keyword argument: None \(of type <class 'NoneType'>\)"
    r"|None values not supported"
    r"|must be KerasTensors\. Received: outputs=(?:None|[^\n]{0,300}including invalid value None)"
    r"|'NoneType' object has no attribute '(?:shape|dtype|ndim)'"
    r"|unsupported operand type\(s\) for [^:\n]{1,10}: (?:'NoneType' and|'[\w.]+' and 'NoneType')"
    r"|Attempt to convert a value \(None\)"
    r"|'NoneType' object is not (?:callable|subscriptable|iterable)"
    r"|cannot unpack non-iterable NoneType object"
    r"|attr 'output_types' of 0 must be at least minimum 1"
)


@CAUSE.in_source
@mentions("def", "lambda")
def from_source(module: Module) -> Iterator[Finding]:
    """Report functions that return nothing although Keras uses their result."""
    for function in filter(_should_return, module.functions):
        if returns_nothing(function) and not _for_effect(module, function):
            yield _finding(function)
        elif _only_while_training(function):
            yield _one_way(function)


def _should_return(function: FunctionInfo) -> bool:
    """Whether Keras uses the return value; `train_step` is a separate cause."""
    if isinstance(function.node, (ast.Lambda, ast.AsyncFunctionDef)):
        return False
    owner = function.owner
    if owner is not None:
        return function.name == "call" and owner.kind in ("Layer", "Model", "Loss")
    tracing = function.traced
    return tracing is not None and tracing.direct and tracing.how in ("loss", "metric", "lambda layer", "map")


def returns_nothing(function: FunctionInfo) -> bool:
    """Whether no path through a non-empty function returns a value."""
    node = function.node
    if isinstance(node, ast.Lambda) or function.node in function.module.generators:
        return False
    if not all(_is_none(part.value) for part in function.module.returns.get(node, ())):
        return False
    statements = [part for part in node.body if not _is_idle(part)]
    return bool(statements) and not _always_raises(statements)


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _is_idle(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return True
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _always_raises(statements: list[ast.stmt]) -> bool:
    last = statements[-1]
    if isinstance(last, ast.Raise):
        return True
    if isinstance(last, ast.If) and last.orelse:
        return _always_raises(last.body) and _always_raises(last.orelse)
    return isinstance(last, ast.With) and _always_raises(last.body)


def _for_effect(module: Module, function: FunctionInfo) -> bool:
    """Whether the result is unused: a layer with side effects only, or a model with a custom `train_step`."""
    owner = function.owner
    if owner is None:
        return False
    if owner.kind != "Loss" and any(last_name(part) in _EFFECTS for part in own_nodes(function)):
        return True
    if owner.kind == "Model" and module.method(owner, "train_step") is not None:
        return True
    if owner.kind == "Layer":
        calls = [site for site in module.calls if _calls_instance(module, site.node, owner)]
        return bool(calls) and all(isinstance(module.parent(site.node), ast.Expr) for site in calls)
    return False


def _calls_instance(module: Module, call: ast.Call, owner: ClassInfo) -> bool:
    maker = call.func if isinstance(call.func, ast.Call) else module.made_by(call.func)
    return isinstance(maker, ast.Call) and maker is not call and module.definition(maker.func) is owner


def _finding(function: FunctionInfo, *seen: Evidence) -> Finding:
    module = function.module
    assert isinstance(function.node, ast.FunctionDef)
    last = _last_statement(function.node)
    title, edits = _returned(module, function, last)
    return CAUSE.finding(
        f"{name_of(function)} computes a result but does not return it",
        _first_line(module, last),
        Evidence("return value", "None", "a tensor", location=module.location(function.node)),
        *seen,
        fix(title, edits),
        subject=f"function {function.qualname}",
    )


def _returned(module: Module, function: FunctionInfo, last: ast.stmt) -> tuple[str, tuple[Edit, ...]]:
    """Return a title and edits that make a function return what its last statement computed."""
    body = getattr(module.parent(last), "body", [])
    behind = body[-1] if body and body[-1] is not last else None
    value = _result(module, last)
    if value is None:
        given = [name for name in function.parameters if name != "self"]
        if last_name(getattr(last, "value", None)) not in _EFFECTS or not given or function.name != "call":
            return "return the result", ()
        value = given[0]  # a layer that adds a loss, or prints a value, returns its input
    if isinstance(behind, ast.Return):
        return f"return `{value}`", (Edit(module.location(behind), f"return {value}"),)
    if isinstance(last, ast.Expr) and value == module.segment(last.value):
        return "return the result", (Edit(module.location(last).start, "return "),)
    return f"return `{value}`", insert_after(module.code(last), f"return {value}")


def _result(module: Module, last: ast.stmt) -> str | None:
    """Return the name or expression that holds the last computed value."""
    if isinstance(last, ast.Assign):
        target = last.targets[0]
        return module.segment(target) if isinstance(target, (ast.Name, ast.Attribute)) else None
    if isinstance(last, (ast.AnnAssign, ast.AugAssign)):
        return module.segment(last.target)
    if isinstance(last, ast.Expr):
        return _of_statement(module, last.value)
    if isinstance(last, ast.FunctionDef):
        return last.name
    if isinstance(last, (ast.For, ast.If, ast.With)):
        return _result(module, last.body[-1])
    return None


def _of_statement(module: Module, value: ast.expr) -> str | None:
    """Return the value of an expression statement: itself, or the model whose method returns nothing."""
    name = last_name(value)
    if name in _EFFECTS:
        return None
    if name in _GIVE_NOTHING and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return module.segment(value.func.value)
    return module.segment(value)


def _first_line(module: Module, statement: ast.stmt) -> Location:
    whole = module.location(statement)
    return whole if whole.end_line == whole.line else whole.start


def _last_statement(node: ast.FunctionDef) -> ast.stmt:
    """Return the last statement that computes something, skipping a bare `return`."""
    return next((part for part in reversed(node.body) if not _is_idle(part)), node.body[-1])


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, project: Project, model: ModelFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Explain an unexpected None by a function that returns nothing."""
    if not _SAID.search(failure.message) and not _NO_MODEL.search(failure.message):
        return
    if any(frame.library and frame.function == "get_updates" for frame in failure.frames):
        return  # the optimizer has no gradient: FIT505
    if not project:
        yield from _from_words(failure)
        return
    if isinstance(data, DataFacts) and data.role != "training":
        return
    candidates = [
        function
        for module in project.modules
        for function in module.functions
        if _should_return(function) and returns_nothing(function)
    ]
    used = [function for function in candidates if not _for_effect(function.module, function)]
    labels_missing = isinstance(data, DataFacts) and not data.y
    chosen = used or ([] if labels_missing else candidates)
    if len(chosen) > 1 and isinstance(model, ModelFacts):
        chosen = [function for function in chosen if _belongs(function, model)] or chosen
    for function in chosen[:1]:
        sure = Confidence.CERTAIN if len(chosen) == 1 else Confidence.LIKELY
        yield certain(_finding(function), failure, confidence=sure)
    if not chosen:
        found = next(iter(_from_line(failure, project)), None)
        if found is not None:
            yield certain(_given_nothing(found), failure)
        elif not labels_missing:
            yield from _on_one_way(failure, project)


def _from_words(failure: FailureFacts) -> Iterator[Finding]:
    """Report None as a layer input or model, without knowing the function that returned it."""
    frame = failure.last_user_frame
    remedy = "the result"
    if "as input for layer" in failure.message:
        what = "a layer receives None: the function that computes its input returns nothing"
    elif _NO_MODEL.search(failure.message):
        what, remedy = "the model is None: the function that builds it returns nothing", "the model"
    elif frame is not None and failure.called == "fit" and gives_labels(frame.text):
        # Labels were passed, so the None comes from the model or its loss.
        what = "the loss function or the model's `call` returns nothing"
    else:
        return
    yield CAUSE.finding(
        what,
        failure.location,
        Evidence("error", failure.message[:160]),
        fix(f"return {remedy} from that function"),
        subject="function",
    )


# --- None instead of a model or a tensor ----------------------------------------------------------------------------

_OF_MODELS = ("fit", "compile", "evaluate", "predict", "summary", "save", "add", "train_on_batch")


@dataclass(frozen=True, eq=False)
class _Nothing:
    """A call that returns nothing but whose result is used."""

    module: Module
    call: ast.Call
    function: FunctionInfo | None = None
    """The user's function that returns nothing; None for a Keras method."""


@CAUSE.in_source
def from_uses(module: Module) -> Iterator[Finding]:
    """Report a model, or a layer input, that comes from a call that returns nothing."""
    if not _uses_nothing(module.project or module):
        return
    told: set[ast.AST] = set()
    used = [site.node.func for site in module.method_calls(*_OF_MODELS)]
    values = [function.value for function in used if isinstance(function, ast.Attribute)]
    for value in [*values, *_factories(module), *_layer_inputs(module), *_called_values(module)]:
        found = _nothing(module, value)
        if found is not None and found.call not in told:
            told.add(found.call)
            yield _given_nothing(found)


@CAUSE.before_fit
def no_loss(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a missing loss whose factory function returns nothing."""
    if lacks_loss(model, fit, data):
        yield from _without_loss(project)


@CAUSE.after_failure
def no_loss_found(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Explain the Keras error about a missing loss in the same way."""
    if project and says_no_loss(failure.message):
        yield from _without_loss(project)


def _without_loss(project: Project) -> Iterator[Finding]:
    for module in project.modules:
        for found in filter(None, (_nothing(module, value) for value in _losses(module))):
            yield replace(_given_nothing(found), confidence=Confidence.CERTAIN)


def _factories(module: Module) -> Iterator[ast.expr]:
    """Yield losses from factories that end in a function definition; others may return None on purpose."""
    for value in _losses(module):
        made = origin(module, value)
        function = callee(made.module, made.node) if isinstance(made.node, ast.Call) else None
        node = function.node if function is not None else None
        if isinstance(node, ast.FunctionDef) and isinstance(_last_statement(node), ast.FunctionDef):
            yield value


def _losses(module: Module) -> list[ast.expr]:
    """Return the loss arguments of `compile` that come from calls: `loss=focal(2)`."""
    given = [site.argument("loss", 1) for site in module.method_calls("compile")]
    return [loss for loss in given if isinstance(loss, (ast.Call, ast.Name))]


_OF_HISTORY = tuple(
    """fit compile evaluate predict summary save add train_on_batch predict_on_batch save_weights load_weights
    get_weights set_weights to_json get_layer layers trainable weights""".split()
)


@CAUSE.rule(
    "fit(",
    says=rf"'History' object has no attribute '(?:{'|'.join(_OF_HISTORY)})'",
    types=("AttributeError",),
    problem="`fit` returns the training history, but its result is used as the model",
    remedy="call `fit` on its own line, and keep using the model",
    subject="result of fit",
    confidence=Confidence.CERTAIN,
)
def history_for_model(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Report the result of `fit` used as the model: `model = model.fit(…)`."""
    told: set[ast.Call] = set()
    for node in module.nodes(ast.Attribute):
        found = _history(module, node.value) if node.attr in _OF_HISTORY else None
        if found is None or failure is None and found[1] in told:
            continue
        home, call = found
        told.add(call)
        name, statement = home.segment(call.func), home.statement(call)
        target = (
            statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
        )
        title, edits = f"call `{name}` on its own line", (Edit(home.location(statement), home.segment(call)),)
        renamed = isinstance(target, ast.Name) and isinstance(call.func, ast.Attribute)
        own = renamed and ast.unparse(call.func.value) == target.id  # type: ignore[attr-defined, union-attr]
        yield CAUSE.finding(
            f"`{name}` returns the training history, but its result is used as the model",
            home.location(statement),
            Evidence("result of `fit`", "a `History`", "a model", location=module.location(node)),
            fix(title, edits) if own else fix(f"{title}, and keep using the model"),
            subject=f"result of {name}",
        )


def _history(module: Module, value: ast.expr) -> tuple[Module, ast.Call] | None:
    """Return the `fit` call that a value comes from, through functions that return it."""
    for _ in range(4):
        end = origin(module, value)
        if end.path or not end.certain or not isinstance(end.node, ast.Call):
            return None
        module, made = end.module, end.node
        if isinstance(made.func, ast.Attribute) and made.func.attr == "fit":
            return (module, made) if is_keras_model(module, made.func.value) else None
        function = callee(module, made)
        returned = function.module.returns.get(function.node, []) if function is not None else []
        if function is None or len(returned) != 1 or returned[0].value is None:
            return None
        module, value = function.module, returned[0].value
    return None


def _layer_inputs(module: Module) -> Iterator[ast.expr]:
    for site in module.calls:
        if is_layer_call(module, site.node.func):
            yield from site.node.args[:1]


def _called_values(module: Module) -> Iterator[ast.expr]:
    """Yield called names and attributes that are values, not functions: `encoder` in `encoder(x)`."""
    for site in module.calls:
        function = site.node.func
        if site.name or not isinstance(function, (ast.Name, ast.Attribute)):
            continue
        # Most calls are of functions; skipping them is cheap, following a value is not.
        if callee(module, site.node) is None and isinstance(origin(module, function).node, ast.Call):
            yield function


def _nothing(module: Module, value: ast.expr) -> _Nothing | None:
    """Return the call that a None value comes from."""
    end = origin(module, value)
    if end.path or not end.certain or not isinstance(end.node, ast.Call):
        return None
    module, value = end.module, end.node
    function = callee(module, value)
    if function is not None:
        return _Nothing(module, value, function) if _gives_nothing(function) else None
    if isinstance(value.func, ast.Attribute) and value.func.attr in _GIVE_NOTHING:
        return _Nothing(module, value) if is_keras_model(module, value.func.value) else None
    return None


def _gives_nothing(function: FunctionInfo) -> bool:
    """Whether a function returns None for any arguments."""
    plain = isinstance(function.node, ast.FunctionDef) and not function.node.decorator_list
    return plain and function.name != "__init__" and returns_nothing(function)


@lru_cache(maxsize=8)
def _uses_nothing(whole: Project | Module) -> bool:
    """Whether the result of any call that returns nothing is used; a cheap check before following values."""
    for sites in whole.calls_of.values():
        function = callee(*sites[0])
        if function is not None and _gives_nothing(function):
            if any(_is_used(whole, module, call) for module, call in sites):
                return True
    return any(
        _is_used(whole, site.module, site.node) and is_keras_model(site.module, site.node.func.value)  # type: ignore[attr-defined]
        for module in (whole.modules if isinstance(whole, Project) else (whole,))
        for site in module.method_calls(*_GIVE_NOTHING)
    )


def _is_used(whole: Project | Module, module: Module, call: ast.Call) -> bool:
    parent = module.parent(call)
    if isinstance(parent, (ast.Return, ast.Lambda)):
        function = module.function_of(call)
        return function is None or function.node in whole.calls_of
    return not isinstance(parent, ast.Expr)


def _last_nothing(module: Module, value: ast.expr) -> _Nothing | None:
    """Like `_nothing`, for a name assigned several times: use the last assignment before the line that raised."""
    found = last_assignment(module, value) if isinstance(value, ast.Name) else None
    made = found[0].value if found is not None and not found[0].path else None
    return _nothing(module, made) if isinstance(made, ast.Call) else None


def _from_line(failure: FailureFacts, project: Project) -> Iterator[_Nothing]:
    """Yield calls that return nothing, followed back from the failing line."""
    for site in calls_at(failure, project):
        receiver = [site.receiver] if site.method else []
        for value in [site.node.func, *receiver, *site.node.args]:
            found = _nothing(site.module, value) or _last_nothing(site.module, value)
            if found is not None:
                yield found


def _given_nothing(found: _Nothing) -> Finding:
    module = found.module
    used = Evidence("its result is used here", location=module.location(found.call))
    if found.function is not None:
        return _finding(found.function, used)
    assert isinstance(found.call.func, ast.Attribute)
    statement = module.statement(found.call)
    name = module.segment(found.call.func)
    kept = isinstance(statement, ast.Assign) and statement.value is found.call
    edits = (Edit(module.location(statement), module.segment(found.call)),) if kept else ()
    return CAUSE.finding(
        f"`{name}` returns nothing, but its result is used as the model",
        module.location(statement),
        used,
        fix(f"call `{name}` on its own line", edits),
        subject=f"result of {name}",
    )


def _on_one_way(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Yield functions called by Keras that return a value on some paths only."""
    found = [
        function
        for module in project.modules
        for function in module.functions
        if _should_return(function) and _may_fall_through(function)
    ]
    if len(found) == 1:
        yield certain(_one_way(found[0]), failure, confidence=Confidence.LIKELY)


def _one_way(function: FunctionInfo) -> Finding:
    assert isinstance(function.node, ast.FunctionDef)
    last = function.node.body[-1]
    where = function.module.location(function.node)
    unchanged = []
    if function.name == "call" and _only_while_training(function) and len(function.parameters) > 1:
        # A layer that only acts during training.
        given = function.parameters[1]
        edits = insert_after(function.module.code(last), f"return {given}")
        unchanged = [unsafe(f"otherwise return `{given}` unchanged", edits)]
    return CAUSE.finding(
        f"{name_of(function)} returns a value on one path but None on the other",
        _first_line(function.module, last),
        Evidence("return value on the other path", "None", "a tensor", location=where),
        *unchanged,
        fix("return a tensor on every path"),
        subject=f"function {function.qualname}",
    )


def _only_while_training(function: FunctionInfo) -> bool:
    """Whether the function returns None outside training, as in validation and `predict`."""
    if not _may_fall_through(function):
        return False
    assert isinstance(function.node, ast.FunctionDef)
    last = function.node.body[-1]
    assert isinstance(last, ast.If)
    asks = isinstance(last.test, ast.Name) and last.test.id == "training"
    returned = [part for part in own_nodes(function) if isinstance(part, ast.Return)]
    return asks and len(returned) == 1 and returned[0] is last.body[-1]


def _may_fall_through(function: FunctionInfo) -> bool:
    """Whether the last statement is an `if` without `else` that returns."""
    node = function.node
    last = node.body[-1] if isinstance(node, ast.FunctionDef) else None
    return (
        isinstance(last, ast.If)
        and not last.orelse
        and any(isinstance(part, ast.Return) for part in ast.walk(last))
    )


def _belongs(function: FunctionInfo, model: ModelFacts) -> bool:
    """Whether the function belongs to the model, one of its layers, or its loss."""
    if function.owner is None:
        return function.name in {loss.name for loss in model.losses}
    names = {model.class_name, *(layer.class_name for layer in model.every_layer())}
    return function.owner.name in names | {loss.name for loss in model.losses}


CAUSE.message(
    r"Layer (?P<name>\w+) does not have a `call` method implemented",
    "`{name}` has no `call` method, so it computes nothing",
    "define `call(self, inputs)` in a subclass of `keras.layers.Layer`, at the level of the class",
    subject="layer",
    types=("NotImplementedError",),
    confidence=Confidence.CERTAIN,
)
