"""The shape rules say what Keras itself says, or nothing."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fitdoctor.facts import Unknown
from fitdoctor.source.models.layer_rules import RULES, WRAPPERS, apply_layer
from fitdoctor.source.models.layer_settings import POSITIONAL, SYNONYMS, LayerPlan
from fitdoctor.source.models.merge_rules import MERGES
from fitdoctor.source.models.sequence_rules import SEQUENCES
from fitdoctor.source.models.spatial_rules import SPATIAL

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = pytest.mark.tf

SMALL = st.integers(1, 5)
AXIS = st.one_of(st.none(), st.integers(1, 12))
PADDING = st.sampled_from(["valid", "same"])
FORMAT = st.sampled_from([None, "channels_last", "channels_first"])


def options(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of these settings, each by its strategy."""
    return st.fixed_dictionaries({}, optional=strategies)


def sized(rank: int, strategy: st.SearchStrategy[int] = SMALL) -> st.SearchStrategy[Any]:
    """One number, or one an axis."""
    return st.one_of(strategy, st.tuples(*[strategy] * rank))


def with_required(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


def convolutions() -> dict[str, tuple[int, st.SearchStrategy[dict[str, Any]]]]:
    found: dict[str, tuple[int, st.SearchStrategy[dict[str, Any]]]] = {}
    for rank in (1, 2, 3):
        common = {"padding": PADDING, "data_format": FORMAT, "strides": sized(rank, st.integers(1, 3))}
        kernel = {"filters": st.integers(1, 6), "kernel_size": sized(rank)}
        dilated = {**common, "dilation_rate": st.integers(1, 3), "use_bias": st.booleans()}
        found[f"Conv{rank}D"] = (rank + 2, with_required(kernel, groups=st.integers(1, 3), **dilated))
        found[f"Conv{rank}DTranspose"] = (rank + 2, with_required(kernel, **common, use_bias=st.booleans()))
        if rank < 3:
            multiplied = {**dilated, "depth_multiplier": st.integers(1, 3)}
            found[f"SeparableConv{rank}D"] = (rank + 2, with_required(kernel, **multiplied))
            found[f"DepthwiseConv{rank}D"] = (
                rank + 2,
                with_required({"kernel_size": sized(rank)}, **multiplied),
            )
        pooled = {"strides": st.one_of(st.none(), sized(rank, st.integers(1, 3))), "padding": PADDING}
        for kind in ("MaxPooling", "AveragePooling"):
            found[f"{kind}{rank}D"] = (
                rank + 2,
                with_required({"pool_size": sized(rank)}, data_format=FORMAT, **pooled),
            )
            found[f"Global{kind}{rank}D"] = (rank + 2, options(data_format=FORMAT, keepdims=st.booleans()))
        pair = st.tuples(st.integers(0, 3), st.integers(0, 3))
        amounts = st.one_of(st.integers(0, 3), pair if rank == 1 else st.tuples(*[pair] * rank))
        formats = {} if rank == 1 else {"data_format": FORMAT}
        found[f"ZeroPadding{rank}D"] = (rank + 2, options(padding=amounts, **formats))
        found[f"Cropping{rank}D"] = (rank + 2, options(cropping=amounts, **formats))
        found[f"UpSampling{rank}D"] = (
            rank + 2,
            options(size=SMALL if rank == 1 else sized(rank, st.integers(1, 3)), **formats),
        )
    return found


RECURRENT = {
    "return_sequences": st.booleans(),
    "return_state": st.booleans(),
    "go_backwards": st.booleans(),
    "use_bias": st.booleans(),
}

AUGMENTATIONS: dict[str, dict[str, Any]] = {
    "RandomBrightness": {"factor": 0.2},
    "RandomContrast": {"factor": 0.2},
    "RandomErasing": {},
    "RandomGaussianBlur": {},
    "RandomGrayscale": {"factor": 0.2},
    "RandomHue": {"factor": 0.2, "value_range": (0, 1)},
    "RandomSaturation": {"factor": 0.2},
    "RandomSharpness": {"factor": 0.2},
    "RandomShear": {},
    "RandomTranslation": {"height_factor": 0.1, "width_factor": 0.1},
}

LAYERS: dict[str, tuple[int, st.SearchStrategy[dict[str, Any]]]] = {
    **convolutions(),
    "Activation": (2, st.just({"activation": "relu"})),
    "ActivityRegularization": (2, st.just({"l2": 0.1})),
    "AlphaDropout": (2, st.just({"rate": 0.2})),
    "BatchNormalization": (
        3,
        options(axis=st.sampled_from([-1, 1]), center=st.booleans(), scale=st.booleans()),
    ),
    "CenterCrop": (4, st.just({"height": 2, "width": 2})),
    **{
        f"ConvLSTM{rank}D": (
            rank + 3,
            with_required(
                {"filters": SMALL, "kernel_size": st.integers(1, 3)},
                padding=PADDING,
                return_sequences=st.booleans(),
            ),
        )
        for rank in (1, 2, 3)
    },
    "Dense": (2, with_required({"units": st.integers(1, 9)}, use_bias=st.booleans())),
    "Dropout": (2, st.just({"rate": 0.5})),
    "ELU": (2, st.just({})),
    "Embedding": (2, st.fixed_dictionaries({"input_dim": SMALL, "output_dim": SMALL})),
    "Flatten": (4, options(data_format=FORMAT)),
    "GaussianDropout": (2, st.just({"rate": 0.2})),
    "GaussianNoise": (2, st.just({"stddev": 0.2})),
    "GRU": (3, with_required({"units": SMALL}, reset_after=st.booleans(), **RECURRENT)),
    "GroupNormalization": (4, options(groups=st.sampled_from([-1, 1, 2, 3]))),
    "Identity": (3, st.just({})),
    "LSTM": (3, with_required({"units": SMALL}, **RECURRENT)),
    "LayerNormalization": (
        3,
        options(axis=st.sampled_from([-1, 1]), center=st.booleans(), scale=st.booleans()),
    ),
    "LeakyReLU": (2, st.just({})),
    "Masking": (3, st.just({})),
    "PReLU": (3, st.just({})),
    "Permute": (3, st.sampled_from([{"dims": (2, 1)}, {"dims": (1, 2)}, {"dims": (3, 1, 2)}])),
    "RMSNormalization": (3, st.just({})),
    **{name: (4, st.just(settings)) for name, settings in AUGMENTATIONS.items()},
    "Normalization": (
        3,
        options(axis=st.sampled_from([-1, None])).map(lambda given: {"mean": 0.0, "variance": 1.0, **given}),
    ),
    "RandomCrop": (4, st.fixed_dictionaries({"height": SMALL, "width": SMALL})),
    "RandomFlip": (4, st.just({})),
    "RandomRotation": (4, st.just({"factor": 0.1})),
    "RandomZoom": (4, st.just({"height_factor": 0.1})),
    "ReLU": (2, st.just({})),
    "RepeatVector": (2, st.fixed_dictionaries({"n": SMALL})),
    "Rescaling": (4, st.just({"scale": 0.1})),
    "Reshape": (
        3,
        st.fixed_dictionaries(
            {"target_shape": st.lists(st.sampled_from([-1, 1, 2, 3, 4, 6]), max_size=3).map(tuple)}
        ),
    ),
    "Resizing": (4, st.fixed_dictionaries({"height": SMALL, "width": SMALL})),
    "SimpleRNN": (3, with_required({"units": SMALL}, **RECURRENT)),
    "Softmax": (2, st.just({})),
    "SpatialDropout1D": (3, st.just({"rate": 0.2})),
    "SpatialDropout2D": (4, st.just({"rate": 0.2})),
    "SpatialDropout3D": (5, st.just({"rate": 0.2})),
    "UnitNormalization": (2, st.just({})),
}


@st.composite
def layer_and_input(draw: st.DrawFn) -> tuple[str, dict[str, Any], tuple[int | None, ...]]:
    """A layer with its settings, and a shape that mostly has the rank it wants."""
    name = draw(st.sampled_from(sorted(LAYERS)))
    rank, strategy = LAYERS[name]
    if draw(st.integers(0, 5)) == 0:
        rank = draw(st.integers(1, 5))
    axes = [draw(AXIS if draw(st.integers(0, 4)) == 0 else st.integers(1, 12)) for _ in range(rank - 1)]
    return name, draw(strategy), (None, *axes)


def asked_of_keras(
    name: str, arguments: dict[str, Any], shapes: list[tuple[int | None, ...]], inner: Any = None
) -> tuple[Any, str, Any]:
    """(shapes, exception type, layer) that Keras itself gives."""
    import keras

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            layer = getattr(keras.layers, name)(*([inner] if inner is not None else []), **arguments)
            tensors = [keras.KerasTensor(shape) for shape in shapes]
            given = layer(tensors) if len(tensors) > 1 else layer(tensors[0])
        except Exception as error:  # every kind counts: the question is whether it raises
            return None, type(error).__name__, None
    outputs = list(given) if isinstance(given, (list, tuple)) else [given]
    return tuple(tuple(one.shape) for one in outputs), "", layer


def agrees(plan: LayerPlan, shapes: list[tuple[int | None, ...]], keras_says: tuple[Any, str, Any]) -> None:
    outputs, error, layer = keras_says
    applied = apply_layer(plan, tuple(shapes))
    told = (plan.class_name, dict(plan.settings), shapes)
    if applied.refusal is not None:
        assert error == applied.refusal.type, (told, applied.refusal.message, outputs, error)
    elif not isinstance(applied.outputs, Unknown):
        assert error == "", (told, applied.outputs, error)
        assert applied.outputs == outputs, told
        if not isinstance(applied.parameters, Unknown):
            trained = sum(int(weight.shape.num_elements()) for weight in layer.trainable_weights)
            assert (applied.parameters, applied.trainable_parameters) == (layer.count_params(), trained), told


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(layer_and_input())
def test_a_layer_gives_what_keras_gives(drawn: tuple[str, dict[str, Any], tuple[int | None, ...]]) -> None:
    name, arguments, shape = drawn
    agrees(LayerPlan(name, arguments), [shape], asked_of_keras(name, arguments, [shape]))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate", "Dot"]),
    st.lists(st.lists(st.sampled_from([None, 1, 2, 2, 3]), min_size=1, max_size=3), min_size=2, max_size=3),
    st.integers(-2, 2),
)
def test_a_merge_gives_what_keras_gives(name: str, axes: list[list[int | None]], axis: int) -> None:
    shapes = [(None, *lengths) for lengths in (axes[:2] if name in ("Subtract", "Dot") else axes)]
    arguments = {"Concatenate": {"axis": axis}, "Dot": {"axes": axis}}.get(name, {})
    agrees(LayerPlan(name, arguments), shapes, asked_of_keras(name, arguments, shapes))


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["LSTM", "GRU", "SimpleRNN"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["concat", "sum", "mul", "ave", None]),
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
)
def test_bidirectional_gives_what_keras_gives(
    name: str, sequences: bool, states: bool, mode: str | None, axes: list[int]
) -> None:
    import keras

    inner = {"units": 3, "return_sequences": sequences, "return_state": states}
    plan = LayerPlan("Bidirectional", {"merge_mode": mode}, LayerPlan(name, inner))
    shape = (None, *axes)
    said = asked_of_keras(
        "Bidirectional", {"merge_mode": mode}, [shape], getattr(keras.layers, name)(**inner)
    )
    agrees(plan, [shape], said)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([("Dense", {"units": 3}), ("Conv2D", {"filters": 2, "kernel_size": 3}), ("Flatten", {})]),
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
)
def test_time_distributed_gives_what_keras_gives(inner: tuple[str, dict[str, Any]], axes: list[int]) -> None:
    import keras

    plan = LayerPlan("TimeDistributed", {}, LayerPlan(*inner))
    shape = (None, *axes)
    said = asked_of_keras("TimeDistributed", {}, [shape], getattr(keras.layers, inner[0])(**inner[1]))
    agrees(plan, [shape], said)


@pytest.mark.parametrize("heads", [1, 2])
def test_attention_gives_what_keras_gives(heads: int) -> None:
    import keras

    query, value = keras.KerasTensor((None, 7, 8)), keras.KerasTensor((None, 5, 6))
    plan = LayerPlan("MultiHeadAttention", {"num_heads": heads, "key_dim": 4})
    layer = keras.layers.MultiHeadAttention(num_heads=heads, key_dim=4)
    assert apply_layer(plan, ((None, 7, 8), (None, 5, 6))).outputs == (tuple(layer(query, value).shape),)
    attention = keras.layers.Attention()([query, value])
    assert apply_layer(LayerPlan("Attention"), ((None, 7, 8), (None, 5, 6))).outputs == (
        tuple(attention.shape),
    )


@pytest.mark.parametrize("query", [(None, 7, 6), (None, 6)])
@pytest.mark.parametrize("value", [(None, 5, 6), (None, 6)])
def test_attention_without_a_time_axis_gives_what_keras_says(
    query: tuple[int | None, ...], value: tuple[int | None, ...]
) -> None:
    import keras

    said = keras.layers.Attention()([keras.KerasTensor(query), keras.KerasTensor(value)])
    assert apply_layer(LayerPlan("Attention"), (query, value)).outputs == (tuple(said.shape),)


def test_every_rule_is_compared_with_keras() -> None:
    """What is not drawn above has a test of its own here, or gives what it gets."""
    apart = {*MERGES, *WRAPPERS, "Attention", "AdditiveAttention", "Bidirectional", "MultiHeadAttention"}
    assert {*RULES, *SPATIAL, *SEQUENCES} - set(LAYERS) - apart == {"InputLayer", "Layer"}


def test_every_layer_with_a_rule_is_one_of_keras() -> None:
    import keras

    named = set(RULES) | set(WRAPPERS) | set(MERGES) | set(SEQUENCES) | set(SPATIAL)
    assert [name for name in sorted(named) if not hasattr(keras.layers, name)] == []


def test_positional_names_are_those_of_keras() -> None:
    import inspect

    import keras

    for name, names in POSITIONAL.items():
        parameters = list(inspect.signature(getattr(keras.layers, name).__init__).parameters)[1:]
        assert tuple(parameters[: len(names)]) == names, name


def test_synonyms_are_those_of_keras() -> None:
    import keras

    for alias, name in SYNONYMS.items():
        if hasattr(keras.layers, alias):
            assert getattr(keras.layers, alias) is getattr(keras.layers, name), alias


def test_what_is_not_told_stays_unknown() -> None:
    unknown = Unknown("an argument of the script")
    assert apply_layer(LayerPlan("Dense", {"units": unknown}), ((None, 4),)).outputs == ((None, unknown),)
    assert isinstance(apply_layer(LayerPlan("Dense", {"units": 3}), (unknown,)).outputs, Unknown)
    assert isinstance(apply_layer(LayerPlan("SomethingNew"), ((None, 4),)).outputs, Unknown)
    assert isinstance(
        apply_layer(LayerPlan("Dense", {"units": 3}, certain=False), ((None, 4),)).parameters, Unknown
    )


def test_an_untold_axis_travels_through() -> None:
    unknown = Unknown("read from a file")
    applied = apply_layer(LayerPlan("LSTM", {"units": 3, "return_sequences": True}), ((None, unknown, 4),))
    assert applied.outputs == ((None, unknown, 3),)


def test_untold_sizes_leave_the_number_of_axes_known() -> None:
    unknown = Unknown("the size of a vocabulary")
    looked_up = apply_layer(
        LayerPlan("Embedding", {"input_dim": unknown, "output_dim": unknown}), ((None, 9),)
    )
    assert looked_up.outputs == ((None, 9, unknown),)
    last = apply_layer(LayerPlan("LSTM", {"units": unknown}), looked_up.outputs)
    assert last.outputs == ((None, unknown),)
    refusal = apply_layer(LayerPlan("LSTM", {"units": 3}), last.outputs).refusal
    assert refusal is not None and "expected ndim=3, found ndim=2" in refusal.message
