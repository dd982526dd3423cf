"""`tf.function` around unbuilt layers: Keras 3 first traces it to infer shapes, with weights as constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.tracing.gradient_ways import tapes
from fitdoctor.catalogue.training_loops import decorator_of
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.records import dataclass
from fitdoctor.source.callees import is_self, receiver
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import name_of, own_nodes

_HAVE_WEIGHTS = frozenset(
    "Dense EinsumDense Embedding Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose SeparableConv1D "
    "SeparableConv2D DepthwiseConv1D DepthwiseConv2D LSTM GRU SimpleRNN LSTMCell GRUCell SimpleRNNCell RNN ConvLSTM2D "
    "Bidirectional TimeDistributed BatchNormalization LayerNormalization GroupNormalization MultiHeadAttention "
    "PReLU".split()
)
_GIVE_A_SHAPE = ("Input", "InputLayer")


@dataclass(frozen=True, eq=False)
class Compiled:
    """A method under `tf.function` that builds layers in its first trace."""

    owner: ClassInfo
    function: FunctionInfo
    decorator: ast.expr
    layers: tuple[str, ...]
    """The attributes of the layers."""

    @property
    def is_whole_call(self) -> bool:
        """Return whether the method is everything the class computes."""
        return self.function.name == "call"


def compiled_while_building(module: Module) -> Iterator[Compiled]:
    """Return methods under `tf.function`, in layers and models, whose layers get their weights in the first trace."""
    if module.keras != 3 or module.runs_eagerly:
        return
    for owner in module.classes:
        call = module.method(owner, "call")
        if owner.kind not in ("Model", "Layer") or call is None or module.method(owner, "build") is not None:
            continue
        for function in (call, *_helpers(module, owner, call)):
            decorator = decorator_of(function)
            layers = _layers_used(module, owner, function) if decorator is not None else ()
            if decorator is not None and layers:
                yield Compiled(owner, function, decorator, layers)


def _helpers(module: Module, owner: ClassInfo, call: FunctionInfo) -> list[FunctionInfo]:
    """Return the methods that `call` calls."""
    found: list[FunctionInfo] = []
    for node in own_nodes(call):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and is_self(module, node.func.value)
        ):
            method = module.method(owner, node.func.attr)
            if method is not None and method not in found:
                found.append(method)
    return found


def _layers_used(module: Module, owner: ClassInfo, function: FunctionInfo) -> tuple[str, ...]:
    """Return the attributes that a method reads and that `__init__` sets to layers without an input shape."""
    maker = module.method(owner, "__init__")
    stores = module.attribute_stores(owner.node)
    found: list[str] = []
    for node in own_nodes(function):
        if not isinstance(node, ast.Attribute) or not is_self(module, node.value) or node.attr in found:
            continue
        values = [
            statement.value
            for target in stores.get(node.attr, ())
            if isinstance(statement := module.parent(target), ast.Assign)
            and module.function_of(target) is maker
        ]
        if values and all(_is_unbuilt(module, value) for value in values):
            found.append(node.attr)
    return tuple(found)


def _is_unbuilt(module: Module, value: ast.expr) -> bool:
    """Return whether a value contains layers with weights but without an input shape."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    names = [module.resolve(call.func) for call in calls]
    layers = [name.rpartition(".")[2] for name in names if name.startswith("keras.")]
    told = any(name in _GIVE_A_SHAPE for name in layers) or any(
        keyword.arg in ("input_shape", "input_dim", "batch_input_shape")
        for call in calls
        for keyword in call.keywords
    )
    return not told and any(name in _HAVE_WEIGHTS for name in layers)


def is_fitted_unbuilt(compiled: Compiled) -> bool:
    """Return whether an instance of the class is trained without being built or called before."""
    module = compiled.owner.module
    if module.method_calls("build"):
        return False
    called = [
        site.node
        for site in module.calls
        if isinstance(site.node.func, (ast.Name, ast.Attribute))
        and receiver(module, site.node.func) is compiled.owner
    ]
    blocks = [tape.block for tape in tapes(module)]
    if called:
        first = min(called, key=lambda call: call.lineno)
        return any(block.lineno < first.lineno <= (block.end_lineno or 0) for block in blocks)
    return is_fitted(compiled.owner)


def is_fitted(owner: ClassInfo) -> bool:
    """Return whether the file fits a model of that class."""
    module = owner.module
    return any(receiver(module, site.receiver) is owner for site in module.method_calls("fit"))


def compiled_finding(cause: Cause, compiled: Compiled, effect: str) -> Finding:
    """Return the finding for such a method, with the decorator removed as the fix."""
    where = compiled.owner.module.location(compiled.decorator)
    layers = listing([f"self.{name}" for name in compiled.layers], 4)
    return cause.finding(
        f"{name_of(compiled.function)} is a `tf.function` that Keras traces while building {layers}, so "
        f"their weights become constants{effect}",
        where,
        Evidence(
            "Keras 3 traces it first to infer shapes, and reuses that trace for training", location=where
        ),
        fix("remove `tf.function`: Keras compiles the whole step itself", (Edit(where.lines, ""),)),
        subject=f"class {compiled.owner.name}",
    )
