"""General moves from the facts of a `fit` call: each proposes edits if the changed data or model would pass."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from fitdoctor.cases import SeenCall
from fitdoctor.catalogue.inputs.data_places import rework_data, reworked
from fitdoctor.catalogue.inputs.shapes import (
    Mismatch,
    fits,
    forward_failure,
    input_shape_edit,
    mismatches,
    refused,
    relation,
    size,
    went_through,
)
from fitdoctor.catalogue.labels.label_edits import respell, rework_labels, with_activation, with_units
from fitdoctor.catalogue.labels.targets import (
    BINARY_LOSSES,
    REGRESSION,
    ROW_LOSSES,
    SPARSE,
    Target,
    is_class_numbers,
    is_one_hot,
    loss_accepted,
    targets,
)
from fitdoctor.diagnosis import Applicability, Edit, Fix
from fitdoctor.edits import fix, remove_argument, set_argument, spell, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, LayerFacts, ModelFacts, Shape, Unknown
from fitdoctor.records import replace

Move = Callable[[ModelFacts, FitFacts, DataFacts], Iterator[Fix]]

_ARRAYS = frozenset({"numpy.ndarray", "ndarray"})
_LISTS = frozenset({"list", "tuple"})
_RANK = re.compile(r"expected (?:min_)?ndim=(\d).*?found ndim=(\d)")
_BATCH = 32
"""The default batch size of Keras."""


def proposals(call: SeenCall) -> tuple[Fix, ...]:
    """Yield the repairs that may make a `fit` call pass, judging by its facts; each only once."""
    if isinstance(call.model, Unknown):
        return ()
    training = next((data for data in call.data if data.role == "training"), None)
    if training is None:
        return ()
    found: dict[tuple[Edit, ...], Fix] = {}
    for move in MOVES:
        for proposed in move(call.model, call.fit, training):
            if proposed.applicability is not Applicability.DISPLAY:
                found.setdefault(proposed.edits, proposed)
    return tuple(found.values())


# --- features -----------------------------------------------------------------------------------------------------


def _shape_of_features(model: ModelFacts, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    for mismatch in mismatches(model, data):
        yield from _reworked(mismatch, fit_call, data)
        edits = input_shape_edit(mismatch.code, mismatch.found_sample)
        if None not in mismatch.found_sample:
            yield unsafe(f"set the input shape to {mismatch.found_sample}", edits)


def _reworked(mismatch: Mismatch, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    array, found, wanted = mismatch.array, mismatch.found_sample, mismatch.expected_sample
    if relation(found, wanted) == "permuted":
        # To reshape would fit, too, and mix up the values of every sample.
        orders = list(_orders(found, wanted))
        for order in orders:
            axes = f"(0, {', '.join(str(axis + 1) for axis in order)})"
            edits = _changed(array, fit_call, data, f"{{}}.transpose({axes})", f"tf.transpose(x, {axes})")
            make = fix if len(orders) == 1 else unsafe
            yield make(f"transpose `{array.path}` to the axis order that the model expects", edits)
    elif None not in wanted and size(found) == size(wanted) and not fits(found, wanted):
        shape = f"(-1, {', '.join(map(str, wanted))})"
        edits = _changed(array, fit_call, data, f"{{}}.reshape({shape})", f"tf.reshape(x, {shape})")
        # Flat data has one order of values; between two shapes of several axes there may be others.
        plain = relation(found, wanted) == "axis" or 1 in (len(found), len(wanted))
        yield (fix if plain else unsafe)(f"reshape the samples of `{array.path}` to {wanted}", edits)
    elif None not in wanted and found == (None,) and data.form == "dataset":
        # Flat, as `decode_raw` gives them: how many values there are, the run will tell.
        edits = _changed(array, fit_call, data, "", f"tf.reshape(x, (-1, {', '.join(map(str, wanted))}))")
        yield unsafe(f"reshape the samples of `{array.path}` to {wanted}", edits)


def _lacking_axis(model: ModelFacts, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    """Propose one more axis for data that a layer received with one axis too few."""
    failure, refusal = forward_failure(data), refused(model, data)
    said = _RANK.search(failure.message) if failure is not None else None
    if refusal is None or said is None or int(said[1]) != int(said[2]) + 1:
        return
    array = refusal[0]
    name, imports = spell(reworked(array, True), "numpy", "np") if data.form == "arrays" else ("np", ())
    edits = _changed(
        array, fit_call, data, f"{name}.expand_dims({{}}, axis=-1)", "tf.expand_dims(x, axis=-1)"
    )
    if edits:
        yield fix(f"add a last axis of size 1 to `{array.path}`", edits, imports)


def _changed(
    array: ArrayFacts, fit_call: FitFacts, data: DataFacts, by_array: str, by_tensor: str
) -> tuple[Edit, ...]:
    """Change the features where their array is created, or by mapping the dataset if only that has them."""
    if data.form == "arrays":
        # The cause itself may have changed it in the call alone: here all that is split from it follows.
        return rework_data(array, fit_call, by_array, everywhere=True) if array.container in _ARRAYS else ()
    if data.form != "dataset" or data.element_size != 2 or data.x_structure != "single":
        return ()
    dataset = _given(fit_call, "x", 0)
    name, imports = spell(fit_call.code, "tensorflow", "tf")
    template = f"{{}}.map(lambda x, y: ({by_tensor.replace('tf.', f'{name}.')}, y))"
    edits = wrap(dataset, template)
    return (*edits, *wrap(_given(fit_call, "validation_data"), template), *imports) if edits else ()


def _given(fit_call: FitFacts, name: str, position: int | None = None) -> Code | Unknown:
    """An argument of the call as a piece of source."""
    argument = fit_call.code.argument(name, position) if isinstance(fit_call.code, Code) else None
    return Unknown("it is not given") if argument is None else Code(argument.location, argument.text)


def _orders(found: Shape, wanted: Shape) -> Iterator[tuple[int, ...]]:
    for order in itertools.permutations(range(len(found))):
        if tuple(found[axis] for axis in order) == tuple(wanted):
            yield order


def _type_of_data(model: ModelFacts, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    if data.form != "arrays" or went_through(data) and loss_accepted(data):
        return
    for array in (*data.x, *data.y):
        if array.container in _LISTS:
            name, imports = spell(reworked(array), "numpy", "np")
            edits = rework_data(array, fit_call, f"{name}.array({{}})")
            if edits:
                yield fix(f"convert `{array.path}` to an array", edits, imports)
        elif array.dtype in ("object", "float64", "int64", "uint8", "bool") and array in data.x:
            edits = rework_data(array, fit_call, '{}.astype("float32")')
            yield fix(f"cast `{array.path}` to float32", edits)


# --- labels -------------------------------------------------------------------------------------------------------


def _labels(model: ModelFacts, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    for target in targets(model, data):
        if target.labels is not None and target.units is not None:
            yield from _kind_of_labels(target, target.labels, target.units, data)
            yield from _range_of_labels(target, target.labels, target.units, data)
            yield from _width_of_output(target, target.units)


def _kind_of_labels(target: Target, labels: ArrayFacts, units: int, data: DataFacts) -> Iterator[Fix]:
    loss = target.loss
    if loss is None:
        return
    statistics = target.label_statistics
    if target.loss_name in ROW_LOSSES and is_class_numbers(labels) and units > 1:
        yield fix("use the loss for integer class labels", respell(loss.code, SPARSE))
        if statistics is not None and (statistics.maximum or 0) < units:
            edits = rework_labels(labels, data, f"np.eye({units})[{{}}]", f"tf.one_hot(y, {units})")
            yield fix("one-hot encode the labels", edits)
    if target.loss_name == SPARSE and is_one_hot(labels):
        yield fix("use the loss for one-hot labels", respell(loss.code, "categorical_crossentropy"))
        edits = rework_labels(labels, data, "{}.argmax(axis=-1)", "tf.argmax(y, axis=-1)")
        yield fix("convert the labels to integer classes", edits)
    if target.loss_name in BINARY_LOSSES and is_class_numbers(labels) and units > 1:
        yield unsafe("use the loss for integer class labels", respell(loss.code, SPARSE))


def _range_of_labels(target: Target, labels: ArrayFacts, units: int, data: DataFacts) -> Iterator[Fix]:
    statistics = target.label_statistics
    if target.loss_name != SPARSE or statistics is None or statistics.minimum is None:
        return
    least, most = int(statistics.minimum), int(statistics.maximum or 0)
    if not statistics.integral or least >= 0 and most < units:
        return
    if least != 0 and most - least < units:
        sign, shift = ("-", least) if least > 0 else ("+", -least)
        edits = rework_labels(labels, data, f"({{}} {sign} {shift})", f"y {sign} {shift}")
        yield fix(f"shift the labels from {least}..{most} to 0..{most - least}", edits)
    if least >= 0:
        yield unsafe(f"use {most + 1} units in the output layer", with_units(target.layer, most + 1))


def _width_of_output(target: Target, units: int) -> Iterator[Fix]:
    shape = target.label_shape
    width = shape[-1] if shape is not None and len(shape) > 1 else 1
    if width in (None, units) or target.loss_name not in ROW_LOSSES | BINARY_LOSSES | REGRESSION:
        return
    if target.loss_name in ROW_LOSSES and width == 1:
        return
    yield unsafe(
        f"use {width} units in the output layer, as many as the labels have columns",
        with_units(target.layer, int(width or 1)),
    )


def _activation(model: ModelFacts, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    for target in targets(model, data):
        loss = target.loss
        if loss is None or target.activation != "linear" or loss.from_logits is not False:
            continue
        wanted = "sigmoid" if target.loss_name in BINARY_LOSSES else "softmax"
        if target.loss_name in BINARY_LOSSES | ROW_LOSSES | {SPARSE}:
            layer = target.last.layer if target.last is not None else None
            yield unsafe(f'set `activation="{wanted}"` on the output layer', with_activation(layer, wanted))
            if isinstance(loss.code, Code) and loss.code.close_paren is not None:
                yield unsafe(
                    "set `from_logits=True` on the loss", set_argument(loss.code, "from_logits", "True")
                )


# --- datasets and the call ----------------------------------------------------------------------------------------


def _batching(model: ModelFacts, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    if data.form != "dataset" or isinstance(model.inputs, Unknown) or not data.x:
        return
    use, shape, wanted = _given(fit_call, "x", 0), data.x[0].shape, model.inputs[0].shape
    if isinstance(shape, Unknown) or isinstance(wanted, Unknown):
        return
    if fits(shape, wanted[1:]) and not fits(shape[1:], wanted[1:]):
        yield fix("batch the dataset", wrap(use, f"{{}}.batch({_BATCH})"))
    if len(shape) == len(wanted) + 1 and fits(shape[2:], wanted[1:]):
        yield fix("undo the second batching", wrap(use, "{}.unbatch()"))


def _steps(model: ModelFacts, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    batches = data.batches
    for name, steps in (
        ("steps_per_epoch", fit_call.steps_per_epoch),
        ("validation_steps", fit_call.validation_steps),
    ):
        if steps is not None and isinstance(batches, int) and steps > batches:
            yield unsafe(f"remove `{name}`", remove_argument(fit_call.code, name))


# --- layers -------------------------------------------------------------------------------------------------------

_RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN"})


def _layers(model: ModelFacts, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    failure = forward_failure(data)
    said = _RANK.search(failure.message) if failure is not None else None
    if failure is not None and said is not None:
        before = _before(model, failure.layer)
        if before is not None and before.class_name in _RECURRENT and said[2] == "2":
            edits = set_argument(before.code, "return_sequences", "True")
            yield fix(f"set `return_sequences=True` on `{before.name}`", edits)
    for target in targets(model, data):
        shape, labels = target.output_shape, target.label_shape
        if shape is None or labels is None or target.layer is None or len(shape) <= max(len(labels), 2):
            continue
        yield from _fewer_axes(model, target.layer, len(shape))


def _fewer_axes(model: ModelFacts, last: LayerFacts, rank: int) -> Iterator[Fix]:
    """For an output with axes that the labels lack: end the sequence, or flatten before the last layer."""
    before = _before(model, last.name)
    if before is not None and before.class_name in _RECURRENT and rank == 3:
        yield fix(
            f"set `return_sequences=False` on `{before.name}`",
            set_argument(before.code, "return_sequences", "False"),
        )
    if model.kind != "sequential" or isinstance(last.code, Unknown):
        return
    prefix, _name, rest = last.code.text.rpartition(f"{last.class_name}(")
    if prefix and not re.fullmatch(r"[\w.]+\.", prefix) or not rest:
        return
    imports: tuple[Edit, ...] = ()
    if not prefix:
        keras, imports = spell(last.code, "keras", "keras")
        prefix = f"{keras}.layers."
    start = replace(
        last.code.location, end_line=last.code.location.line, end_column=last.code.location.column
    )
    yield unsafe(f"flatten before `{last.name}`", (Edit(start, f"{prefix}Flatten(), "),), imports)
    pooling = {3: "GlobalAveragePooling1D", 4: "GlobalAveragePooling2D"}.get(rank)
    if pooling:
        yield unsafe(f"pool before `{last.name}`", (Edit(start, f"{prefix}{pooling}(), "),), imports)


def _before(model: ModelFacts, name: str) -> LayerFacts | None:
    """The layer that feeds a layer."""
    layers = model.every_layer()
    for index, layer in enumerate(layers):
        if layer.name == name:
            fed_by = [other for other in layers if other.name in layer.fed_by]
            return (
                fed_by[0] if fed_by else layers[index - 1] if index and model.kind == "sequential" else None
            )
    return None


MOVES: tuple[Move, ...] = (
    _shape_of_features,
    _lacking_axis,
    _labels,
    _type_of_data,
    _batching,
    _steps,
    _layers,
    _activation,
)
"""The moves, most likely first."""
