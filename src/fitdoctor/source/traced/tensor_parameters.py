"""Which parameters of a traced function receive tensors."""

from __future__ import annotations

import ast

from fitdoctor.source.callees import argument_for, is_static
from fitdoctor.source.datasets import ALSO_DATASETS, ONLY_DATASETS
from fitdoctor.source.index import FunctionNode, parameters_of
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.traced.tensor_values import NOTHING, SOME, TENSOR, Env, Value

_NEVER = frozenset(
    "self cls training mask step epoch batch_size name dtype axis config kwargs args verbose seed "
    "shape input_shape".split()
)
_USUAL = frozenset(
    "x y inputs images image labels label features feature targets target batch_x batch_y x_batch "
    "y_batch y_true y_pred real_images real_image fake_images noise logits predictions inp tar src "
    "tgt input_image input_images".split()
)
_USUAL_INPUTS = frozenset(
    "query key value q k v queries keys values hidden memory encoder_output enc_output left right anchor "
    "positive negative embedding embeddings adjacency".split()
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PLAIN_TYPES = frozenset("bool int float str dict list tuple Callable".split())


def parameters(module: Module, info: FunctionInfo) -> Env:
    """What each parameter holds where a traced function starts; those that are not sure are left out."""
    tracing = info.traced
    if tracing is None:
        return {}
    if not tracing.direct:
        return _from_callers(info)
    node = info.node
    if info.name == "__call__" and tracing.how == "call":
        # Regularizers, constraints and schedules get one tensor, whatever its name (`step`).
        return dict.fromkeys(_given(info)[:1], TENSOR)
    names = [name for name in _given(info) if name not in _NEVER]
    if tracing.how in ("loss", "metric"):
        if info.name in ("compute_loss", "compute_metrics"):
            names = [name for name in info.parameters if name in ("y", "y_true", "y_pred")]
            # A model with several outputs gives a list of each.
            several = any(_any_structure(module, _uses(module, node, name)) for name in names)
            return dict.fromkeys(names, SOME if several else TENSOR)
        return dict.fromkeys(names[:2], TENSOR)
    if tracing.how in ("train_step", "test_step", "predict_step"):
        return dict.fromkeys(names[:1], SOME)
    if tracing.how == "lambda layer":
        names = names[:1]
        if _is_applied_to_several(module, node):
            return dict.fromkeys(names, SOME)
    elif tracing.how == "call":
        # Keras gives the first; what else a caller gives may be a flag or a mode.
        names = names[:1] + [name for name in names[1:] if name in _USUAL or name in _USUAL_INPUTS]
    elif tracing.how == "tf.function":
        names = [
            name for name in names if name in _USUAL or _has_signature(node) or _is_given_tensors(info, name)
        ]
    env = {}
    for name in names:
        uses = _uses(module, node, name)
        if not any(_is_pipeline(module, use) for use in uses):
            several = _any_structure(module, uses) or tracing.how == "map" and _is_packed(module, uses)
            env[name] = SOME if several else TENSOR
    return env


def _is_packed(module: Module, uses: list[ast.Name]) -> bool:
    """Whether a part of a dataset's elements, which may be a tuple, is passed on in a tuple: `augment((x, seeds))`."""
    return any(
        isinstance(around := module.parent(use), ast.Tuple) and isinstance(module.parent(around), ast.Call)
        for use in uses
    )


def _is_applied_to_several(module: Module, node: FunctionNode) -> bool:
    """`Lambda(lambda x: …)([a, b])`: what the function gets is a list."""
    layer = module.parent(node)
    if isinstance(layer, ast.keyword):
        layer = module.parent(layer)
    applied = module.parent(layer) if isinstance(layer, ast.Call) else None
    if not isinstance(applied, ast.Call) or applied.func is not layer or not applied.args:
        return False
    given = module.made_by(applied.args[0])
    return isinstance(given, (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp))


_MAKERS = ("tensorflow.constant", "tensorflow.convert_to_tensor", "tensorflow.cast", "tensorflow.random.")


def _is_given_tensors(info: FunctionInfo, name: str) -> bool:
    """Whether every call of the function makes a tensor for this parameter, in its place among the arguments."""
    given = []
    for module, call in _callers(info):
        argument = argument_for(info, call, name)
        given.append(module.called(argument).startswith(_MAKERS))
    return bool(given) and all(given)


def _callers(info: FunctionInfo) -> list[tuple[Module, ast.Call]]:
    project = info.module.project
    return (project.calls_of if project is not None else info.module.calls_of).get(info.node, [])


def _given(info: FunctionInfo) -> list[str]:
    """Parameters without a default and without a Python type in their annotation."""
    arguments = info.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = positional[: len(positional) - len(arguments.defaults)]
    required += [
        argument
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    names = [argument.arg for argument in required if not _is_plain(argument.annotation)]
    bound = info.is_method and not is_static(info)
    return names[1:] if bound and names and positional[0].arg == names[0] else names


def _is_plain(annotation: ast.expr | None) -> bool:
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return isinstance(annotation, ast.Name) and annotation.id in _PLAIN_TYPES


def _has_signature(node: FunctionNode) -> bool:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return any(
        isinstance(decorator, ast.Call)
        and any(keyword.arg == "input_signature" for keyword in decorator.keywords)
        for decorator in decorators
    )


def _uses(module: Module, node: FunctionNode, name: str) -> list[ast.Name]:
    """Where the function reads the name, in its comprehensions too."""
    found = []
    for use in module.reads.get(name, ()):
        scope = module.scope(use)
        while (
            isinstance(scope.node, _COMPREHENSIONS)
            and name not in scope.bindings
            and scope.parent is not None
        ):
            scope = scope.parent
        if scope.node is node:
            found.append(use)
    return found


def used_as_structure(module: Module, node: FunctionNode, name: str) -> bool:
    """Whether a function uses a name as a tuple, list or dict somewhere."""
    return _any_structure(module, _uses(module, node, name))


def _any_structure(module: Module, uses: list[ast.Name]) -> bool:
    return any(is_taken_apart(module, use) for use in uses)


def is_taken_apart(module: Module, use: ast.expr) -> bool:
    """Whether an expression is used as a tuple, list or dict of tensors rather than as one tensor."""
    match module.parent(use):
        case ast.Assign(targets=[ast.Name(id=alias)]) if isinstance(use, ast.Name) and alias != use.id:
            # `outputs = features`, and then `outputs[str(level)]`
            function = module.function_of(use)
            uses = _uses(module, function.node, alias) if function is not None else []
            return _is_dict(module, uses)
        case ast.Assign(targets=targets):
            return any(isinstance(target, ast.Tuple) for target in targets)
        case ast.Subscript(value=value, slice=key) if isinstance(key, ast.Constant) or _is_text(key):
            return value is use
        case ast.Attribute(attr=attribute):
            return attribute in ("items", "values", "keys", "get", "pop", "copy")
        case ast.Starred() | ast.comprehension() | ast.For():
            return True
        case ast.Call() as call:
            return module.resolve(call.func) in ("len", "zip", "enumerate") or asks_for_structure(
                module, call
            )
    return False


def _is_text(key: ast.expr) -> bool:
    """Whether a key is certainly a string: `"boxes"`, `str(level)`, `f"p{level}"`."""
    match key:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id="str")) | ast.Call(func=ast.Attribute(attr="format")):
            return True
    return False


def _is_dict(module: Module, uses: list[ast.Name]) -> bool:
    """Whether a name is used as only a dict can be: `boxes["classes"]`, `boxes.items()`."""
    for use in uses:
        match module.parent(use):
            case ast.Subscript(value=value, slice=key) if value is use and _is_text(key):
                return True
            case ast.Attribute(attr="items" | "keys" | "values"):
                return True
    return False


def asks_for_structure(module: Module, call: ast.Call) -> bool:
    """Whether a call asks if something is a list, tuple or dict."""
    if module.resolve(call.func) != "isinstance" or len(call.args) != 2:
        return False
    types = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
    return all(module.resolve(kind) in ("list", "tuple", "dict", "collections.abc.Mapping") for kind in types)


def _is_pipeline(module: Module, use: ast.Name) -> bool:
    """Whether a name is a dataset, as the elements of `window` are."""
    parent = module.parent(use)
    return isinstance(parent, ast.Attribute) and parent.attr in (*ONLY_DATASETS, *ALSO_DATASETS)


def _from_callers(info: FunctionInfo) -> Env:
    """Parameters that every traced caller gives a tensor."""
    callers = _callers(info)
    env: Env = {}
    for parameter in parameters_of(info.node.args):
        uses = _uses(info.module, info.node, parameter.arg)
        if _is_dict(info.module, uses):
            continue
        values, arguments = [], []
        for module, call in callers:
            caller = module.function_of(call)
            if caller is None or caller.traced is None or caller.node is info.node:
                continue
            argument = argument_for(info, call, parameter.arg)
            values.append(_value_at(module, caller, argument))
            arguments.append(isinstance(argument, ast.Name) and argument.id in caller.parameters)
        if values and all(value == values[0] for value in values):
            # What Keras passes to `call` may be a list of tensors, and this function takes it apart.
            several = values[0] == TENSOR and all(arguments) and _any_structure(info.module, uses)
            env[parameter.arg] = SOME if several else values[0]
    return env


def _value_at(module: Module, caller: FunctionInfo, argument: ast.expr | None) -> Value:
    if argument is None:
        return NOTHING
    return module.flow(caller.node).values.get(argument, NOTHING)
