"""The data flow through a call of `fit`, stage by stage, and where data and expectation differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fitdoctor.diagnosis import Location, Way, WayStep
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureSummary, ModelFacts, Outcome, Spec, Unknown

if TYPE_CHECKING:
    from fitdoctor.cases import Call

_MOST_LAYERS = 60
_HOST = "host"
"""NumPy arrays and tf.data pipelines are in the machine's memory, wherever the model runs."""


def way_of(call: Call) -> Way:
    """Return the stages: arrays, pipeline steps, what reaches the model, its layers, its outputs and the loss."""
    model = None if isinstance(call.model, Unknown) else call.model
    steps = [step for data in call.data for step in _of_data(data)]
    if model is not None:
        steps += _of_model(model, _refusals(call.data))
    steps += [step for data in call.data for step in _of_trial(data)]
    return Way(call.fit.method, _place(call.fit.code), tuple(steps))


def _of_data(data: DataFacts) -> Iterator[WayStep]:
    prefix = "" if data.role == "training" else f"{data.role} "
    for step in data.pipeline:
        yield from _of_specs("pipeline", f"{prefix}.{step.operation}()", step.specs, _place(step.code), _HOST)
    for array in (*data.x, *data.y, *data.sample_weight):
        yield _of_array(array, data, prefix)
    yield from _of_specs("batch", f"{prefix}first batch", data.first_batch, None, "")
    if data.last_batch and data.last_batch != data.first_batch:
        yield from _of_specs("batch", f"{prefix}last batch", data.last_batch, None, "")
    if data.problem is not None:
        yield WayStep(
            "batch", f"reading the {prefix}data", location=data.problem.place, note=_raised(data.problem)
        )


def _of_array(array: ArrayFacts, data: DataFacts, prefix: str) -> WayStep:
    name = array.path if array.path.startswith(data.role) else f"{prefix}{array.path}"
    dtype = "?" if isinstance(array.dtype, Unknown) else array.dtype
    return WayStep("data", name, shape_text(array.shape), dtype, array.device or _HOST, _place(array.code))


def _of_model(model: ModelFacts, refusals: dict[str, str]) -> Iterator[WayStep]:
    device = model.device
    # The model as a whole, or its input layer, refused what it was given: that is said at its input.
    at_input = next(
        (refusals[name] for name in (model.name, "", *model.input_layers) if name in refusals), ""
    )
    if not isinstance(model.inputs, Unknown):
        for number, step in enumerate(
            _of_specs("model", "model input", model.inputs, _place(model.input_code), device)
        ):
            yield step if number else replace(step, note=at_input)
    layers = model.every_layer()
    for layer in layers[:_MOST_LAYERS]:
        shapes = layer.output_shapes
        shown = "?" if isinstance(shapes, Unknown) else " ".join(shape_text(shape) for shape in shapes)
        yield WayStep(
            "model",
            f"{layer.class_name} {layer.name}",
            shown,
            device=device,
            location=_place(layer.code),
            note=refusals.get(layer.name, ""),
        )
    if len(layers) > _MOST_LAYERS:
        yield WayStep("model", f"… {len(layers) - _MOST_LAYERS} more layers")
    if not isinstance(model.outputs, Unknown):
        yield from _of_specs("model", "model output", model.outputs, None, device)
    for loss in model.losses:
        named = f"loss {loss.name}{f' of {loss.output}' if loss.output else ''}"
        yield WayStep("loss", named, location=_place(loss.code), note=refusals.get("loss of the model", ""))


def _refusals(every: tuple[DataFacts, ...]) -> dict[str, str]:
    """Return what the trial on the data's shapes raised, by the name of the layer that raised it."""
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
    return f"{failure.type}: {failure.message.strip().split(chr(10))[0][:160]}"


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
    stage: str, name: str, specs: tuple[Spec, ...], place: Location | None, device: str
) -> Iterator[WayStep]:
    for spec in specs:
        label = f"{name} {spec.name}" if spec.name else name
        yield WayStep(stage, label, shape_text(spec.shape), spec.dtype, device, place)


def shape_text(shape: tuple[int | None, ...] | Unknown) -> str:
    """A shape as Python writes it."""
    if isinstance(shape, Unknown):
        return "?"
    inside = ", ".join("None" if size is None else str(size) for size in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def _place(code: Code | Unknown) -> Location | None:
    return None if isinstance(code, Unknown) else code.location
