"""Facts about the call of `fit`."""

from __future__ import annotations

from fitdoctor.facts.code import Code
from fitdoctor.facts.data import DataFacts
from fitdoctor.facts.unknown import Unknown
from fitdoctor.records import dataclass, field


@dataclass(frozen=True)
class CallbackFacts:
    """A callback passed to `fit`."""

    class_name: str
    settings: tuple[tuple[str, str], ...] = ()
    """`monitor`, `mode`, `filepath`, `save_weights_only`, `save_best_only`, … as text."""
    code: Code | Unknown = Unknown()

    def setting(self, name: str) -> str | None:
        """Return a plain setting by name."""
        return dict(self.settings).get(name)


@dataclass(frozen=True)
class ClassWeight:
    """The keys of `class_weight`."""

    keys: tuple[str, ...]
    """As `repr`, to distinguish "1" from 1."""
    code: Code | Unknown = Unknown()


@dataclass(frozen=True)
class SplitOff:
    """Classes of labels that only the rows have which `validation_split` takes; or the single one that these have."""

    rows: int
    classes: tuple[str, ...]
    are_new: bool
    """Whether the training rows do not have them."""


CALL, TRAINING_CALL = "call", "call under a tape"
CALLS = (CALL, TRAINING_CALL)
"""Pseudo-methods for a model that is called on one batch, with or without a loss on its output."""


@dataclass(frozen=True)
class FitFacts:
    """The call itself."""

    method: str = "fit"
    """`fit`, `evaluate`, `predict`, `train_on_batch`, …; or one of `CALLS`."""
    given: tuple[str, ...] = ()
    """The names of the arguments that were passed."""
    valued: tuple[str, ...] = ()
    """The names of those whose value is certainly neither None nor 0."""
    epochs: int = 1
    batch_size: int | None = None
    steps_per_epoch: int | None = None
    validation_steps: int | None = None
    validation_split: float = 0.0
    split_off: SplitOff | None = None
    """Classes that `validation_split` divides badly."""
    has_validation: bool = False
    class_weight: ClassWeight | None = None
    callbacks: tuple[CallbackFacts, ...] = ()
    code: Code | Unknown = Unknown()
    """The call in the user's source, with the arguments that belong to the method itself."""
    model: str = ""
    """The expression for the model in the call; "" if there is none."""
    trained_on: tuple[DataFacts, ...] = field(default=(), compare=False)
    """For `evaluate` and `predict`: what the model was trained on before, by every `fit`."""
