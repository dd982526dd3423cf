"""The way of the data through a call of fit as a table: what it is, its shape and type, and where it was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fitdoctor.facts import Code, DataFacts, ModelFacts, Outcome, Spec, Unknown
from fitdoctor.report.paint import Line, cells, painted, printable

if TYPE_CHECKING:
    from fitdoctor.examine import Call

Row = tuple[str, str, str, str]
"""What, shape, type, place."""

HEAD: Row = ("", "shape", "type", "made at")
_MOST_LAYERS = 60


def trace_table(call: Call, *, color: bool = False, width: int = 100) -> str:
    """The table as text, ended by a line break."""
    rows = [HEAD, *trace_rows(call)]
    widths = [max(cells(row[column]) for row in rows) for column in range(3)]
    lines: list[Line] = [[(f"the way of the data through `{call.fit.method}`{_at(call.fit.code)}", "strong")]]
    for number, row in enumerate(rows):
        style = "dim" if number == 0 else ""
        line: Line = [("  ", "")]
        for text, column in zip(row[:3], widths, strict=True):
            line.append((f"{text}{' ' * (column - cells(text))}  ", style))
        line.append((row[3], "dim"))
        lines.append(line)
    return painted(lines, color=color)


def trace_rows(call: Call) -> Iterator[Row]:
    """Arrays, steps of the pipeline, what reaches the model, its layers, its outputs and the loss."""
    for data in call.data:
        yield from _of_data(data)
    if not isinstance(call.model, Unknown):
        yield from _of_model(call.model)
    for data in call.data:
        yield from _of_trial(data)


def _of_data(data: DataFacts) -> Iterator[Row]:
    prefix = "" if data.role == "training" else f"{data.role} "
    for step in data.pipeline:
        name = f"{prefix}.{step.operation}()"
        yield from _of_specs(name, step.specs, _place(step.code))
    for array in (*data.x, *data.y, *data.sample_weight):
        name = array.path if array.path.startswith(data.role) else f"{prefix}{array.path}"
        yield name, _shape(array.shape), _text(array.dtype), _place(array.code)
    yield from _of_specs(f"{prefix}first batch", data.first_batch, "")
    if data.last_batch and data.last_batch != data.first_batch:
        yield from _of_specs(f"{prefix}last batch", data.last_batch, "")
    if data.problem is not None:
        yield f"{prefix}problem: {data.problem.type}", "", "", str(data.problem.place or "")


def _of_model(model: ModelFacts) -> Iterator[Row]:
    if not isinstance(model.inputs, Unknown):
        yield from _of_specs("model input", model.inputs, _place(model.input_code))
    layers = model.every_layer()
    for layer in layers[:_MOST_LAYERS]:
        shapes = layer.output_shapes
        shown = "?" if isinstance(shapes, Unknown) else " ".join(_shape(shape) for shape in shapes)
        yield f"{layer.class_name} {layer.name}", shown, "", _place(layer.code)
    if len(layers) > _MOST_LAYERS:
        yield f"… {len(layers) - _MOST_LAYERS} more layers", "", "", ""
    if not isinstance(model.outputs, Unknown):
        yield from _of_specs("model output", model.outputs, "")
    for loss in model.losses:
        yield f"loss {loss.name}{f' of {loss.output}' if loss.output else ''}", "", "", _place(loss.code)


def _of_trial(data: DataFacts) -> Iterator[Row]:
    for name, outcome in (("forward pass", data.trial.forward), ("loss", data.trial.loss)):
        if isinstance(outcome, Outcome):
            yield from _of_outcome(f"tried on {data.role} data: {name}", outcome)


def _of_outcome(name: str, outcome: Outcome) -> Iterator[Row]:
    if outcome.failure is None:
        yield from _of_specs(name, outcome.specs, "")
        return
    failure = outcome.failure
    where = f" in {failure.layer}" if failure.layer else ""
    yield f"{name}: {failure.type}{where}", "", "", str(failure.place or "")
    yield from _of_specs("  it was given", failure.inputs, "")


def _of_specs(name: str, specs: tuple[Spec, ...], place: str) -> Iterator[Row]:
    for spec in specs:
        label = f"{name} {spec.name}" if spec.name else name
        yield printable(label), _shape(spec.shape), spec.dtype, place


def _shape(shape: tuple[int | None, ...] | Unknown) -> str:
    if isinstance(shape, Unknown):
        return "?"
    inside = ", ".join("None" if size is None else str(size) for size in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def _text(value: str | Unknown) -> str:
    return "?" if isinstance(value, Unknown) else value


def _place(code: Code | Unknown) -> str:
    return "" if isinstance(code, Unknown) else str(code.location)


def _at(code: Code | Unknown) -> str:
    return "" if isinstance(code, Unknown) else f" ({code.location})"
