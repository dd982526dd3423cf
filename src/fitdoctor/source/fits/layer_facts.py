"""Facts about layers in the source."""

from __future__ import annotations

from typing import Any

from fitdoctor.facts import LayerFacts, Shape, Unknown
from fitdoctor.records import replace
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.values import Array, LayerRecord, ModelRecord, Ref, Value
from fitdoctor.source.models.layer_settings import Dims, LayerPlan
from fitdoctor.source.models.model_shapes import applied_to, input_shapes, model_outputs
from fitdoctor.source.models.static_models import layers_of

_UNKNOWN = Unknown("not evident from the source")
_MOST_SUBLAYERS = 200


def shape_fact(dims: Dims | Unknown) -> Shape | Unknown:
    """Return a complete shape or Unknown; only the batch axis may be unknown."""
    if isinstance(dims, Unknown):
        return _UNKNOWN
    rest = dims[1:]
    if any(isinstance(dim, Unknown) for dim in rest):
        return _UNKNOWN
    first = dims[0] if dims and isinstance(dims[0], int) else None
    return (first, *(dim for dim in rest if not isinstance(dim, Unknown))) if dims else ()


def layers_facts(run: Interpreter, record: ModelRecord, x: Value | None = None) -> tuple[LayerFacts, ...]:
    """Return the layers of a model in Keras's order; empty if unknown."""
    refs = layers_of(run, record)
    if refs is None or (record.open and record.kind != "functional"):
        return ()
    facts = [layer_facts(run, ref, index) for index, ref in enumerate(refs)]
    if record.kind == "sequential" and record.input_dims is None and record.shapes == ():
        return _on_data(run, refs, facts, x)
    return tuple(facts)


def _on_data(
    run: Interpreter, refs: tuple[Ref, ...], facts: list[LayerFacts], x: Value | None
) -> tuple[LayerFacts, ...]:
    """Return the layers of a model without a fixed input, with shapes derived from the data."""
    if not isinstance(x, Array) or isinstance(x.dims, Unknown) or not x.dims:
        return tuple(facts)
    dims: Dims = (None, *x.dims[1:])
    for at, ref in enumerate(refs):
        applied = applied_to(run, ref, dims)
        if isinstance(applied.outputs, Unknown) or len(applied.outputs) != 1:
            break
        facts[at] = replace(
            facts[at],
            input_shapes=shapes_fact((dims,)),
            output_shapes=shapes_fact(applied.outputs),
            parameters=applied.parameters if isinstance(applied.parameters, int) else facts[at].parameters,
            trainable_parameters=applied.trainable_parameters
            if isinstance(applied.trainable_parameters, int)
            else facts[at].trainable_parameters,
        )
        dims = applied.outputs[0]
    return tuple(facts)


def layer_facts(run: Interpreter, ref: Ref, index: int) -> LayerFacts:
    """One layer, or a model that is used as one."""
    if run.finished is None:
        return _layer_facts(run, ref, index)
    known = run.finished.get(ref)
    if known is None:
        known = run.finished[ref] = _layer_facts(run, ref, index)
    return known if known.index == index else replace(known, index=index)


def _layer_facts(run: Interpreter, ref: Ref, index: int) -> LayerFacts:
    record = run.record(ref)
    if isinstance(record, ModelRecord):
        inside = layers_facts(run, record)[:_MOST_SUBLAYERS]
        inputs, outputs = input_shapes(run, record), model_outputs(run, ref, None)
        return LayerFacts(
            record.name,
            record.class_name,
            index,
            input_shapes=shapes_fact(inputs),
            output_shapes=shapes_fact(outputs),
            parameters=total_of(inside, "parameters"),
            trainable_parameters=total_of(inside, "trainable_parameters"),
            trainable=record.trainable is not False,
            builtin=record.owner is None,
            code=run.code(record.node),
            sublayers=inside,
        )
    assert isinstance(record, LayerRecord)
    return LayerFacts(
        record.name,
        record.plan.class_name,
        index,
        config=config_of(record.plan),
        input_shapes=shapes_fact(record.inputs),
        output_shapes=shapes_fact(record.outputs),
        parameters=record.parameters if isinstance(record.parameters, int) else 0,
        trainable_parameters=_trained(record),
        trainable=record.trainable is not False,
        builtin=record.owner is None,
        code=run.code(record.node),
        sublayers=_sublayers(run, record),
    )


def _sublayers(run: Interpreter, record: LayerRecord) -> tuple[LayerFacts, ...]:
    found: list[LayerFacts] = []
    for _, value in record.attributes:
        if (
            isinstance(value, Ref)
            and isinstance(run.record(value), LayerRecord)
            and len(found) < _MOST_SUBLAYERS
        ):
            found.append(layer_facts(run, value, len(found)))
    return tuple(found)


def _trained(record: LayerRecord) -> int:
    if record.trainable is False or not isinstance(record.trainable_parameters, int):
        return 0
    return record.trainable_parameters


def shapes_fact(shapes: tuple[Dims | Unknown, ...] | None) -> tuple[Shape, ...] | Unknown:
    """Several shapes, all of them or Unknown."""
    if shapes is None:
        return _UNKNOWN
    found: list[Shape] = []
    for dims in shapes:
        shape = shape_fact(dims)
        if isinstance(shape, Unknown):
            return _UNKNOWN
        found.append(shape)
    return tuple(found)


_ACTIVATED = {
    **dict.fromkeys(
        ("Dense", "EinsumDense", "DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"),
        "linear",
    ),
    **{f"Conv{rank}D": "linear" for rank in (1, 2, 3)},
    **{f"Conv{rank}DTranspose": "linear" for rank in (1, 2, 3)},
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), "tanh"),
}
_SIZED = ("kernel_size", "strides", "pool_size", "dilation_rate", "size")


def config_of(plan: LayerPlan) -> tuple[tuple[str, str], ...]:
    """Return plain settings as text, with the defaults that judges need; `unknown` if a setting is unknown."""
    found: dict[str, str] = {}
    rank = next((number for number in (1, 2, 3) if f"{number}D" in plan.class_name), 0)
    for name, value in plan.settings.items():
        if isinstance(value, Unknown):
            if name == "activation":
                found[name] = "unknown"
            continue
        if name in _SIZED and rank and isinstance(value, int):
            value = (value,) * rank
        text = _text(value)
        if text is not None:
            found[name] = text
    if plan.class_name in _ACTIVATED and plan.certain and found.get("activation", "None") == "None":
        found["activation"] = _ACTIVATED[plan.class_name] if "activation" not in plan.settings else "linear"
    if plan.class_name in ("LSTM", "GRU", "SimpleRNN") and plan.certain:
        found.setdefault("return_sequences", "False")
    return tuple(found.items())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, str):
        return value if len(value) <= 200 else None
    if isinstance(value, tuple):
        items = [_text(item) for item in value]
        if len(items) > 16 or any(item is None for item in items):
            return None
        return f"({', '.join(item or '' for item in items)}{',' if len(items) == 1 else ''})"
    return None


def total_of(layers: tuple[LayerFacts, ...], name: str) -> int:
    """The sum of a number over layers."""
    return sum(getattr(layer, name) for layer in layers)
