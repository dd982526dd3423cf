"""Compare the shape of a sample with the shape the model expects."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import set_argument
from fitdoctor.facts import (
    Argument,
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FailureSummary,
    LayerFacts,
    ModelFacts,
    Shape,
    Spec,
    Unknown,
)
from fitdoctor.failure.shapes import InputMismatch, input_mismatch


def relation(found: Shape, expected: Shape) -> str:
    """Name how two sample shapes differ.

    Returns:
        `same`: they match; `permuted`: the same lengths in another order; `axis`: they differ by axes of length 1;
        `reshaped`: the same number of elements; `lengths`: the same rank, other lengths; `rank`: another rank.
    """
    if len(found) == len(expected) and all(map(_fits, found, expected)):
        return "same"
    lengths = [length for length in found if length != 1]
    wanted = [length for length in expected if length != 1]
    same_rank = len(found) == len(expected)
    if same_rank and None not in found and sorted(found, key=str) == sorted(expected, key=str):
        return "lengths" if sides_swapped(found, expected) else "permuted"
    if not same_rank and len(lengths) == len(wanted) and all(map(_fits, lengths, wanted)):
        return "axis"
    if None not in found and None not in expected and size(found) == size(expected):
        return "reshaped"
    return "lengths" if same_rank else "rank"


def sides_swapped(found: Shape, expected: Shape) -> bool:
    """Whether height and width have changed places, and the channels have not."""
    same = len(found) == len(expected) == 3 and found[2] == expected[2]
    return same and found[:2] == (expected[1], expected[0]) and found[0] != found[1]


def _fits(found: int | None, expected: int | None) -> bool:
    return found is None or expected is None or found == expected


def size(shape: Shape) -> int | None:
    """Return the number of elements of a shape, None if an axis is unknown."""
    return None if None in shape else math.prod(length for length in shape if length is not None)


def fits(found: Shape, expected: Shape) -> bool:
    """Whether Keras takes such samples for such an `Input`: a last axis of 1 may be left out, or be too many."""
    if relation(found, expected) == "same":
        return True
    if len(found) + 1 == len(expected) and expected[-1] == 1:
        return relation(found, expected[:-1]) == "same"
    if len(found) == len(expected) + 1 and found[-1] == 1:
        return relation(found[:-1], expected) == "same"
    return False


def is_one_sample(shape: Shape | Unknown, expected: Shape) -> bool:
    """Whether a whole array has the shape of a sample, perhaps without a last axis of 1: the samples' axis lacks."""
    if isinstance(shape, Unknown) or len(shape) < 2:
        return False
    return relation(shape, expected) == "same" or (len(shape) < len(expected) and fits(shape, expected))


def without_one_axis(longer: Shape, shorter: Shape) -> int | None:
    """Return the axis of the longer shape that the shorter one lacks, the last if several match."""
    if len(longer) != len(shorter) + 1:
        return None
    for axis in range(len(longer) - 1, -1, -1):
        if all(map(_fits, (*longer[:axis], *longer[axis + 1 :]), shorter)):
            return axis
    return None


# --- the data and the Input of the model --------------------------------------------------------------------------


def lacks_its_batch(model: ModelFacts | Unknown, data: DataFacts) -> bool:
    """Whether x is one sample without the axis of samples, and y its label: that axis is missing, not the others."""
    if isinstance(model, Unknown) or isinstance(model.inputs, Unknown):
        return False
    if len(data.x) != 1 or len(data.y) != 1 or len(model.inputs) != 1:
        return False
    wanted, label = model.inputs[0].shape, data.y[0].shape
    one = isinstance(label, tuple) and label[:1] == (1,)
    return one and isinstance(wanted, tuple) and len(wanted) > 2 and data.x[0].shape == wanted[1:]


def went_through(data: DataFacts) -> bool:
    """Whether the abstract forward pass took the data."""
    forward = data.trial.forward
    return not isinstance(forward, Unknown) and forward.ok


def proven(data: DataFacts) -> bool:
    """Whether the abstract forward pass raised."""
    forward = data.trial.forward
    return not isinstance(forward, Unknown) and not forward.ok


def forward_failure(data: DataFacts) -> FailureSummary | None:
    """Return what the abstract forward pass raised."""
    forward = data.trial.forward
    return None if isinstance(forward, Unknown) else forward.failure


def paired(arrays: tuple[ArrayFacts, ...], model: ModelFacts) -> Iterator[tuple[ArrayFacts, Spec]]:
    """Pair each array with its input: by name if the keys are input names, else by position."""
    assert not isinstance(model.inputs, Unknown)
    by_name = {spec.name: spec for spec in model.inputs}
    if arrays and all(array.key in by_name for array in arrays):
        for array in arrays:
            yield array, by_name[array.key]
    elif len(arrays) == len(model.inputs):
        yield from zip(arrays, model.inputs, strict=True)


def shuffled(model: ModelFacts, data: DataFacts) -> tuple[ArrayFacts, ...] | None:
    """Return the arrays in the order of the model inputs, if they are passed in another one."""
    if isinstance(model.inputs, Unknown) or data.x_structure not in ("list", "tuple"):
        return None
    if not 1 < len(data.x) == len(model.inputs) <= 5 or all_fit(data.x, model.inputs):
        return None
    orders = [order for order in itertools.permutations(data.x) if all_fit(order, model.inputs)]
    return orders[0] if len(orders) == 1 else None


def all_fit(arrays: tuple[ArrayFacts, ...], inputs: tuple[Spec, ...]) -> bool:
    """Whether Keras takes every array for the input at its position."""
    return len(arrays) == len(inputs) and all(
        isinstance(array.shape, tuple)
        and isinstance(spec.shape, tuple)
        and bool(array.shape)
        and fits(array.shape[1:], spec.shape[1:])
        for array, spec in zip(arrays, inputs, strict=True)
    )


def input_code_of(model: ModelFacts, spec: Spec) -> Code | Unknown:
    """Return the `Input(…)` of one of several inputs."""
    if isinstance(model.inputs, Unknown) or len(model.inputs) == 1:
        return _single_input_code(model)
    names = input_names(model, spec)
    for layer in model.layers:
        if layer.class_name == "InputLayer" and layer.name in names:
            return layer.code
    return Unknown("the `Input` was not found")


def input_names(model: ModelFacts, spec: Spec) -> set[str]:
    """Return the names of one of several inputs: its own, and that of its layer."""
    inputs = () if isinstance(model.inputs, Unknown) else model.inputs
    # Equal inputs are named by their positions.
    position = next((position for position, each in enumerate(inputs) if each is spec), len(inputs))
    return {spec.name, *model.input_layers[position : position + 1]}


def _single_input_code(model: ModelFacts) -> Code | Unknown:
    """Return the `Input` of a single-input model, also of a nested first model."""
    code = model.input_code
    first = model.layers[0] if model.layers else None
    told = bool(shape_argument(code)) or (isinstance(code, Code) and code.argument("input_dim") is not None)
    if not told and first is not None and first.sublayers and shape_argument(first.code):
        return first.code
    return code


_PASSES_SHAPE = frozenset(
    "InputLayer Dropout SpatialDropout1D SpatialDropout2D Activation ReLU LeakyReLU GaussianNoise Rescaling".split()
)
_FIXES_LAST_AXIS = frozenset(
    "Dense Conv1D Conv2D Conv3D LSTM GRU SimpleRNN BatchNormalization LayerNormalization Normalization".split()
)


def minded(model: ModelFacts, data: DataFacts, found: Shape, expected: Shape) -> bool:
    """Whether the difference matters: a Sequential checks only the rank, and the layers what they are built for.

    Nor does any model of Keras 2 compare the last axis if one of the two is 1.
    """
    if proven(data):
        return True
    if len(found) != len(expected):
        return model.keras != 2 or not all(map(_fits, found, expected)) or _begins_with_keras_layer(model)
    squeezed = model.keras == 2 and 1 in (found[-1], expected[-1]) and all(map(_fits, found[:-1], expected))
    if model.kind != "sequential" and not squeezed:
        return True
    last = not _fits(found[-1], expected[-1])
    others = not all(map(_fits, found[:-1], expected[:-1]))
    for layer in model.layers:
        if layer.class_name in _PASSES_SHAPE:
            continue
        if layer.class_name == "Functional":
            # It checks every length of its own `Input`; Keras 2 only warns.
            return model.keras == 3 and isinstance(layer.code, Code) and model.input_code == layer.code
        if layer.class_name in ("Flatten", "Reshape"):
            return layer.class_name == "Reshape" or not sides_swapped(found, expected)
        if layer.class_name == "Embedding":
            last, others = False, True
        elif layer.class_name in _FIXES_LAST_AXIS:
            if last:
                return True
            if layer.setting("return_sequences") == "False":
                return False
        elif "Pooling" not in layer.class_name or layer.class_name.startswith("Global"):
            return False
    # No layer checks the lengths, but a loss does if the labels have other lengths.
    return others and not last and any(_made_for(expected, found, labels.shape) for labels in data.y)


def _begins_with_keras_layer(model: ModelFacts) -> bool:
    """Whether a built-in layer gets the data: in Keras 2, only these check the number of axes."""
    first = next((layer for layer in model.layers if layer.class_name not in _PASSES_SHAPE), None)
    return first is not None and first.builtin


def _made_for(expected: Shape, found: Shape, labels: Shape | Unknown) -> bool:
    return isinstance(labels, tuple) and len(labels) > 1 and expected[0] == labels[1] != found[0]


def shape_of_data(model: ModelFacts) -> Code | None:
    """Return the `data.shape` that is passed on to the model's only `Input`, None if there is none."""
    code = model.shape_code
    return code if isinstance(code, Code) and code.text.endswith(".shape") else None


_BATCH_WORDS = re.compile(r"(?i)batch|samples|n_train|n_rows|num_rows|len\(|\.shape\[0\]")


def says_batch(code: Code | Unknown) -> bool:
    """Whether the source of an input's shape speaks of samples: `x_train.shape`, `(batch_size, 12)`."""
    text = shape_argument(code)
    if text.endswith(".shape"):
        return True
    first = text.strip("([").split(",")[0]
    return "," in text and bool(_BATCH_WORDS.search(first))


def shape_argument(code: Code | Unknown) -> str:
    """Return the source text of the shape in `Input(…)` or `input_shape=`."""
    argument = None if isinstance(code, Unknown) else _shape_argument(code)
    return argument.text.strip() if argument is not None else ""


def _shape_argument(code: Code) -> Argument | None:
    argument = code.argument("input_shape")
    if argument is None and code.name.endswith((".Input", ".InputLayer")):
        argument = code.argument("shape", 0)
    return argument


def length_argument(code: Code) -> Argument | None:
    """Return the argument that sets the lengths of the model input: a shape or `input_dim=`."""
    return code.argument("input_dim") or _shape_argument(code)


def input_shape_edit(code: Code | Unknown, shape: Shape | str) -> tuple[Edit, ...]:
    """Set the shape of an `Input(…)`, `InputLayer(…)` or `input_shape=`."""
    if isinstance(code, Unknown):
        return ()
    text = shape if isinstance(shape, str) else str(tuple(shape))
    if code.argument("input_dim") is not None and isinstance(shape, tuple) and len(shape) == 1:
        return set_argument(code, "input_dim", str(shape[0]))
    if code.argument("input_shape") is not None:
        return set_argument(code, "input_shape", text)
    if code.name.endswith((".Input", ".InputLayer")):
        return set_argument(code, "shape", text, position=0)
    return ()


def lengthened(code: Code, wanted: Shape, known: int) -> Shape | str:
    """Return the shape with the new axes, keeping a reference to the data: `(*x.shape[1:], 1)`."""
    text = shape_argument(code)
    taken = ".shape[" in text and not text.startswith(("(", "["))
    return f"(*{text}, {', '.join(map(str, wanted[known:]))})" if taken else wanted


def refused(model: ModelFacts, data: DataFacts) -> tuple[ArrayFacts, InputMismatch, LayerFacts | None] | None:
    """Return the component of x that a layer rejects, the parsed message, and the layer."""
    failure = forward_failure(data)
    said = input_mismatch(failure.message) if failure is not None else None
    if failure is None or said is None or said.found is None or data.role != "training":
        return None
    for array in data.x:
        if isinstance(array.shape, tuple) and len(array.shape) == len(said.found):
            if all(map(_fits, array.shape[1:], said.found[1:])):
                return array, said, _named(model, failure.layer or said.layer)
    return None


def _named(model: ModelFacts, name: str) -> LayerFacts | None:
    return next((layer for layer in model.every_layer() if layer.name == name), None)


def while_validating(failure: FailureFacts) -> bool:
    """Whether fit had come to its validation data."""
    return failure.called == "fit" and (
        failure.trained or any(frame.library and frame.function == "evaluate" for frame in failure.frames)
    )


GIVEN_DATA = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
"""The methods of a model that take data."""


def sample_given_by_hand(failure: FailureFacts) -> InputMismatch | None:
    """Return the mismatch if the program calls a model with one sample without a batch axis."""
    said = input_mismatch(failure.message)
    if said is None or failure.called in (*GIVEN_DATA, "") or not said.found:
        return None
    if said.expected is None:
        # In Keras 2 the first layer raises instead of the model.
        given = [value for _name, value in failure.arguments[:1] if f"shape={said.found}" in value]
        whole = failure.layer_class in ("Functional", "Sequential") and None not in said.found and given
        return said if whole and said.expected_rank == len(said.found) + 1 else None
    return said if said.expected[1:] == said.found and None not in said.found else None
