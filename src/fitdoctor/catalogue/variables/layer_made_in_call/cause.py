"""Layer or weight created on every call.

## What happens

The first step of `fit` raises `ValueError: tf.function only supports singleton tf.Variables created on the first
call`. If a layer adds a weight in `call`, a functional model that uses it cannot be built: `Could not automatically
infer the output shape`. In eager mode nothing fails, but the weights of the new layer are never trained.

## Why

A layer's weights must outlive the call. `call` runs every time Keras traces the model, so a layer created there is a
different layer each time.

## Fix

Create layers in `__init__`, and weights in `__init__` or `build`; only use them in `call`. The same applies to a
metric created in a metric function, in `update_state` or in a `tf.function`, because a metric keeps its state in
variables.

## Known limits

Layers without weights (ReLU, Flatten, Concatenate) can be created in `call`, and so can layers guarded by `if
self.dense is None`. Neither is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.traceback_lines import made_on_last_line
from fitdoctor.catalogue.variables.made_in_build import made_in_build
from fitdoctor.catalogue.variables.made_once import Making, made_before, made_in_init
from fitdoctor.diagnosis import Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.frames import is_keras
from fitdoctor.failure.traced_code import library_behind
from fitdoctor.records import replace
from fitdoctor.source.callees import callers_of
from fitdoctor.source.conditions import is_conditional
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.module import CallSite, ClassInfo, FunctionInfo, Module
from fitdoctor.source.traced.symbolic import name_of, traced_evidence, traced_functions

CAUSE = Cause(
    id="FIT502", slug="layer-made-in-call", severity=Severity.ERROR, raises="ValueError", explains=("FIT501",)
)

WITH_WEIGHTS = frozenset(
    """Dense EinsumDense Embedding BatchNormalization LayerNormalization GroupNormalization UnitNormalization
    Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose SeparableConv1D SeparableConv2D
    DepthwiseConv1D DepthwiseConv2D LSTM GRU SimpleRNN RNN ConvLSTM1D ConvLSTM2D ConvLSTM3D Bidirectional
    TimeDistributed MultiHeadAttention GroupQueryAttention AdditiveAttention PReLU SpectralNormalization""".split()
)
_RANDOM = frozenset(
    """Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianNoise GaussianDropout AlphaDropout
    RandomFlip RandomRotation RandomZoom RandomContrast RandomBrightness RandomTranslation RandomCrop""".split()
)
"""Layers that keep the state of a random generator in a variable, since Keras 3."""
_VARIABLES = frozenset({"tensorflow.Variable", "keras.Variable", "keras.backend.variable"})
_REFUSED = (
    "tf.function only supports singleton tf.Variables|Tried to create a tf.Variable inside a tf.function"
    "|could not be lifted out|You cannot add new elements of state|non-first call"
)
_PREPARING = ("build", "__init__")


def _made_a_layer(failure: FailureFacts) -> bool:
    """Return whether the last line of the user's code creates a layer, as far as a saved traceback shows."""
    made = made_on_last_line(failure)
    return made == "layer" or made == "" and any(is_keras(frame.path) for frame in library_behind(failure))


@CAUSE.rule(
    "def",
    "lambda",
    says=_REFUSED,
    fits=_made_a_layer,
    unread=True,
    problem="traced code creates a layer, which would create new weights in every trace",
    remedy="create the layer once, outside the traced function",
    subject="layer created while tracing",
)
def made_in_traced_code(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find constructors of layers with weights, and `add_weight` calls, in traced code."""
    if failure is not None:
        for site in module.calls:
            maker = _maker(module, site) if site.function is not None else None
            if maker is not None and site.function is not None and site.function.name not in _PREPARING:
                used = Evidence("used here", location=module.location(site.node))
                found = _finding(maker.module, maker, site.function)
                yield replace(found, evidence=(*found.evidence, used))
        return
    for function in traced_functions(module):
        if function.name in _PREPARING or _is_called_once(function):
            continue
        for site in module.calls_in.get(function.node, ()):
            if _makes_state(module, site) and not _is_made_once(module, site.node, function):
                for made, within in _returned_to(site, function) or [(site, function)]:
                    yield _finding(made.module, made, within)
                break


def _returned_to(site: CallSite, function: FunctionInfo) -> list[tuple[CallSite, FunctionInfo]]:
    """Return the traced calls of a helper that returns the layer it creates: these calls have to move."""
    returned = function.owner is None and isinstance(site.module.parent(site.node), ast.Return)
    return (
        [(module.call(call), caller) for module, call, caller in _traced_calls(function)] if returned else []
    )


def _traced_calls(function: FunctionInfo) -> list[tuple[Module, ast.Call, FunctionInfo]]:
    return [
        (module, call, caller)
        for module, call in callers_of(function)
        if (caller := module.function_of(call)) is not None
        and caller.traced is not None
        and caller.name not in _PREPARING
    ]


def _is_made_once(module: Module, node: ast.AST, function: FunctionInfo) -> bool:
    """Return whether a condition may hold only in the first call; an attribute that only `__init__` sets does not count."""
    child, parent = node, module.parent(node)
    while parent is not None and parent is not function.node:
        settled = isinstance(parent, ast.If) and child is not parent.test and _is_settled(module, parent.test)
        if not settled and is_conditional(module, child, module.parent(parent)):
            return True
        child, parent = parent, module.parent(parent)
    return False


def _is_called_once(function: FunctionInfo, within: tuple[FunctionInfo, ...] = ()) -> bool:
    """Return whether all traced calls of a helper are guarded: `if self.inner is None: self._make(x.shape)`.

    A call without a guard will do in a helper whose own calls are guarded.
    """
    if function.traced is None or function.traced.direct or function in within:
        return False
    calls = _traced_calls(function)
    return bool(calls) and all(
        _is_made_once(module, call, caller) or _is_called_once(caller, (*within, function))
        for module, call, caller in calls
    )


def _is_settled(module: Module, test: ast.expr) -> bool:
    """Return whether the condition is `self.skip` or `not self.skip`, which is fixed at construction."""
    asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    owner = module.class_of(test)
    stores = (
        module.attribute_stores(owner.node).get(module.own_attribute(asked), []) if owner is not None else []
    )
    makers = [module.function_of(store) for store in stores]
    return bool(makers) and all(maker is not None and maker.name == "__init__" for maker in makers)


def _makes_state(module: Module, site: CallSite) -> bool:
    if site.method == "add_weight":
        return isinstance(site.receiver, ast.Name) and site.receiver.id == "self"
    if site.name == "keras.layers.Normalization":
        return not {"mean", "variance"} & {keyword.arg for keyword in site.node.keywords}
    if site.name.startswith("keras.layers."):
        return _has_variables(module, site.name)
    if site.name in ("keras.Sequential", "keras.models.Sequential"):
        inside = [
            node for node in ast.walk(site.node) if isinstance(node, ast.Call) and node is not site.node
        ]
        return any(_makes_state(module, module.call(node)) for node in inside)
    if _is_metric(module, site):
        return True
    made = module.definition(site.node.func)
    return isinstance(made, ClassInfo) and made.kind in ("Layer", "Model") and _has_state(made, ())


def _has_variables(module: Module, name: str) -> bool:
    """Return whether a Keras layer, by dotted name, creates variables."""
    kind = name.rpartition(".")[2]
    return name.startswith("keras.layers.") and (
        kind in WITH_WEIGHTS or kind in _RANDOM and module.keras != 2
    )


def _is_metric(module: Module, site: CallSite) -> bool:
    """Return whether a call creates a metric, which keeps its state in variables from the start."""
    if site.name.startswith("keras.metrics."):
        return kind_of_call(module, site.node) == "Metric"
    made = module.definition(site.node.func) if not site.name else None
    return isinstance(made, ClassInfo) and made.kind == "Metric"


def _has_state(info: ClassInfo, within: tuple[ClassInfo, ...]) -> bool:
    """Return whether a custom class creates variables; one that only computes can be recreated each time."""
    for ancestor in info.module.ancestry(info):
        if any(_has_variables(ancestor.module, base) for base in ancestor.bases):
            return True
        for site in ancestor.module.calls:
            if site.function is None or site.function.owner is not ancestor:
                continue
            if site.method == "add_weight" or site.name in _VARIABLES:
                return True
            if _has_variables(site.module, site.name):
                return True
            made = ancestor.module.definition(site.node.func)
            if not isinstance(made, ClassInfo) or made.kind not in ("Layer", "Model"):
                continue
            if made not in (*within, info) and _has_state(made, (*within, info)):
                return True
    return False


def _finding(module: Module, site: CallSite, function: FunctionInfo) -> Finding:
    kind = "metric" if _is_metric(module, site) else "layer"
    what = f"a `{module.segment(site.node.func).rpartition('.')[2]}` {kind}"
    return CAUSE.finding(
        f"{name_of(function)} creates {'a weight' if site.method == 'add_weight' else what} every time it is traced",
        module.location(site.node),
        traced_evidence(function),
        _METRIC_ONCE if kind == "metric" else _made_once(module, site, function),
        subject=f"{kind} created in {function.qualname}",
    )


_METRIC_ONCE = fix(
    "create the metric once, in `__init__` or outside the function; it accumulates over batches, so reset it if you need "
    "the value of a single batch"
)


def _made_once(module: Module, site: CallSite, function: FunctionInfo) -> Fix:
    """Move the constructors of this method to where they run once, if they do not depend on the call."""
    others = module.calls_in.get(function.node, ())
    if site.method == "add_weight":
        weights = [other.node for other in others if other.method == "add_weight"]
        return fix("add the weight in `build` and use it here", made_in_build(function, weights))
    makings = [
        Making(other.node, module.segment(other.node))
        for other in others
        if other.method != "add_weight" and (other.node is site.node or _makes_state(module, other))
    ]
    for title, edits in (
        ("create it once in `__init__` and use it here", made_in_init(function, makings)),
        ("create it once, before the function, and use it here", made_before(function, makings)),
        (
            "create it once in `build`, which knows the shape of the input, and use it here",
            made_in_build(function, [making.call for making in makings]),
        ),
    ):
        if edits:
            return fix(title, edits)
    return fix("create it once in `__init__` and use it here; a helper becomes a layer class that owns it")


def _maker(module: Module, site: CallSite) -> CallSite | None:
    """Return the call that creates a layer, also for a layer that the function or a helper of it created earlier."""
    if _makes_state(module, site):
        return site
    end = module.origin(site.node.func)
    if not isinstance(end.node, ast.Call) or end.path:
        return None
    made = end.module.call(end.node)
    helped = next((step.node for step in end.steps if step.how == "return" and step.module is module), None)
    if isinstance(helped, ast.Call) and module.function_of(helped) is site.function:
        if made.function is not None and made.function.owner is None and _makes_state(end.module, made):
            return module.call(helped)  # a helper makes the layer: the call of the helper is what has to move
    here = made.function is site.function or made.function is not None and made.function.name != "__init__"
    return made if here and made.function is not None and _makes_state(end.module, made) else None
