"""The data flow through a call of fit, stage by stage, and where the data does not match what is expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fitdoctor.data_statistics import ComponentReport, SeenReport
from fitdoctor.diagnosis import Finding, Location, Severity, Way, WayStep
from fitdoctor.engine_inputs import Call
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureSummary,
    LayerFacts,
    ModelFacts,
    Outcome,
    Spec,
    Unknown,
)

_HOST = "host"
"""Arrays of NumPy's and tf.data's pipelines are in the memory of the machine, whatever the model runs on."""
_INPUT, _OUTPUT = "model input", "model output"
_MOST_LABELS = 64


def way_of(call: Call) -> Way:
    """Arrays, steps of the pipeline, what reaches the model, its layers, its outputs and the loss."""
    model = None if isinstance(call.model, Unknown) else call.model
    steps = [step for data in call.data for step in _of_data(data)]
    batches = [_name(data, "batch") for data in call.data if data.first_batch]
    arrays = [_name(data, array.path) for data in call.data for array in data.x]
    labelled = next((data for data in call.data if data.role == "training"), next(iter(call.data), None))
    if model is not None:
        steps += _of_model(model, _refusals(call.data), tuple(dict.fromkeys(batches or arrays)), labelled)
    steps += [step for data in call.data for step in _of_trial(data)]
    return Way(call.fit.method, _place(call.fit.code), tuple(steps), _statistics(call.data))


# --- data ---------------------------------------------------------------------------------------------------------


def _name(data: DataFacts, what: str) -> str:
    return f"{data.role} {what}"


def _of_data(data: DataFacts) -> Iterator[WayStep]:
    prefix = "" if data.role == "training" else f"{data.role} "
    after: tuple[str, ...] = ()
    for number, step in enumerate(data.pipeline):
        name = _name(data, f"pipeline {number}")
        # A stage whose output is unknown has no row of its own.
        if step.specs:
            place = _place(step.code)
            yield from _of_specs(
                "pipeline", f"{prefix}.{step.operation}()", step.specs, place, _HOST, name, after
            )
            after = (name,)
    arrays = (*data.x, *data.y, *data.sample_weight)
    for array in arrays:
        yield replace(_of_array(array, data), name=_name(data, array.path), after=after)
    fed = tuple(_name(data, array.path) for array in arrays) or after
    yield from _of_specs(
        "batch", f"{prefix}first batch", data.first_batch, None, "", _name(data, "batch"), fed
    )
    if data.last_batch and data.last_batch != data.first_batch:
        name = _name(data, "last batch")
        yield from _of_specs("batch", f"{prefix}last batch", data.last_batch, None, "", name, fed)
    if data.problem is not None:
        yield WayStep(
            "batch",
            f"reading the {prefix}data",
            location=data.problem.place,
            note=_raised(data.problem),
            name=_name(data, "problem"),
            after=fed,
        )


def _path(array: ArrayFacts, data: DataFacts) -> str:
    """What the user calls it, with the role unless it is the training data's."""
    named = data.role == "training" or array.path.startswith(data.role)
    return array.path if named else f"{data.role} {array.path}"


def _of_array(array: ArrayFacts, data: DataFacts) -> WayStep:
    name = _path(array, data)
    dtype = "?" if isinstance(array.dtype, Unknown) else array.dtype
    return WayStep("data", name, shape_text(array.shape), dtype, array.device or _HOST, _place(array.code))


def _statistics(every: Sequence[DataFacts]) -> tuple[ComponentReport, ...]:
    """The statistics of each array, in the form that `scan` has them."""
    return tuple(
        found
        for data in every
        for part, arrays in (("x", data.x), ("y", data.y), ("sample_weight", data.sample_weight))
        for array in arrays
        if (found := _component(array, data, part)) is not None
    )


def _component(array: ArrayFacts, data: DataFacts, part: str) -> ComponentReport | None:
    seen = array.statistics
    if isinstance(seen, Unknown):
        return None
    histogram = seen.histogram if part == "y" else None
    frequent = sorted(histogram or (), key=lambda pair: -pair[1])[:_MOST_LABELS]
    dtype = () if isinstance(array.dtype, Unknown) else (SeenReport(array.dtype, seen.count),)
    return ComponentReport(
        path=_path(array, data),
        part=part,
        rows=seen.count,
        shapes=(SeenReport(shape_text(array.shape), seen.count),),
        types=dtype,
        minimum=seen.minimum,
        maximum=seen.maximum,
        mean=seen.mean,
        nan=seen.nan,
        inf=seen.inf,
        missing=0,
        first_nonfinite=_row_words(seen.first_nonfinite),
        labels=tuple(frequent) if histogram is not None else None,
        distinct=len(histogram) if histogram is not None else None,
        nonfinite_columns=tuple((each.name, each.nonfinite) for each in array.columns if each.nonfinite),
    )


def _row_words(index: tuple[int, ...] | None) -> str:
    if not index:
        return ""
    return f"row {index[0]}" + (f", index {index[1:]}" if len(index) > 1 else "")


# --- a break that no shape shows -----------------------------------------------------------------------------------

_REJECTED_BY = {"1": "model", "2": "loss"}
"""The stage that rejects values, by the family of the cause: features at the model, labels at the loss."""


def with_break(ways: tuple[Way, ...], finding: Finding | None) -> tuple[Way, ...]:
    """Return the data flow with the stage marked that rejects the values of an error, if nothing else is marked."""
    if finding is None or finding.severity is not Severity.ERROR or not ways:
        return ways
    if any(step.note for way in ways for step in way.steps):
        return ways
    first, stage = ways[0], _REJECTED_BY.get(finding.id[3])
    place = next((number for number, step in enumerate(first.steps) if step.stage == stage), None)
    if place is None:
        return ways
    figures = next((each for each in finding.evidence if each.observed and each.expected), None)
    note = f"{finding.id}: {figures.observed}, expected {figures.expected}" if figures else finding.id
    marked = replace(first.steps[place], note=note)
    steps = (*first.steps[:place], marked, *first.steps[place + 1 :])
    return (replace(first, steps=steps), *ways[1:])


# --- the model ----------------------------------------------------------------------------------------------------


def _of_model(
    model: ModelFacts, refusals: dict[str, str], data: tuple[str, ...], labelled: DataFacts | None
) -> Iterator[WayStep]:
    device = model.device
    # The model as a whole, or its input layer, refused what it was given: that is said at its input.
    at_input = next(
        (refusals[name] for name in (model.name, "", *model.input_layers) if name in refusals), ""
    )
    entry = data
    if not isinstance(model.inputs, Unknown) and model.inputs:
        for number, step in enumerate(
            _of_specs("model", _INPUT, model.inputs, _place(model.input_code), device, _INPUT, data)
        ):
            yield step if number else replace(step, note=at_input)
        entry = (_INPUT,)
    yield from _of_layers(model.layers, model.kind, (), entry, device, refusals)
    ends = _ends(model)
    if not isinstance(model.outputs, Unknown):
        yield from _of_specs("model", _OUTPUT, model.outputs, None, device, _OUTPUT, ends or entry)
        ends = (_OUTPUT,)
    for number, loss in enumerate(model.losses):
        named = f"loss {loss.name}{f' of {loss.output}' if loss.output else ''}"
        yield WayStep(
            "loss",
            named,
            location=_place(loss.code),
            note=refusals.get("loss of the model", ""),
            name=f"loss {number}",
            after=(*(ends or entry), *_labels_of(number, model, labelled)),
        )


def _labels_of(number: int, model: ModelFacts, data: DataFacts | None) -> Iterator[str]:
    """The labels that a loss compares with: those of its output where that is known, else all."""
    if data is None:
        return
    output = model.losses[number].output
    own = [array for array in data.y if output and array.key == output]
    if not own and len(data.y) == len(model.losses) and data.y_structure in ("list", "tuple"):
        own = [data.y[number]]
    for array in (*(own or data.y), *data.sample_weight):
        yield _name(data, array.path)


def _of_layers(
    layers: Sequence[LayerFacts],
    kind: str,
    block: tuple[str, ...],
    entry: tuple[str, ...],
    device: str,
    refusals: dict[str, str],
) -> Iterator[WayStep]:
    """The layers of a model, each before those inside of it.

    Args:
        layers: them.
        kind: of the model that they are the layers of: in what order those of another kind run is not known.
        block: the nested models that they are inside of.
        entry: what feeds those that no layer feeds.
        device: where the weights are.
        refusals: what was raised, by the layer's name.
    """
    before = entry
    names = {layer.name for layer in layers}
    for layer in layers:
        shapes = layer.output_shapes
        shown = "?" if isinstance(shapes, Unknown) else " ".join(shape_text(shape) for shape in shapes)
        name = "/".join((*block, layer.name))
        fed = tuple("/".join((*block, each)) for each in layer.fed_by if each in names)
        after = fed or (before if kind == "sequential" else entry if _is_input(layer) else ())
        yield WayStep(
            "model",
            f"{layer.class_name} {layer.name}",
            shown,
            " ".join(dict.fromkeys(layer.output_dtypes)),
            device,
            _place(layer.code),
            refusals.get(layer.name, ""),
            name,
            after,
            block,
        )
        before = (name,)
        inside = "functional" if any(each.fed_by for each in layer.sublayers) else "subclassed"
        yield from _of_layers(layer.sublayers, inside, (*block, layer.name), (), device, refusals)


def _is_input(layer: LayerFacts) -> bool:
    return layer.class_name == "InputLayer"


def _ends(model: ModelFacts) -> tuple[str, ...]:
    """The layers that the outputs come from."""
    if model.output_paths:
        return tuple(dict.fromkeys(path[0] for path in model.output_paths if path))
    if model.kind == "sequential":
        return tuple(layer.name for layer in model.layers[-1:])
    feeding = {name for layer in model.layers for name in layer.fed_by}
    return tuple(layer.name for layer in model.layers if layer.fed_by and layer.name not in feeding)


def _refusals(every: tuple[DataFacts, ...]) -> dict[str, str]:
    """What was raised when the model was tried on the data's shapes, by the name of the layer that raised it."""
    found: dict[str, str] = {}
    for data in every:
        forward, loss = data.trial.forward, data.trial.loss
        if isinstance(forward, Outcome) and forward.failure is not None:
            found.setdefault(forward.failure.layer, _refused(forward.failure))
        elif isinstance(loss, Outcome) and loss.failure is not None:
            found.setdefault("loss of the model", _refused(loss.failure))
    return found


def _refused(failure: FailureSummary) -> str:
    given = ", ".join(shape_text(spec.shape) for spec in failure.inputs)
    return f"rejects {given}" if given else _raised(failure)


def _raised(failure: FailureSummary) -> str:
    first = failure.message.strip().split("\n")[0]
    if len(first) > _LONGEST:
        first = first[:_LONGEST].rpartition(" ")[0] + " …"
    return f"{failure.type}: {first}"


_LONGEST = 300


def _of_trial(data: DataFacts) -> Iterator[WayStep]:
    for stage, name, outcome in (
        ("model", "forward pass", data.trial.forward),
        ("loss", "loss", data.trial.loss),
    ):
        if not isinstance(outcome, Outcome):
            continue
        said = f"tried on {data.role} data: {name}"
        if outcome.failure is None:
            yield from _of_specs(stage, said, outcome.specs, None, "")
            continue
        yield WayStep(stage, said, location=outcome.failure.place, note=_raised(outcome.failure))


def _of_specs(
    stage: str,
    title: str,
    specs: tuple[Spec, ...],
    place: Location | None,
    device: str,
    name: str = "",
    after: tuple[str, ...] = (),
) -> Iterator[WayStep]:
    for spec in specs:
        label = f"{title} {spec.name}" if spec.name else title
        yield WayStep(stage, label, shape_text(spec.shape), spec.dtype, device, place, name=name, after=after)


def shape_text(shape: tuple[int | None, ...] | Unknown) -> str:
    """A shape as Python writes it."""
    return "?" if isinstance(shape, Unknown) else str(tuple(shape))


def _place(code: Code | Unknown) -> Location | None:
    return None if isinstance(code, Unknown) else code.location
