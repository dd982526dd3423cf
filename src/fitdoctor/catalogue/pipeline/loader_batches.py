"""What Keras, or torch itself, refuses of the batches of a torch DataLoader."""

from __future__ import annotations

from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.catalogue import Cause


@dataclass(frozen=True)
class Refused:
    """One way in which a batch is refused."""

    message: str
    observed: str
    expected: str
    remedy: str


_TABLE = (
    (
        pattern(r"TypeSpec` but found <class 'str'>"),
        Refused(
            "a batch of the DataLoader is a dict: fit reads `x, y` from a tuple or list",
            "a dict",
            "a tuple `(x, y)`",
            "return `(x, y)` for each sample; several inputs may be a dict in the place of x",
        ),
    ),
    (
        pattern(r"TypeSpec` but found <class 'list'>"),
        Refused(
            "a batch of the DataLoader holds a list: torch makes lists of the tuples inside a sample",
            "a list inside the batch",
            "a dict of tensors",
            "return the parts as a dict by name: `{'left': …, 'right': …}, y`",
        ),
    ),
    (
        pattern(r"'TensorSpec' object is not iterable"),
        Refused(
            "a batch of the DataLoader is one tensor: fit reads `x, y` from a tuple or list",
            "one tensor",
            "a tuple `(x, y)`",
            "return `(x, y)` for each sample, or `(x,)` where there are no labels",
        ),
    ),
    (
        pattern(r"'(?:numpy\.)?(?P<kind>\w+)' object has no attribute 'cpu'"),
        Refused(
            "a batch of the DataLoader holds no torch tensors: Keras takes nothing else from it",
            "a `{kind}`",
            "torch tensors",
            "return torch tensors from the `collate_fn`: `torch.as_tensor(…)`",
        ),
    ),
    (
        pattern(r"Can't call numpy\(\) on Tensor that requires grad"),
        Refused(
            "a tensor of the DataLoader requires a gradient of torch: it cannot become an array",
            "`requires_grad=True`",
            "plain data",
            "detach the data: `x.detach()`",
        ),
    ),
    (
        pattern(r"stack expects each tensor to be equal size, but got (?P<a>\[[\d, ]*\]).*?(?P<b>\[[\d, ]*\])"),
        Refused(
            "the samples of the DataLoader differ in size, and its `collate_fn` stacks them",
            "{a} and {b}",
            "one size in a batch",
            "pad them in a `collate_fn` (`torch.nn.utils.rnn.pad_sequence`), or make them of one size",
        ),
    ),
    (
        pattern(r"batch must contain tensors, .*?; found <class '(?P<kind>[\w.]+)'>"),
        Refused(
            "a sample of the DataLoader holds a `{kind}`, of which torch makes no batch",
            "a `{kind}`",
            "tensors, arrays or numbers",
            "turn it into a tensor in the dataset (`transforms.ToTensor()` for a picture)",
        ),
    ),
)  # fmt: skip


def refused(message: str) -> Refused | None:
    """What a message says of the batches; None when it says something else."""
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
    """The finding where a batch was read, and Keras's own code or torch refused it."""
    found = refused(data.problem.message) if data.form == "dataloader" and data.problem is not None else None
    if found is None or data.problem is None:
        return None
    return _finding(cause, found, data.role, place(data.problem.place, data.code, fit_call.code))


def failed(cause: Cause, failure: FailureFacts, data: DataFacts | Unknown) -> Finding | None:
    """The finding where an exception came out of a DataLoader, or out of what Keras makes of one."""
    marks = ("torch_data_loader_adapter", "torch/utils/data/")
    texts = [failure.raw_message, failure.message, *(frame.path for frame in failure.frames)]
    found = refused(failure.message)
    # Of all that fit takes, only a DataLoader makes a signature of a dict's keys; Keras hides the frames between.
    keys = "found <class 'str'>" in failure.message and failure.called in ("fit", "evaluate", "predict")
    if found is None or not (
        keys or any(mark in text.replace("\\", "/") for mark in marks for text in texts)
    ):
        return None
    frame = failure.last_user_frame
    code = data.code if isinstance(data, DataFacts) and data.form == "dataloader" else None
    return _finding(cause, found, "training", place(code, frame.location if frame is not None else None))


def _finding(cause: Cause, found: Refused, role: str, location: Location | None) -> Finding:
    return cause.finding(
        found.message,
        subject=f"{role} data",
        location=location,
        evidence=[
            Evidence(
                claim="what it gives", observed=found.observed, expected=found.expected, fact="data.element"
            )
        ],
        fixes=[fix(found.remedy)],
        confidence=Confidence.CERTAIN,
    )
