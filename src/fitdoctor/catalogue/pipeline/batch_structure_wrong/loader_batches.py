"""Batches of a torch DataLoader that Keras or torch rejects."""

from __future__ import annotations

import re

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Evidence, Finding, Location
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, Unknown
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Refused:
    """One way in which a batch is rejected."""

    message: str
    observed: str
    expected: str
    remedy: str


_TABLE = (
    (
        re.compile(r"TypeSpec` but found <class 'str'>"),
        Refused(
            "the DataLoader yields dicts, but `fit` expects `(x, y)` tuples or lists",
            "a dict",
            "a tuple `(x, y)`",
            "return `(x, y)` for each sample; with several inputs, `x` can be a dict",
        ),
    ),
    (
        re.compile(r"TypeSpec` but found <class 'list'>"),
        Refused(
            "the batches of the DataLoader contain a list: torch converts tuples inside a sample to lists",
            "a list inside the batch",
            "a dict of tensors",
            "return the parts as a dict: `{'left': …, 'right': …}, y`",
        ),
    ),
    (
        re.compile(r"'TensorSpec' object is not iterable"),
        Refused(
            "the DataLoader yields single tensors, but `fit` expects `(x, y)` tuples or lists",
            "one tensor",
            "a tuple `(x, y)`",
            "return `(x, y)` for each sample, or `(x,)` if there are no labels",
        ),
    ),
    (
        re.compile(r"'(?:numpy\.)?(?P<kind>\w+)' object has no attribute 'cpu'"),
        Refused(
            "the batches of the DataLoader are not torch tensors, the only type Keras accepts from it",
            "a `{kind}`",
            "torch tensors",
            "return torch tensors from the `collate_fn`: `torch.as_tensor(…)`",
        ),
    ),
    (
        re.compile(r"Can't call numpy\(\) on Tensor that requires grad"),
        Refused(
            "a tensor from the DataLoader requires a torch gradient, so it cannot be converted to an array",
            "`requires_grad=True`",
            "`requires_grad=False`",
            "detach the data with `x.detach()`",
        ),
    ),
    (
        re.compile(r"stack expects each tensor to be equal size, but got (?P<a>\[[\d, ]*\]).*?(?P<b>\[[\d, ]*\])"),
        Refused(
            "the samples of the DataLoader differ in size, so its `collate_fn` cannot stack them",
            "{a} and {b}",
            "one size per batch",
            "pad them in a `collate_fn` (`torch.nn.utils.rnn.pad_sequence`), or make them the same size",
        ),
    ),
    (
        re.compile(r"batch must contain tensors, .*?; found <class '(?P<kind>[\w.]+)'>"),
        Refused(
            "a sample of the DataLoader contains a `{kind}`, which torch cannot batch",
            "a `{kind}`",
            "tensors, arrays or numbers",
            "convert it to a tensor in the dataset (`transforms.ToTensor()` for an image)",
        ),
    ),
)  # fmt: skip


def refused(message: str) -> Refused | None:
    """Return what a message says about the batches, or None if it is about something else."""
    for words, found in _TABLE:
        match = words.search(message)
        if match is not None:
            names = match.groupdict()
            return Refused(
                found.message.format(**names) if names else found.message,
                found.observed.format(**names) if names else found.observed,
                found.expected,
                found.remedy,
            )
    return None


def seen(cause: Cause, fit_call: FitFacts, data: DataFacts) -> Finding | None:
    """Return the finding if a batch was read and Keras or torch rejected it."""
    found = refused(data.problem.message) if data.form == "dataloader" and data.problem is not None else None
    if found is None or data.problem is None:
        return None
    return _finding(cause, found, data.role, place(data.problem.place, data.code, fit_call.code))


def failed(cause: Cause, failure: FailureFacts, data: DataFacts | Unknown) -> Finding | None:
    """Return the finding for an exception from a DataLoader or from the Keras code that reads it."""
    marks = ("torch_data_loader_adapter", "torch/utils/data/")
    texts = [failure.raw_message, failure.message, *(frame.path for frame in failure.frames)]
    found = refused(failure.message)
    # Only a DataLoader yields a signature from dict keys; Keras hides the frames in between.
    keys = "found <class 'str'>" in failure.message and failure.called in ("fit", "evaluate", "predict")
    if found is None or not (
        keys or any(mark in text.replace("\\", "/") for mark in marks for text in texts)
    ):
        return None
    frame = failure.last_user_frame
    code = data.code if isinstance(data, DataFacts) and data.form == "dataloader" else None
    return _finding(cause, found, "training", place(code, frame.location if frame is not None else None))


def _finding(cause: Cause, found: Refused, role: str, location: Location | None) -> Finding:
    return cause.certain(
        found.message,
        location,
        Evidence("batch", found.observed, found.expected, fact="data.element"),
        fix(found.remedy),
        subject=f"{role} data",
    )
