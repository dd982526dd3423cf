"""Queries about tf.data pipelines: which stage does what, and edits on the chain of calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit, Location
from fitdoctor.edits import replace_code, wrap
from fitdoctor.facts import Code, DataFacts, PipelineStep, Unknown
from fitdoctor.records import replace
from fitdoctor.source.module import Module

BATCHING = frozenset(
    "batch padded_batch ragged_batch dense_to_ragged_batch sparse_batch map_and_batch bucket_by_sequence_length".split()
)
"""Operations that add a batch axis."""
UNBATCHING = frozenset("unbatch flat_map interleave rebatch group_by_window window reduce".split())
"""Operations after which the batch axis is unknown."""
READY_MADE = frozenset(
    "image_dataset_from_directory text_dataset_from_directory audio_dataset_from_directory "
    "timeseries_dataset_from_array make_csv_dataset".split()
)
"""Functions that return batched datasets."""


def words(data: DataFacts) -> str:
    """Return `dataset`, `generator` and so on, with its role if it is validation data."""
    kind = {"pydataset": "PyDataset", "dataloader": "DataLoader"}.get(data.form, data.form)
    return kind if data.role == "training" else f"validation {kind}"


def batch_steps(pipeline: tuple[PipelineStep, ...]) -> list[PipelineStep]:
    """Return the stages that add a batch axis and are not undone later."""
    found: list[PipelineStep] = []
    for step in pipeline:
        if step.operation in UNBATCHING:
            found.clear()
        elif step.operation in BATCHING or step.operation in READY_MADE:
            found.append(step)
    return found


def setting(step: PipelineStep, name: str) -> str | None:
    """Return a plain argument of a stage as text."""
    return dict(step.arguments).get(name)


def whole_setting(step: PipelineStep, name: str) -> int | None:
    """Return a plain argument of a stage as an integer."""
    try:
        return int(setting(step, name) or "")
    except ValueError:
        return None


def coded(steps: tuple[PipelineStep, ...] | list[PipelineStep]) -> Iterator[tuple[PipelineStep, Code]]:
    """Return the stages whose place in the source is known."""
    for step in steps:
        if isinstance(step.code, Code):
            yield step, step.code


def step_place(code: Code | Unknown) -> Location | None:
    """Return the place of a stage's own call; in a multi-line chain, from its method name on."""
    if isinstance(code, Unknown):
        return None
    end = receiver_end(code)
    if end is None:
        return code.location
    start = code.text.index(".", end) if "." in code.text[end:] else end
    before = code.text[:start]
    lines = before.count("\n")
    if not lines:
        return code.location
    column = start - before.rindex("\n")
    return replace(code.location, line=code.location.line + lines, column=column)


def in_one_function(*steps: PipelineStep) -> tuple[PipelineStep, ...]:
    """Return stages that several functions make with the calls of these in the function that decides on their order."""
    ways = [[step.code, *step.callers] for step in steps]
    for code in ways[0]:
        found = [
            each for way in ways for each in way if isinstance(each, Code) and _same_function(each, code)
        ]
        if len(found) == len(steps) == len({each.location for each in found}):
            return tuple(replace(step, code=each) for step, each in zip(steps, found, strict=True))
    return steps


def _same_function(code: Code, other: Code | Unknown) -> bool:
    if isinstance(other, Unknown):
        return False
    return (code.location.path, code.function) == (other.location.path, other.function)


def on_ready_made(module: Module, call: ast.Call) -> bool:
    """Return whether a stage follows a dataset that is created already batched."""
    start: ast.expr = call
    for _ in range(20):
        if isinstance(start, ast.Call):
            if module.resolve(start.func).rpartition(".")[2] in READY_MADE:
                return True
            if not isinstance(start.func, ast.Attribute) or start.func.attr in UNBATCHING:
                return False
            start = start.func.value
        made = module.made_by(start)
        if made is start and not isinstance(start, ast.Call):
            return False
        start = made
    return False


_UNLIKE = (
    re.compile(
        r"First element had shape \[(?P<first>[\d,]*)\] and element \d+ had shape \[(?P<other>[\d,]*)\]"
    ),
    re.compile(
        r"Cannot add tensor to the batch: number of elements does not match\. Shapes are: "
        r"\[tensor\]: \[(?P<other>[\d,]*)\], \[batch\]: \[(?P<first>[\d,]*)\]"
    ),
)


def unlike_shapes(message: str) -> tuple[list[str], list[str]] | None:
    """Return the shapes of two elements that `batch` could not combine, from TensorFlow's message."""
    for one in _UNLIKE:
        said = one.search(message)
        if said is not None:
            first, other = (said[name].split(",") if said[name] else [] for name in ("first", "other"))
            return first, other
    return None


# --- edits --------------------------------------------------------------------------------------------------------


def receiver_end(code: Code) -> int | None:
    """Return where the receiver of `receiver.method(…)` ends in the text, or None for other code."""
    try:
        # In parentheses, because a chain of calls may span several lines.
        call = ast.parse(f"({code.text}\n)", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    receiver = call.func.value
    line, column = receiver.end_lineno or 1, receiver.end_col_offset or 0
    lines = code.text.split("\n")
    # The parser counts bytes, and our parenthesis shifts the first line.
    within = lines[line - 1].encode()[: column - (1 if line == 1 else 0)].decode()
    return sum(len(text) + 1 for text in lines[: line - 1]) + len(within)


def without_step(code: Code | Unknown) -> tuple[Edit, ...]:
    """Remove the last call of `receiver.method(…)`."""
    if isinstance(code, Unknown):
        return ()
    end = receiver_end(code)
    return () if end is None else replace_code(code, code.text[:end])


def with_step_before(code: Code | Unknown, call: str) -> tuple[Edit, ...]:
    """Insert a call such as `.batch(32)` between the receiver and the last call."""
    if isinstance(code, Unknown):
        return ()
    end = receiver_end(code)
    return () if end is None else replace_code(code, code.text[:end] + call + code.text[end:])


def padded(batch: Code | Unknown) -> tuple[Edit, ...]:
    """Replace `batch` with `padded_batch`."""
    end = receiver_end(batch) if isinstance(batch, Code) else None
    if end is None or isinstance(batch, Unknown) or ".batch(" not in batch.text[end:]:
        return ()
    paren = batch.open_paren_end
    if paren is None:
        return ()
    name = replace(paren, column=paren.column - len("batch("), end_column=paren.column - len("("))
    return (Edit(name, "padded_batch"),)


def with_step_after(code: Code | Unknown, call: str) -> tuple[Edit, ...]:
    """Append a call such as `.repeat()` to the expression."""
    return wrap(code, "{}" + call)
