"""Locate in the caller's source what creates the arguments, the model and its parts, without running it."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from fitdoctor.collect import constructions
from fitdoctor.collect.batch_places import batch_expression
from fitdoctor.collect.call_arguments import Passed, PathKeys, WrittenCall, read_call
from fitdoctor.collect.codes import NOT_FOUND, Codes
from fitdoctor.collect.layers import every_layer
from fitdoctor.collect.origins import recorded_callers, recorded_site
from fitdoctor.collect.sites import (
    SOURCES,
    Site,
    main_path,
    module_with,
    node_at,
    site_of,
    user_frame,
    user_frames,
)
from fitdoctor.facts import Code, Unknown
from fitdoctor.records import replace
from fitdoctor.source.assignments import Path
from fitdoctor.source.callees import argument_for, gathered_argument
from fitdoctor.source.definitions import last_name
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import Module
from fitdoctor.source.origins import Origin, data_origin, shape_of_input
from fitdoctor.source.yielded_values import KEEPS_ELEMENTS, SLICES, literal_part, part_given_out, split_path

COMPILE_PARAMETERS = ("optimizer", "loss", "loss_weights", "metrics", "weighted_metrics")


class FrameCodes(Codes):
    """Locates objects from the calling frame and from what was recorded while the program ran."""

    def __init__(self, frame: FrameType, passed: Passed) -> None:
        self._frame = user_frame(frame)
        self._main = main_path()
        self._module: Module | None = None
        self._written: WrittenCall | None = None
        if self._frame is not None:
            site = site_of(self._frame)
            self._module = SOURCES.module(site.path, self._main)
            node = node_at(self._module, site) if self._module is not None else None
            if isinstance(node, ast.Call):
                self._written = read_call(node, self._frame, passed)
        self._compile_calls: dict[int, tuple[Module, ast.Call] | None] = {}

    # --- the call and its arguments -------------------------------------------------------------------------------

    def of_call(self) -> Code | Unknown:
        """Return the call, with positional arguments as the method receives them."""
        if self._module is None or self._written is None:
            return NOT_FOUND
        code = self._module.code(self._written.call)
        kept = code.arguments[len(self._written.own) :] if self._written.complete else ()
        kept = tuple(argument for argument in kept if argument.name != "model")
        if kept == code.arguments:
            return code
        # Without arguments, an edit could not know whether to add a comma first.
        return replace(code, arguments=kept, close_paren=code.close_paren if kept else None)

    def model_text(self) -> str:
        """Return the model expression of the call, "" if unknown."""
        if self._module is None or self._written is None or self._written.model is None:
            return ""
        return self._module.segment(self._written.model)

    def of_argument(self, path: str) -> tuple[Code | Unknown, Code | Unknown]:
        """Return the code that creates an argument or a part of it, and the argument expression."""
        name, keys = split_path(path)
        found = self._given(name)
        if found is None:
            return self._starred(name, keys)
        module, expr = found
        expr, keys = literal_part(expr, keys)
        end = self._follow(module, expr, keys)
        part: Code | Unknown | None = _part_of_literal(end, keys)
        if part is None and keys and not end.path and isinstance(expr, ast.Call):
            part = end.code  # of several parts that a function returns, one is changed where it is created
        return end.code, part if part is not None else module.code(expr)

    def _given(self, name: str) -> tuple[Module, ast.expr] | None:
        found = self._written.argument(name) if self._written is not None else None
        return None if self._module is None or found is None or found[1] else (self._module, found[0])

    def _starred(self, name: str, keys: PathKeys) -> tuple[Code | Unknown, Code | Unknown]:
        """Return the code behind an argument of `fit(*train)`, and its expression in the tuple, if that is written."""
        found = self._written.argument(name) if self._written is not None else None
        if self._module is None or found is None:
            return NOT_FOUND, NOT_FOUND
        expr, part = found
        end = self._follow(self._module, expr, (*part, *keys))
        # Without its own origin, the trace ends at the whole tuple, which is not the argument.
        place, node = end.decided
        made = place.code(node) if not end.path else NOT_FOUND
        return made, _part_of_literal(end, (*part, *keys)) or NOT_FOUND

    def _follow(self, module: Module, expr: ast.expr, keys: PathKeys = ()) -> Origin:
        """Trace a value back through the source and, for parameters with several callers, the active frames."""
        end = data_origin(module, expr, keys)
        for _ in range(20):
            further = self._through_frame(end)
            if further is None:
                return end
            end = data_origin(*further)
        return end

    def _through_frame(self, end: Origin) -> tuple[Module, ast.expr, Path] | None:
        """Return the argument passed for a parameter in the active call, and which part of it."""
        if not isinstance(end.node, ast.Name):
            return None
        function = end.module.scope(end.node).node
        if not isinstance(function, FUNCTIONS) or isinstance(function, ast.Lambda):
            return None
        info = end.module.function(function)
        if end.node.id not in info.parameters:
            return None
        frames = user_frames(self._frame)
        for index, frame in enumerate(frames[:-1]):
            if not _runs(frame, end.module, function):
                continue
            caller = site_of(frames[index + 1])
            calling = SOURCES.module(caller.path, self._main)
            call = node_at(calling, caller) if calling is not None else None
            if calling is None or not isinstance(call, ast.Call):
                return None
            argument = argument_for(info, call, end.node.id)
            if argument is not None:
                return calling, argument, end.path
            gathered = gathered_argument(info, call, end.node.id, end.path[0]) if end.path else None
            return None if gathered is None else (calling, gathered, end.path[1:])
        return None

    def of_pipeline(self, path: str, operations: list[str]) -> list[Code | Unknown]:
        """Return the chain of method calls, as long as it matches the dataset object."""
        calls = self._pipeline_calls(path, operations)
        return [NOT_FOUND if found is None else found[0].code(found[1]) for found in calls]

    def of_sliced(
        self, path: str, operations: list[str], keys: tuple[str | int, ...]
    ) -> tuple[Code | Unknown, Code | Unknown]:
        """Return what creates an array that a pipeline passes unchanged, and its expression in the source stage."""
        if not operations or operations[0] not in SLICES or not KEEPS_ELEMENTS.issuperset(operations[1:]):
            return NOT_FOUND, NOT_FOUND
        found = self._pipeline_calls(path, operations)[0]
        if found is None or not found[1].args:
            return NOT_FOUND, NOT_FOUND
        module, call = found
        expr, rest = literal_part(call.args[0], keys)
        end = self._follow(module, expr, rest)
        return end.code, module.code(expr)

    def of_batch(self, thing: Any, path: str, parts: int) -> Code | Unknown:
        """Return the expression for a part of the batches in the only `yield`, or `return` of `__getitem__`."""
        found = batch_expression(thing)
        return NOT_FOUND if found is None else part_given_out(*found, path, parts)

    def of_batches(self, thing: Any) -> Code | Unknown:
        """Return its only `yield` or `return`."""
        found = batch_expression(thing)
        return NOT_FOUND if found is None else found[0].code(found[1])

    def of_loaded(self, path: str, index: int) -> tuple[Code | Unknown, Code | Unknown]:
        """Return a tensor of the `TensorDataset(…)` behind a `DataLoader(…)`, through subsets."""
        found = self._given(split_path(path)[0])
        while found is not None:
            end = self._follow(*found)
            call = end.node
            if not isinstance(call, ast.Call):
                break
            if last_name(call) == "TensorDataset":
                if index >= len(call.args) or any(isinstance(arg, ast.Starred) for arg in call.args):
                    break
                given = call.args[index]
                return self._follow(end.module, given).code, end.module.code(given)
            known = last_name(call) in ("DataLoader", "Subset", "random_split")
            inner = _argument(call, "dataset", ("dataset",)) if known else None
            found = None if inner is None else (end.module, inner)
        return NOT_FOUND, NOT_FOUND

    def _pipeline_calls(self, path: str, operations: list[str]) -> list[tuple[Module, ast.Call] | None]:
        calls: list[tuple[Module, ast.Call] | None] = [None] * len(operations)
        found = self._given(split_path(path)[0])
        if found is None:
            return calls
        module, expr = found
        for index in range(len(operations) - 1, -1, -1):
            end = self._follow(module, expr)
            module, expr = end.module, end.node
            while isinstance(expr, ast.Call) and last_name(expr) in ("with_options", "apply", "copy"):
                expr = expr.func.value if isinstance(expr.func, ast.Attribute) else expr
            if not isinstance(expr, ast.Call) or last_name(expr) != operations[index]:
                break
            calls[index] = (module, expr)
            if not isinstance(expr.func, ast.Attribute):
                break
            expr = expr.func.value
        return calls

    # --- the model ------------------------------------------------------------------------------------------------

    def of_object(self, thing: Any) -> Code | Unknown:
        """Return where a layer, dataset or callback was created, if recorded."""
        return self._code_at(recorded_site(thing))

    def of_callers(self, dataset: Any) -> tuple[Code, ...]:
        """Return the calls that led to where a dataset was created, the nearest first."""
        found = (self._code_at(site) for site in recorded_callers(dataset))
        return tuple(code for code in found if isinstance(code, Code))

    def _code_at(self, site: Site | None) -> Code | Unknown:
        found = self._node_at(site)
        return NOT_FOUND if found is None else found[0].code(found[1])

    def _node_at(self, site: Site | None) -> tuple[Module, ast.expr] | None:
        if site is None:
            return None
        module = SOURCES.module(site.path, self._main)
        node = node_at(module, site) if module is not None else None
        return None if module is None or node is None else (module, node)

    def of_model(self, model: Any) -> Code | Unknown:
        """Return where the model is created."""
        found = self._model_origin(model)
        return NOT_FOUND if found is None else found[0].code(found[1])

    def _model_origin(self, model: Any) -> tuple[Module, ast.expr] | None:
        recorded = self._node_at(recorded_site(model))
        if recorded is not None:
            return recorded
        if self._module is None or self._written is None or self._written.model is None:
            return None
        end = self._follow(self._module, self._written.model)
        return (end.module, end.node) if isinstance(end.node, ast.Call) else None

    def of_compile(self, model: Any) -> Code | Unknown:
        """Return the call of compile."""
        found = self._compile_call(model)
        return NOT_FOUND if found is None else found[0].code(found[1])

    def of_trainable(self, layers: list[Any]) -> Code | Unknown:
        """Return the statement that last set `trainable` of the first layer for which that is recorded."""
        for site in filter(None, (recorded_site(layer, "trainable") for layer in layers)):
            module = SOURCES.module(site.path, self._main)
            for node in module.nodes(ast.Assign) if module is not None else ():
                if module is not None and node.lineno <= site.line <= (node.end_lineno or 0):
                    return module.code(node)
        return NOT_FOUND

    def _compile_call(self, model: Any) -> tuple[Module, ast.Call] | None:
        key = id(model)
        if key not in self._compile_calls:
            self._compile_calls[key] = self._find_compile(model)
        return self._compile_calls[key]

    def _find_compile(self, model: Any) -> tuple[Module, ast.Call] | None:
        recorded = self._node_at(recorded_site(model, "compile"))
        if recorded is not None and isinstance(recorded[1], ast.Call):
            return recorded[0], recorded[1]
        if self._module is None or self._written is None:
            return None
        made = self._model_origin(model)
        return constructions.compile_call(self._module, self._written.call, self._written.model, made)

    def of_compile_argument(self, model: Any, name: str, keys: tuple[str | int, ...] = ()) -> Code | Unknown:
        """Return an argument of compile, or an item of it if it is a literal."""
        found = self._compile_call(model)
        if found is None:
            return NOT_FOUND
        module, call = found
        expr = _argument(call, name, COMPILE_PARAMETERS)
        if expr is not None:
            part, rest = literal_part(expr, keys)
            # The loss is chosen in `losses = [...]`, not where compile uses the name.
            return self._literal_code(module, part, rest) or module.code(part)
        spread = [keyword.value for keyword in call.keywords if keyword.arg is None]
        found_in = [code for each in spread if (code := self._literal_code(module, each, (name, *keys)))]
        return found_in[0] if len(found_in) == 1 else NOT_FOUND

    def _literal_code(self, module: Module, node: ast.expr, keys: tuple[str | int, ...]) -> Code | None:
        """Return where the value of an expression, or an item of it, is written."""
        end = self._follow(module, node, keys)
        written = isinstance(end.node, (ast.Constant, ast.Call, ast.List, ast.Tuple, ast.Dict))
        return end.module.code(end.node) if written and not end.path else None

    def of_layers(self, model: Any, layers: list[Any]) -> dict[int, Code]:
        """Return the constructor calls of the layers by `id`: recorded, else matched in the source."""
        found: dict[int, Code] = {}
        missing = []
        for layer in every_layer(*layers):
            code = self.of_object(layer)
            if isinstance(code, Unknown):
                missing.append(layer)
            else:
                found[id(layer)] = code
        if missing and self._module is not None:
            made = self._model_origin(model)
            for layer, module, call in constructions.match_layers(model, missing, self._module, made):
                found.setdefault(id(layer), module.code(call))
        return found

    def of_input(self, model: Any) -> Code | Unknown:
        """Return the `Input(…)` or the layer with `input_shape=` that sets the model input."""
        shaped = constructions.layer_with_input_shape(model)
        if shaped is not None:
            return self.of_layers(model, [shaped]).get(id(shaped), NOT_FOUND)
        for layer in constructions.input_layers(model):
            code = self.of_object(layer)
            if not isinstance(code, Unknown):
                return code
        if self._module is None:
            return NOT_FOUND
        found = constructions.input_call(model, self._module, self._model_origin(model))
        return NOT_FOUND if found is None else found[0].code(found[1])

    def of_input_shape(self, model: Any) -> Code | Unknown:
        """Return where the shape of the only `Input(…)` is written, if elsewhere."""
        layers = constructions.input_layers(model)
        found = self._node_at(recorded_site(layers[0])) if len(layers) == 1 else None
        return (shape_of_input(*found) if found is not None else None) or NOT_FOUND


def _part_of_literal(end: Origin, keys: PathKeys) -> Code | None:
    """Return the expression of a part in the tuple or dict that a name or attribute holds: `y_val` of `self.val`."""
    for step in end.steps:
        if not keys or step.how not in ("name", "attribute", "element"):
            break
        if step.how == "element" and isinstance(step.node, ast.expr):
            part, keys = literal_part(step.node, keys)
            if not keys:
                return step.module.code(part)
    return None


def _runs(frame: FrameType, module: Module, function: ast.AST) -> bool:
    """Whether a frame runs a function of a module."""
    code = frame.f_code
    if code.co_name != getattr(function, "name", ""):
        return False
    first = min(
        (node.lineno for node in getattr(function, "decorator_list", [])),
        default=getattr(function, "lineno", 0),
    )
    same, starts = module_with(code)
    return starts == min(first, getattr(function, "lineno", 0)) and same is module


def _argument(call: ast.Call, name: str, parameters: tuple[str, ...]) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if name not in parameters:
        return None
    position = parameters.index(name)
    if position >= len(call.args) or any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return None
    return call.args[position]
