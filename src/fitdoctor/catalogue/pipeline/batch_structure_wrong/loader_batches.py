"""Batches of a torch DataLoader that Keras or torch rejects."""

from __future__ import annotations

import re

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, Unknown

_REFUSED = (
    (
        "TypeSpec` but found <class 'str'>",
        "the DataLoader yields dicts, but `fit` expects `(x, y)` tuples or lists",
        "return `(x, y)` for each sample; with several inputs, `x` can be a dict",
    ),
    (
        "TypeSpec` but found <class 'list'>",
        "the batches of the DataLoader contain a list: torch converts tuples inside a sample to lists",
        "return the parts as a dict: `{'left': …, 'right': …}, y`",
    ),
    (
        "'TensorSpec' object is not iterable",
        "the DataLoader yields single tensors, but `fit` expects `(x, y)` tuples or lists",
        "return `(x, y)` for each sample, or `(x,)` if there are no labels",
    ),
    (
        "object has no attribute 'cpu'",
        "the batches of the DataLoader are not torch tensors, the only type Keras accepts from it",
        "return torch tensors from the `collate_fn`: `torch.as_tensor(…)`",
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        "a tensor from the DataLoader requires a torch gradient, so it cannot be converted to an array",
        "detach the data with `x.detach()`",
    ),
    (
        "stack expects each tensor to be equal size, but got",
        "the samples of the DataLoader differ in size, so its `collate_fn` cannot stack them",
        "pad them in a `collate_fn` (`torch.nn.utils.rnn.pad_sequence`), or make them the same size",
    ),
    (
        "batch must contain tensors, .*?; found <class",
        "a sample of the DataLoader contains an object that torch cannot batch",
        "convert it to a tensor in the dataset (`transforms.ToTensor()` for an image)",
    ),
)
"""What torch and Keras say about a batch, what is wrong with it, and the remedy (torch was not run here)."""


def seen(cause: Cause, fit_call: FitFacts, data: DataFacts) -> Finding | None:
    """Return the finding if a batch was read and Keras or torch rejected it."""
    if data.form != "dataloader" or data.problem is None:
        return None
    where = place(data.problem.place, data.code, fit_call.code)
    return _finding(cause, data.problem.message, data.role, where)


def failed(cause: Cause, failure: FailureFacts, data: DataFacts | Unknown) -> Finding | None:
    """Return the finding for an exception from a DataLoader or from the Keras code that reads it."""
    marks = ("torch_data_loader_adapter", "torch/utils/data/")
    texts = [failure.raw_message, failure.message, *(frame.path for frame in failure.frames)]
    # Only a DataLoader yields a signature from dict keys; Keras hides the frames in between.
    keys = "found <class 'str'>" in failure.message and failure.called in ("fit", "evaluate", "predict")
    if not keys and not any(mark in text.replace("\\", "/") for mark in marks for text in texts):
        return None
    code = data.code if isinstance(data, DataFacts) and data.form == "dataloader" else None
    return _finding(cause, failure.message, "training", place(code, failure.location))


def _finding(cause: Cause, message: str, role: str, location: Location | None) -> Finding | None:
    for words, problem, remedy in _REFUSED:
        said = re.search(words, message)
        if said is not None:
            return cause.finding(
                problem,
                location,
                Evidence("the batch was rejected", said[0], fact="data.element"),
                fix(remedy),
                subject=f"{role} data",
                confidence=Confidence.CERTAIN,
            )
    return None
