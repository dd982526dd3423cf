"""Data that the model rejects: its `Input`, or the first layer that checks the shape.

A cause explains a mismatch of the data (`explain`), and what the message says if the data is unknown (`read`). How sure
it is, and which of the two applies, is decided here (`explains_inputs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fitdoctor.catalogue import Cause, doubting
from fitdoctor.catalogue.knowledge.data.shapes import (
    fits,
    input_code_of,
    lacks_its_batch,
    minded,
    paired,
    proven,
    refused,
    relation,
    sample_given_by_hand,
    says_batch,
    shape_of_data,
    shuffled,
    went_through,
    while_validating,
)
from fitdoctor.catalogue.prefilter import INPUTS
from fitdoctor.catalogue.words import argument_words, place, shape_words
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location
from fitdoctor.facts import (
    CALLS,
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    Shape,
    Spec,
    Unknown,
)
from fitdoctor.failure.shapes import InputMismatch, input_mismatch, kernel_mismatch
from fitdoctor.records import dataclass
from fitdoctor.source.project import Project


@dataclass(frozen=True)
class Mismatch:
    """One input whose samples do not have the expected shape."""

    array: ArrayFacts
    expected: Spec
    found_sample: Shape
    expected_sample: Shape
    kind: str
    """See `relation`; `batch`: the expected shape starts with the number of samples or the batch size."""
    code: Code | Unknown = Unknown("the model declares no input shape")
    """What sets the expected shape: an `Input(…)`, or the layer that rejects the data."""
    by_layer: bool = False
    """Whether a layer rejects the data because the model has no `Input`."""
    rank: int | None = None
    """The number of axes that the layer expects, if only that is known."""


@dataclass(frozen=True)
class Given:
    """The call that passed the data, and how sure it is that the model rejects it."""

    model: ModelFacts
    fit: FitFacts | Unknown
    data: DataFacts
    project: Project
    confidence: Confidence = Confidence.LIKELY
    method: str = ""
    """The method that was called with the data; "" if unknown."""

    @property
    def by_hand(self) -> bool:
        """Whether the user's own loop calls the model."""
        return isinstance(self.fit, FitFacts) and self.fit.method in CALLS

    def finding(
        self,
        cause: Cause,
        message: str,
        location: Location | None,
        mismatch: Mismatch,
        *fixes: Fix,
        what: str = "the expected input shape",
    ) -> Finding:
        """Report a mismatch, with the shape of the data and what sets the expected one."""
        array, expected = mismatch.array, shape_words(mismatch.expected.shape)
        return cause.finding(
            message,
            location,
            Evidence(
                f"shape of `{array.path}`",
                shape_words(array.shape),
                expected if mismatch.rank is None else f"{mismatch.rank} axes",
                fact="data.x.shape",
                location=place(array.code, array.use),
            ),
            *(
                [Evidence(f"{what} is set here", location=place(mismatch.code))]
                if place(mismatch.code)
                else []
            ),
            *fixes,
            subject=argument_words(array.path, self.fit),
            confidence=self.confidence,
        )


Explain = Callable[[Given, list[Mismatch]], Iterator[Finding]]
Read = Callable[
    [FailureFacts, InputMismatch, "ModelFacts | Unknown", "DataFacts | Unknown", Project],
    Iterator[Finding],
]


def explains_inputs(cause: Cause, explain: Explain, read: Read) -> None:
    """Let a cause explain rejected data: in the source, before `fit`, and after a failure.

    Args:
        cause: the cause.
        explain: reports the mismatches of a call that are the cause's own.
        read: reports what the message says, if the data is unknown and no trial showed it.
    """

    @cause.in_source
    @doubting(INPUTS)
    @cause.before_fit
    def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
        sure = Confidence.CERTAIN if proven(data) or data.problem is not None else Confidence.LIKELY
        yield from explain(Given(model, fit, data, project, sure, fit.method), list(mismatches(model, data)))

    @cause.after_failure
    def from_failure(
        failure: FailureFacts,
        model: ModelFacts | Unknown,
        fit: FitFacts | Unknown,
        data: DataFacts | Unknown,
        project: Project,
    ) -> Iterator[Finding]:
        said = input_mismatch(failure.message) or kernel_mismatch(failure.message, failure.node)
        if (
            said is None
            or said.target
            or while_validating(failure)
            or sample_given_by_hand(failure) is not None
        ):
            return
        if isinstance(data, DataFacts) and data.role != "training":
            return
        if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
            method = fit.method if isinstance(fit, FitFacts) and fit.method in CALLS else failure.called
            given = Given(model, fit, data, project, Confidence.CERTAIN, method)
            known = list(mismatches(model, data))
            found = list(explain(given, known))
            yield from found
            if found or known or not isinstance(data.trial.forward, Unknown):
                return
        yield from read(failure, said, model, data, project)


# --- the data and the Input of the model --------------------------------------------------------------------------


def mismatches(model: ModelFacts, data: DataFacts) -> Iterator[Mismatch]:
    """Yield the inputs whose samples certainly do not match the `Input` or the layer that rejects them."""
    if data.role != "training" or went_through(data):
        return
    if data.problem is not None and not lacks_its_batch(model, data):
        return
    if isinstance(model.inputs, Unknown):
        yield from _refused(model, data)
        return
    by_hand = data.form == "batch"
    if isinstance(data.trial.forward, Unknown) and "train_step" in model.overrides and not by_hand:
        return  # it may pass something else than the data to the model
    if len(data.x) != len(model.inputs) or shuffled(model, data):
        return
    for array, expected in paired(data.x, model):
        if isinstance(array.shape, Unknown) or isinstance(expected.shape, Unknown) or not array.shape:
            continue
        if array.shape[0] == 0:
            continue  # an empty list, which is to be filled, does not show the shape of a sample
        found, wanted = array.shape[1:], expected.shape[1:]
        if fits(found, wanted) or not minded(model, data, found, wanted):
            continue
        code = input_code_of(model, expected)
        kind = relation(found, wanted)
        if _begins_with_batch(model, found, wanted, data, code) or _leaves_batch_open(model, found, wanted):
            kind = "batch"
        yield Mismatch(array, expected, found, wanted, kind, code)


def _begins_with_batch(
    model: ModelFacts, found: Shape, expected: Shape, data: DataFacts, code: Code | Unknown
) -> bool:
    """Whether the expected shape is a sample's with the number of samples, or the batch size, before it."""
    if len(expected) != len(found) + 1 or relation(found, expected[1:]) != "same":
        return False
    # Without labels, as in predict, a single sample looks the same.
    counted = expected[0] in (data.samples, data.batch_size) and bool(data.y)
    return counted or says_batch(code) or shape_of_data(model) is not None


_TAKES_STEPS = frozenset({"LSTM", "GRU", "SimpleRNN", "Bidirectional", "Conv1D", "TimeDistributed"})


def _leaves_batch_open(model: ModelFacts, found: Shape, expected: Shape) -> bool:
    """Whether `Input(shape=(None, 12))` precedes a layer without steps: the None was meant as the batch axis."""
    if len(expected) != len(found) + 1 or expected[0] is not None or relation(found, expected[1:]) != "same":
        return False
    return not any(layer.class_name in _TAKES_STEPS for layer in model.every_layer())


# --- the data and the first layer that checks lengths -------------------------------------------------------------


def _refused(model: ModelFacts, data: DataFacts) -> Iterator[Mismatch]:
    """Yield a mismatch of a model without an `Input` whose layer rejects the lengths of the data."""
    refusal = refused(model, data)
    if refusal is None:
        return
    array, said, layer = refusal
    assert isinstance(array.shape, tuple)
    found = array.shape[1:]
    if said.expected is not None:
        expected = said.expected[1:]
    elif said.axis is not None and said.axis_length is not None and -len(found) <= said.axis < 0:
        expected = (*found[: said.axis], said.axis_length, *found[len(found) + said.axis + 1 :])
    else:
        return
    code = layer.code if layer is not None else Unknown("the layer was not found")
    spec = Spec((None, *expected), "float32", said.layer)
    kind = relation(found, expected)
    if kind != "same":
        yield Mismatch(array, spec, found, expected, kind, code, by_layer=True)
