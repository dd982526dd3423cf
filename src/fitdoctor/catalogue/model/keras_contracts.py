"""The arguments with which Keras calls the user's methods and functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.records import dataclass
from fitdoctor.source.keras_objects import defines, kind_of_value
from fitdoctor.source.module import CallSite, ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.tracing import functions_in


@dataclass(frozen=True)
class Contract:
    """The arguments that Keras passes in a call."""

    positional: tuple[str, ...] = ()
    """Positional arguments, named as in the Keras documentation."""
    keywords: tuple[str, ...] = ()
    """Keyword arguments."""

    @property
    def signature(self) -> str:
        """Return the parameters as written in a function definition."""
        return ", ".join((*self.positional, *(f"{name}=None" for name in self.keywords)))


_EPOCH = Contract(("epoch", "logs"))
_BATCH = Contract(("batch",), ("logs",))
_WHOLE = Contract(("logs",))

METHODS: dict[str, dict[str, Contract]] = {
    "Callback": {
        **{f"on_epoch_{when}": _EPOCH for when in ("begin", "end")},
        **{
            f"on_{phase}batch_{when}": _BATCH
            for phase in ("", "train_", "test_", "predict_")
            for when in ("begin", "end")
        },
        **{
            f"on_{phase}_{when}": _WHOLE
            for phase in ("train", "test", "predict")
            for when in ("begin", "end")
        },
    },
    "Loss": {
        "call": Contract(("y_true", "y_pred")),
        "__call__": Contract(("y_true", "y_pred", "sample_weight")),
    },
    "Metric": {
        "update_state": Contract(("y_true", "y_pred"), ("sample_weight",)),
        "result": Contract(),
        "reset_state": Contract(),
    },
    "Model": {
        "train_step": Contract(("data",)),
        "test_step": Contract(("data",)),
        "predict_step": Contract(("data",)),
        "compute_loss": Contract(("x", "y", "y_pred", "sample_weight")),
        "compute_metrics": Contract(("x", "y", "y_pred"), ("sample_weight",)),
    },
    "Regularizer": {"__call__": Contract(("x",))},
    "Constraint": {"__call__": Contract(("w",))},
}
"""Methods that Keras 3 calls (`call` of layers and models depends on the caller)."""

FUNCTIONS: dict[str, Contract] = {
    "loss": Contract(("y_true", "y_pred")),
    "metric": Contract(("y_true", "y_pred")),
}
"""Functions passed to `compile`."""


_INPUTS = frozenset({"x", "inputs", "input", "input_tensor", "tensor"})
"""First parameters that suggest a `call` without `self`."""


def misfit(function: FunctionInfo, contract: Contract) -> str:
    """Return why Keras cannot call a function in this way; "" if it can."""
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    required = len(names) - len(arguments.defaults)
    if function.is_method and not is_static(function):
        if arguments.vararg is None and (not names or names[0] in contract.positional):
            return "it has no `self`"
        names, required = names[1:], required - 1
    given = len(contract.positional)
    if given > len(names) and arguments.vararg is None:
        return f"it takes {_count(len(names))}, but Keras passes {given}: {_quoted(contract.positional)}"
    by_name = set(contract.keywords)
    keyword_only = [argument.arg for argument in arguments.kwonlyargs]
    unknown = by_name - set(names[given:]) - set(keyword_only)
    if unknown and arguments.kwarg is None:
        return f"it does not accept `{sorted(unknown)[0]}`, which Keras passes by name"
    missing = [name for name in names[given:required] if name not in by_name]
    missing += [
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None and argument.arg not in by_name
    ]
    if missing:
        return f"it requires {_quoted(missing)}, which Keras does not pass"
    return ""


def _count(number: int) -> str:
    return f"{number} argument{'s' * (number != 1)}"


def _quoted(names: list[str] | tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join(quoted) if len(quoted) <= 2 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def is_static(function: FunctionInfo) -> bool:
    """Whether a method gets no `self`."""
    return _decorated_by(function, "staticmethod")


def _decorated_by(function: FunctionInfo, *names: str) -> bool:
    if isinstance(function.node, ast.Lambda):
        return False
    return any(function.module.resolve(item) in names for item in function.node.decorator_list)


def contracts_in(module: Module) -> Iterator[tuple[FunctionInfo, Contract, str]]:
    """Yield the user's functions that Keras certainly calls, with the arguments it passes and their kind."""
    for owner in module.classes:
        call = owner.methods.get("call")
        if (
            call is not None
            and owner.kind in ("Layer", "Model")
            and call.parameters[:1]
            and not is_static(call)
        ):
            if call.parameters[0] in _INPUTS:
                yield call, Contract(call.parameters[:1]), owner.kind.lower()
        for name, contract in METHODS.get(owner.kind, {}).items():
            method = owner.methods.get(name)
            if method is not None and is_called_as_written(method) and _is_left_to_keras(owner, name):
                yield method, _as_keras_calls(method, contract), owner.kind.lower()
    for function, contract, kind in _handed_over(module):
        if is_called_as_written(function):
            yield function, contract, kind


def _as_keras_calls(method: FunctionInfo, contract: Contract) -> Contract:
    """Adjust a contract: Keras passes `training` to a `compute_loss` that has it; Keras 2 passes `logs` by position."""
    if method.module.keras == 2 and method.owner is not None and method.owner.kind == "Callback":
        return Contract((*contract.positional, *contract.keywords))
    if method.name == "compute_loss" and "training" in method.parameters:
        return Contract(contract.positional, ("training",))
    return contract


def is_called_as_written(function: FunctionInfo) -> bool:
    """Whether no decorator changes the arguments; `tf.function` does not."""
    if isinstance(function.node, ast.Lambda):
        return True
    module = function.module
    for decorator in function.node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = module.resolve(called)
        if name not in ("tensorflow.function", "staticmethod") and "register_keras_serializable" not in name:
            return False
    return True


def _is_left_to_keras(owner: ClassInfo, name: str) -> bool:
    """Whether only Keras calls the method; a program may call it with its own arguments."""
    module = owner.module
    if owner.kind == "Callback":
        return True
    if owner.kind == "Loss" and name == "call":
        return module.method(owner, "__call__") is None
    if owner.kind in ("Loss", "Metric"):
        return _is_compiled(owner)
    if name in ("compute_loss", "compute_metrics"):
        return module.method(owner, "train_step") is None and not is_called_by_program(module, name)
    if name.endswith("_step"):
        # On JAX, the state is passed first and returned with the logs.
        return (
            module.on_tensorflow
            and module.method(owner, "fit") is None
            and not is_called_by_program(module, name)
        )
    return True


def is_called_by_program(module: Module, name: str) -> bool:
    """Whether the program calls a method of that name, other than on `super()`."""
    modules = module.project.modules if module.project is not None else (module,)
    for one in modules:
        for site in one.method_calls(name):
            receiver = site.node.func.value if isinstance(site.node.func, ast.Attribute) else None
            if not (isinstance(receiver, ast.Call) and one.resolve(receiver.func) == "super"):
                return True
    return False


def _is_compiled(owner: ClassInfo) -> bool:
    """Whether an instance of the class is passed to `compile`, directly or by name."""
    module = owner.module
    for one in module.project.modules if module.project is not None else (module,):
        for call in _compile_calls(one):
            for value in (*call.node.args, *(keyword.value for keyword in call.node.keywords)):
                if any(_makes(one, part, owner) for part in ast.walk(value)):
                    return True
    return False


def _makes(module: Module, part: ast.AST, owner: ClassInfo) -> bool:
    if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
        origin = module.origin(part)
        module, part = origin.module, origin.node
    return isinstance(part, ast.Call) and module.definition(part.func) is owner


def _handed_over(module: Module) -> Iterator[tuple[FunctionInfo, Contract, str]]:
    """Yield the functions that the file passes to Keras unchanged."""
    for call in _compile_calls(module):
        for argument, position, kind in (
            ("loss", 1, "loss"),
            ("metrics", 2, "metric"),
            ("weighted_metrics", None, "metric"),
        ):
            for function in _functions(module, call.argument(argument, position)):
                yield function, FUNCTIONS[kind], kind
    for call in module.calls_to("keras.layers.Lambda"):
        if call.argument("arguments") is None:
            for function in _functions(module, call.argument("function", 0)):
                settings = tuple(name for name in ("mask", "training") if name in function.parameters)
                yield function, Contract(("inputs",), settings), "Lambda layer"
    for call in module.calls_to("keras.callbacks.LearningRateScheduler"):
        for function in _functions(module, call.argument("schedule", 0)):
            # Keras tries `(epoch, lr)` first, then `(epoch)`.
            both = Contract(("epoch", "lr"))
            yield function, both if not misfit(function, both) else Contract(("epoch",)), "schedule"


def _functions(module: Module, value: ast.expr | None) -> Iterator[FunctionInfo]:
    if value is not None and not _binds_arguments(module, value):
        yield from (function for function in functions_in(module, value) if function.owner is None)


def _compile_calls(module: Module) -> Iterator[CallSite]:
    """Yield calls of Keras's own `compile` on models with the default training step."""
    for call in module.method_calls("compile"):
        if call.name or not isinstance(call.node.func, ast.Attribute):  # re.compile and the like
            continue
        receiver = call.node.func.value
        if isinstance(receiver, ast.Call) and module.resolve(receiver.func) == "super":
            continue
        if any(defines(module, receiver, name) for name in ("compile", "train_step")):
            continue
        if _overridden(module) and not kind_of_value(module, receiver):
            continue
        yield call


def _overridden(module: Module) -> bool:
    """Whether a class of the program overrides `compile`."""
    modules = module.project.modules if module.project is not None else (module,)
    return any("compile" in owner.methods for one in modules for owner in one.classes)


def _binds_arguments(module: Module, value: ast.expr) -> bool:
    """Whether `functools.partial` or similar binds arguments before Keras calls the function."""
    for part in ast.walk(value):
        where, node = module, part
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
            origin = module.origin(part)
            where, node = origin.module, origin.node
        if isinstance(node, ast.Call) and where.resolve(node.func) in (
            "functools.partial",
            "functools.wraps",
        ):
            return True
    return False
