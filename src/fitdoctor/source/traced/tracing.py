"""Finds the user's functions that TensorFlow traces, why, and whether AutoGraph converts them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Location
from fitdoctor.records import dataclass, replace
from fitdoctor.source.callees import callee, is_replaced, is_self, receiver, returned_by
from fitdoctor.source.datasets import is_dataset
from fitdoctor.source.index import FUNCTIONS, FunctionNode
from fitdoctor.source.keras_backend import only_tensorflow
from fitdoctor.source.keras_objects import class_of_user
from fitdoctor.source.module import CallSite, ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.called_by_hand import (
    RUN_GRAPHS,
    called_on_values,
    may_be_compiled,
    only_called_by_hand,
)
from fitdoctor.source.traced.decided_branches import runs_eagerly_alone

METHODS = {
    "Layer": {"call": "call"},
    "Model": {
        "call": "call",
        "train_step": "train_step",
        "test_step": "test_step",
        "predict_step": "predict_step",
        "compute_loss": "loss",
        "compute_metrics": "metric",
    },
    "Loss": {"call": "loss", "__call__": "loss"},
    "Metric": {"update_state": "metric", "result": "metric"},
    "Regularizer": {"__call__": "call"},
    "Constraint": {"__call__": "call"},
}
"""Methods that Keras calls while tracing, by the kind of class."""

DATASET_FUNCTIONS = frozenset("map filter flat_map interleave reduce scan take_while group_by_window".split())
_CONTROL = frozenset(
    "tensorflow.cond tensorflow.case tensorflow.switch_case tensorflow.while_loop tensorflow.map_fn "
    "tensorflow.scan tensorflow.foldl tensorflow.foldr tensorflow.vectorized_map "
    "tensorflow.nest.map_structure tensorflow.recompute_grad tensorflow.custom_gradient "
    "tensorflow.grad_pass_through tensorflow.checkpoint keras.ops.cond keras.ops.while_loop "
    "keras.ops.map keras.ops.scan keras.ops.vectorized_map keras.ops.fori_loop keras.ops.switch "
    "keras.ops.associative_scan keras.backend.map_fn keras.backend.switch keras.backend.rnn "
    "keras.tree.map_structure".split()
)
"""Functions that call their function arguments in the same trace."""

_EAGER_SWITCHES = (
    "tensorflow.config.run_functions_eagerly",
    "tensorflow.config.experimental_run_functions_eagerly",
    "keras.config.run_functions_eagerly",
)
_PYTHON_CALLS = (
    "tensorflow.numpy_function",
    "tensorflow.py_function",
    "tensorflow.py_func",
    "tensorflow.compat.v1.py_func",
)
_MAKING = ("__init__", "build_from_config", "from_config")
_NOT_CONVERTED = "tensorflow.autograph.experimental.do_not_convert"
_LAYER_FUNCTIONS = ("activation", "recurrent_activation", "kernel_regularizer", "activity_regularizer")
_MOST_FILES = 300
"""Of a project whose programs are told apart: in larger ones, that takes too long."""
_BUILD_GRAPHS = frozenset("build save export save_weights".split())
_SYMBOLIC_MODELS = (
    "keras.Input",
    "keras.layers.Input",
    "keras.Model",
    "keras.Sequential",
    "tensorflow.saved_model.save",
)
_USE_LOSSES = "fit evaluate train_on_batch test_on_batch fit_generator search compiled_loss compute_loss train_step".split()


@dataclass(frozen=True)
class Tracing:
    """How TensorFlow comes to trace a function."""

    how: str
    """`call`, `train_step`, `test_step`, `predict_step`, `loss`, `metric`, `tf.function`, `map` or `lambda layer`."""
    autograph: bool
    """Whether AutoGraph rewrites its `if`, `for` and `while` on tensors."""
    because: Location
    """The reason: the definition, the decorator, or the argument that passes it."""
    eager: bool = False
    """Whether the program requests eager execution or trains in an eager loop, so that nothing is symbolic."""
    direct: bool = True
    """Whether TensorFlow or Keras calls it directly, rather than a traced user function."""


@dataclass(frozen=True, eq=False)
class _Root:
    info: FunctionInfo
    tracing: Tracing
    fixed: bool = False
    """Whether its own decorator decides, such as `tf.function`, regardless of the caller."""


def traced_functions(*modules: Module) -> dict[ast.AST, Tracing]:
    """Every traced function of these files with the reason, the called ones included."""
    # On another backend Keras traces nothing with TensorFlow; a `tf.function` and tf.data still do.
    eager = _trains_eagerly(modules) or not only_tensorflow(modules)
    switched = any(module.runs_eagerly for module in modules)
    found: dict[ast.AST, Tracing] = {}
    fixed: set[ast.AST] = set()
    infos: dict[ast.AST, FunctionInfo] = {}
    waiting: list[ast.AST] = []
    for root in _roots(modules, eager or switched, switched):
        node = root.info.node
        if node in fixed:
            continue
        infos[node] = root.info
        found[node] = root.tracing if root.fixed else _joined(found.get(node), root.tracing)
        waiting.append(node)
        if root.fixed:
            fixed.add(node)
    while waiting:
        reached = waiting.pop(0)
        tracing = replace(found[reached], direct=False)
        for info in _called(infos[reached]):
            if info.node in fixed or _is_entry(info) or _runs_as_python(info):
                continue
            joined = _joined(found.get(info.node), tracing)
            if joined != found.get(info.node):
                found[info.node], infos[info.node] = joined, info
                waiting.append(info.node)
    return found


def _joined(known: Tracing | None, new: Tracing) -> Tracing:
    """Merge several reasons: one without AutoGraph is enough to fail, one that traces is enough to trace."""
    if known is None:
        return new
    worse = new if known.autograph and not new.autograph else known
    return replace(worse, eager=known.eager and new.eager, direct=known.direct or new.direct)


# --- where tracing begins -----------------------------------------------------------------------------------------


def _roots(modules: tuple[Module, ...], everywhere: bool, switched: bool) -> Iterator[_Root]:
    # Scripts that share only helpers are separate programs: one may train with `fit`, another in a loop.
    loops = any(_has_loop(module) for module in modules)
    looping = loops and 1 < len(modules) <= _MOST_FILES
    # Keras calls the losses and metrics of `compile` in `fit` and the like; a custom loop calls its own.
    trains = not loops or any(
        not call.name for module in modules for call in module.method_calls(*_USE_LOSSES)
    )
    for module in modules:
        converts = module.keras == 2
        eager = everywhere or (looping and bool(module.classes) and _trains_eagerly(_programs_of(module)))
        yield from _decorated(module, switched)
        yield from _wrapped(module, switched)
        yield from _methods(module, converts, eager, modules if loops else ())
        if trains:
            yield from _compiled(module, converts, eager)
        yield from _layer_functions(module, converts, eager)
        yield from _dataset_functions(module)


def _decorated(module: Module, eager: bool) -> Iterator[_Root]:
    for node in module.nodes(ast.FunctionDef):
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if module.resolve(called) == "tensorflow.function":
                converts = _converts(decorator) and not _kept_as_is(module, node)
                info = module.function(node)
                how = _how_of_method(info) or "tf.function"
                yield _Root(info, Tracing(how, converts, module.location(decorator), eager), True)


def _kept_as_is(module: Module, node: FunctionNode) -> bool:
    """Whether a decorator keeps AutoGraph away."""
    if isinstance(node, ast.Lambda):
        return False
    called = (item.func if isinstance(item, ast.Call) else item for item in node.decorator_list)
    return any(module.resolve(decorator) == _NOT_CONVERTED for decorator in called)


def _converts(call: ast.expr) -> bool:
    """Whether `tf.function(…)` leaves AutoGraph on."""
    if not isinstance(call, ast.Call):
        return True
    return not any(
        keyword.arg == "autograph"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
        for keyword in call.keywords
    )


def _how_of_method(info: FunctionInfo) -> str:
    if info.owner is None:
        return ""
    return METHODS.get(info.owner.kind, {}).get(info.name, "")


def _wrapped(module: Module, eager: bool) -> Iterator[_Root]:
    """`tf.function(f)` and `tf.function(…)(f)`."""
    for call in module.calls_to("tensorflow.function"):
        outer = module.parent(call.node)
        given = list(call.node.args[:1])
        if isinstance(outer, ast.Call) and outer.func is call.node:
            given = list(outer.args[:1])
        given += [keyword.value for keyword in call.node.keywords if keyword.arg == "func"]
        for value in given:
            for info in functions_in(module, value):
                converts = _converts(call.node) and not _kept_as_is(module, info.node)
                yield _Root(info, Tracing("tf.function", converts, module.location(value), eager))


def _methods(module: Module, converts: bool, eager: bool, looping: tuple[Module, ...]) -> Iterator[_Root]:
    eager = eager or _only_tries_out(module)
    for info in module.classes:
        methods = dict(METHODS.get(info.kind, {}))
        if any(base.endswith("schedules.LearningRateSchedule") for base in info.bases):
            methods["__call__"] = "call"
        for name, how in methods.items():
            method = info.methods.get(name)
            if method is not None:
                rewritten = converts and not _kept_as_is(module, method.node)
                by_hand = eager or only_called_by_hand(info) or _is_given_to_python(module, name)
                by_hand = by_hand or (info.kind == "Metric" and not may_be_compiled(info))
                by_hand = by_hand or bool(looping) and info.kind == "Model" and _is_in_own_loop(info, looping)
                yield _Root(method, Tracing(how, rewritten, _head(module, method), by_hand))


def _is_in_own_loop(info: ClassInfo, modules: tuple[Module, ...]) -> bool:
    """Whether a model is only called in an eager loop, although the program runs another one with `fit` and the like."""
    runs = [call for module in modules for call in module.method_calls(*RUN_GRAPHS) if not call.name]
    return not any(map(_has_tf_function, modules)) and not any(
        class_of_user(call.module, call.receiver) is info or info.name in call.module.text
        for call in runs
        if call.receiver is not None
    )


def _is_given_to_python(module: Module, method: str) -> bool:
    """Whether a method runs on values: `tf.py_function(metric.update_state, …)`."""
    for call in module.calls_to(*_PYTHON_CALLS):
        given = call.argument("func", 0)
        if isinstance(given, ast.Attribute) and given.attr == method:
            return True
    return False


def _head(module: Module, info: FunctionInfo) -> Location:
    """The place of a function's first line, without its body."""
    whole = module.location(info.node)
    line = module.line_text(whole.line, whole.cell).rstrip()
    return replace(whole, end_line=whole.line, end_column=max(len(line) + 1, whole.column))


def _compiled(module: Module, converts: bool, eager: bool) -> Iterator[_Root]:
    """Yield functions passed to `compile` as loss or metrics."""
    for call in module.method_calls("compile"):
        if call.name or not _may_be_keras(module, call):  # re.compile and the like, models of another library
            continue
        for argument, position, how in (
            ("loss", 1, "loss"),
            ("metrics", 2, "metric"),
            ("weighted_metrics", None, "metric"),
        ):
            value = call.argument(argument, position)
            if value is not None:
                yield from _handed(module, value, how, converts, eager)
    for call in module.calls_to("keras.metrics.MeanMetricWrapper", "keras.losses.LossFunctionWrapper"):
        value = call.argument("fn", 0)
        if value is not None:
            how = "metric" if call.name.startswith("keras.metrics") else "loss"
            yield from _handed(module, value, how, converts, eager)


def _may_be_keras(module: Module, call: CallSite) -> bool:
    """Whether neither the class of a model nor what its file imports says that the model is one of another library."""
    owner = class_of_user(module, call.receiver) if call.receiver is not None else None
    if owner is not None and owner.kind != "Model" and not any(base for base in owner.bases):
        return False
    imported = {module.imported(alias).partition(".")[0] for alias in module.nodes(ast.alias)}
    return not imported & _OTHER_LIBRARIES or bool(imported & {"keras", "tensorflow", "tf_keras"})


_OTHER_LIBRARIES = frozenset({"torch", "paddle", "mindspore", "mxnet", "tinygrad"})


def _layer_functions(module: Module, converts: bool, eager: bool) -> Iterator[_Root]:
    """Functions of Lambda layers, and activations that are functions of the user's."""
    for call in module.calls_under("keras.layers."):
        if call.name == "keras.layers.Lambda":
            value = call.argument("function", 0)
            if value is not None:
                tried = eager or called_on_values(module, call.node)
                yield from _handed(module, value, "lambda layer", converts, tried)
        for keyword in call.node.keywords:
            if keyword.arg in _LAYER_FUNCTIONS:
                yield from _handed(module, keyword.value, "call", converts, eager)
        if call.name == "keras.layers.Activation" and call.node.args:
            yield from _handed(module, call.node.args[0], "call", converts, eager)


def _dataset_functions(module: Module) -> Iterator[_Root]:
    for call in module.method_calls(*DATASET_FUNCTIONS):
        if call.name or not isinstance(call.node.func, ast.Attribute) or not is_dataset(module, call.node):
            continue
        given = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
        for value in given:
            # tf.data traces whatever the program asks of functions: eager switches do not reach it.
            yield from _handed(module, value, "map", True, False)


def _handed(module: Module, value: ast.expr, how: str, converts: bool, eager: bool) -> Iterator[_Root]:
    for info in functions_in(module, value):
        if _runs_as_python(info):
            continue
        rewritten = converts and not _kept_as_is(info.module, info.node)
        yield _Root(info, Tracing(how, rewritten, module.location(value), eager))


def functions_in(module: Module, value: ast.expr, depth: int = 4) -> Iterator[FunctionInfo]:
    """The user's functions that a value names: itself, in a list or dict, or as what a function returns."""
    if depth == 0:
        return
    if isinstance(value, (ast.List, ast.Tuple)):
        for element in value.elts:
            yield from functions_in(module, element, depth - 1)
    elif isinstance(value, ast.Dict):
        for element in value.values:
            yield from functions_in(module, element, depth - 1)
    elif isinstance(value, (ast.Name, ast.Attribute, ast.Lambda)):
        found = _method(module, value) or module.definition(value)
        if isinstance(found, FunctionInfo):
            yield found
        elif found is None and isinstance(value, ast.Name):
            made = module.origin(value)
            # `for step in STEPS: ds = ds.map(step)` passes each of them.
            if made.node is not value and made.path in ((), (None,)):
                yield from functions_in(made.module, made.node, depth - 1)
    elif isinstance(value, ast.ListComp):
        yield from functions_in(module, value.elt, depth - 1)
    elif isinstance(value, ast.Subscript):
        entry = module.origin(value)  # of a dict of functions: `LOSSES["dice"]`
        if entry.node is value:
            yield from _registered(module, value.value, depth)
        elif not entry.path:
            yield from functions_in(entry.module, entry.node, depth - 1)
    elif isinstance(value, ast.Call):
        yield from _functions_made_by(module, value, depth)


def _registered(module: Module, table: ast.expr, depth: int) -> Iterator[FunctionInfo]:
    """Yield the functions in a dict at module level: those written in it, stored in it, or put there by a decorator."""
    end = module.origin(table)
    home, targets = end.module, getattr(end.module.parent(end.node), "targets", [])
    if not isinstance(end.node, ast.Dict) or len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return
    yield from functions_in(home, end.node, depth - 1)
    for store in home.nodes(ast.Subscript):
        statement, function = home.parent(store), home.function_of(store)
        if not isinstance(statement, ast.Assign) or getattr(store.value, "id", "") != targets[0].id:
            continue
        if function is None or getattr(statement.value, "id", "") not in function.parameters:
            yield from functions_in(home, statement.value, depth - 1)
            continue
        registrars = [
            function.node,
            *(each for each in home.parents(function.node) if isinstance(each, FUNCTIONS)),
        ]
        for one in home.project.modules if home.project is not None else (home,):
            for node in one.nodes(ast.FunctionDef):
                for decorator in node.decorator_list:
                    made = one.definition(decorator.func if isinstance(decorator, ast.Call) else decorator)
                    if isinstance(made, FunctionInfo) and made.node in registrars:
                        yield one.function(node)


def _method(module: Module, value: ast.expr) -> FunctionInfo | None:
    """Return a method that is passed on: `self.augment`, `Augment().apply`, `augment.apply`."""
    if not isinstance(value, ast.Attribute):
        return None
    owner = module.class_of(value) if is_self(module, value.value) else receiver(module, value.value)
    return owner.module.method(owner, value.attr) if owner and not is_replaced(module, owner, value) else None


def _functions_made_by(module: Module, call: ast.Call, depth: int) -> Iterator[FunctionInfo]:
    if module.resolve(call.func) == "functools.partial" and call.args:
        yield from functions_in(module, call.args[0], depth - 1)
        return
    factory = callee(module, call)
    if factory is None or factory.name == "__init__":
        return
    made = returned_by(factory)
    if made is not None and isinstance(made, (ast.Name, ast.Lambda)):
        yield from functions_in(factory.module, made, depth - 1)


# --- what runs within it ------------------------------------------------------------------------------------------


def _called(info: FunctionInfo) -> Iterator[FunctionInfo]:
    module = info.module
    for call in module.calls_in.get(info.node, ()):
        if call.name in _CONTROL or call.method == "run":
            for value in (*call.node.args, *(keyword.value for keyword in call.node.keywords)):
                yield from functions_in(module, value)
            continue
        found = callee(module, call.node)
        one_of = (found,) if found is not None else functions_in(module, call.node.func)
        for each in one_of:
            if not _runs_the_model(each) and not runs_eagerly_alone(info, call.node):
                yield each


def _runs_the_model(info: FunctionInfo) -> bool:
    """Whether a method replaces one of Keras that cannot run in a trace at all: `predict` and the like."""
    owner = info.owner
    return owner is not None and owner.kind == "Model" and info.name in ("fit", "predict", "evaluate")


def _is_entry(info: FunctionInfo) -> bool:
    """Methods that Keras calls by itself, in its own way, and constructors, which make things and compute nothing."""
    return info.name in _MAKING or bool(_how_of_method(info))


def _runs_as_python(info: FunctionInfo) -> bool:
    """Whether a decorator lets the graph call it each time it runs: `@tf.numpy_function(Tout=…)`, or one of the user's."""
    for decorator in getattr(info.node, "decorator_list", ()):
        parts = [decorator.func, *decorator.args] if isinstance(decorator, ast.Call) else [decorator]
        if any(info.module.resolve(part) in _PYTHON_CALLS for part in parts):
            return True
        own = info.module.definition(parts[0])
        if own is not None and any(
            own.module.resolve(call.func) in _PYTHON_CALLS
            for call in ast.walk(own.node)
            if isinstance(call, ast.Call)
        ):
            return True
    return False


# --- eager execution ----------------------------------------------------------------------------------------------


def asks_for_eager(module: Module) -> bool:
    """Whether a file switches graphs off: `run_eagerly=True`, `tf.config.run_functions_eagerly(True)`."""
    for call in module.calls_to(*_EAGER_SWITCHES):
        if not (call.node.args and _is_false(call.node.args[0])):
            return True
    for call in module.method_calls("compile"):
        value = call.argument("run_eagerly")
        if value is not None and not _is_false(value):
            return True
    for attribute in module.attributes.get("run_eagerly", ()):
        if isinstance(attribute.ctx, ast.Store):
            statement = module.parent(attribute)
            if not (isinstance(statement, ast.Assign) and _is_false(statement.value)):
                return True
    return False


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _only_tries_out(module: Module) -> bool:
    """Whether a notebook only calls its layers on values: nothing in it compiles, trains, saves or links symbolic inputs."""
    return (
        module.facts.cells is not None
        and not any(_is_of_object(module, call) for call in module.method_calls(*RUN_GRAPHS, *_BUILD_GRAPHS))
        and not module.calls_to(*_SYMBOLIC_MODELS)
        and not _has_tf_function(module)
    )


def _is_of_object(module: Module, call: CallSite) -> bool:
    """Whether it is a method of some object, and neither a function of a library nor `super().build(…)`."""
    owner = call.receiver if isinstance(call.node.func, ast.Attribute) else None
    inherited = module.called(owner) == "super"
    return not call.name and not inherited


def _trains_eagerly(modules: tuple[Module, ...]) -> bool:
    """Whether the files train only in an eager custom loop, so that layers run eagerly."""
    loops = False
    for module in modules:
        if _has_tf_function(module) or any(not call.name for call in module.method_calls(*RUN_GRAPHS)):
            return False
        loops = loops or _has_loop(module)
    return loops


def _has_tf_function(module: Module) -> bool:
    return bool(module.calls_to("tensorflow.function")) or any(
        module.resolve(decorator) == "tensorflow.function" for decorator in _decorators(module)
    )


def _has_loop(module: Module) -> bool:
    """Whether a file computes gradients itself, outside a `train_step`."""
    owners = [
        call.function.owner if call.function else None for call in module.calls_to("tensorflow.GradientTape")
    ]
    return any(owner is None or not _is_trainer(owner) for owner in owners)


def _programs_of(module: Module) -> tuple[Module, ...]:
    return module.project.programs_of(module) if module.project is not None else (module,)


def _decorators(module: Module) -> Iterator[ast.expr]:
    for node in module.nodes(ast.FunctionDef):
        for decorator in node.decorator_list:
            yield decorator.func if isinstance(decorator, ast.Call) else decorator


def _is_trainer(owner: ClassInfo) -> bool:
    return owner.kind == "Model" and any(name in owner.methods for name in ("train_step", "test_step"))
