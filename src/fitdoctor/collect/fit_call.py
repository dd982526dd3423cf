"""Collect the facts of one call of fit (or evaluate, predict, …); never raises and changes nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from fitdoctor.collect.batch_size import last_rows
from fitdoctor.collect.budget import Budget
from fitdoctor.collect.call_arguments import Passed
from fitdoctor.collect.callbacks import callback_facts, class_weight_facts
from fitdoctor.collect.class_split import split_off
from fitdoctor.collect.codes import Codes
from fitdoctor.collect.data import Collected, Given, collect_data, form_of
from fitdoctor.collect.model import collect_model, keras_version
from fitdoctor.collect.trial import try_model
from fitdoctor.diagnosis import described
from fitdoctor.facts import DataFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.records import dataclass, field, replace

T = TypeVar("T")

PARAMETERS: dict[str, tuple[str, ...]] = {
    "fit": (
        "x", "y", "batch_size", "epochs", "verbose", "callbacks", "validation_split", "validation_data", "shuffle",
        "class_weight", "sample_weight", "initial_epoch", "steps_per_epoch", "validation_steps",
        "validation_batch_size", "validation_freq",
    ),
    "evaluate": ("x", "y", "batch_size", "verbose", "sample_weight", "steps", "callbacks", "return_dict"),
    "predict": ("x", "batch_size", "verbose", "steps", "callbacks"),
    "train_on_batch": ("x", "y", "sample_weight", "class_weight", "return_dict"),
    "test_on_batch": ("x", "y", "sample_weight", "return_dict"),
    "predict_on_batch": ("x",),
}  # fmt: skip
"""The parameters of each method in Keras 3, for methods without a usable signature."""


@dataclass(frozen=True)
class CollectedCall:
    """The facts of a call, and the arguments to call with."""

    model: ModelFacts | Unknown
    fit: FitFacts
    data: tuple[DataFacts, ...]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    """`args` and `kwargs` contain peeked generators, chained back together."""
    crashes: tuple[str, ...] = ()
    """Internal errors of fitdoctor."""


@dataclass
class _Work:
    """The state of one collection."""

    model: Any
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    budget: Budget
    codes: Codes = field(default_factory=Codes)
    crashes: list[str] = field(default_factory=list)

    def guarded(self, what: str, work: Callable[[], T], instead: T) -> T:
        """Return the result of a collector, or `instead` if it crashes: the user's program must not suffer."""
        try:
            return work()
        except Exception as error:
            self.crashes.append(f"{what}: {described(error)}")
            return instead


def collect_call(
    model: Any,
    method: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType | None = None,
    budget: Budget | None = None,
    passed: Passed | None = None,
) -> CollectedCall:
    """Collect the facts of one call.

    Args:
        model: the live model.
        method: `fit`, `evaluate`, `predict`, `train_on_batch`, `test_on_batch` or `predict_on_batch`.
        args: the positional arguments, without the model.
        kwargs: the keyword arguments.
        frame: the user's frame of the call; without it no code is known.
        budget: the limits of time.
        passed: how the call in the frame passes the arguments; by default as in `args` and `kwargs`.

    Returns:
        The facts, and the arguments to call with. Never raises.
    """
    work = _Work(model, method, tuple(args), dict(kwargs), budget or Budget())
    work.codes = work.guarded("codes", lambda: _codes(work, frame, passed), Codes())
    nothing: dict[str, Any] = {}
    bound = work.guarded("arguments", lambda: bind(model, method, work.args, work.kwargs), nothing)
    facts = work.guarded("model", lambda: collect_model(model, work.codes), None)
    training = work.guarded("data", lambda: _training(work, bound), None)
    validation = work.guarded("validation data", lambda: _validation(work, bound), None)
    data = []
    for collected, how in ((training, method), (validation, "evaluate")):
        if collected is not None:
            data.append(_with_trial(work, collected, how, bound))
    if validation is not None and training is not None and len(data) == 2:
        data[1] = work.guarded("shared rows", lambda: _with_shared_rows(bound, data[1]), data[1])
    if data:
        data[0] = work.guarded("windows", lambda: _with_targets(bound, data[0]), data[0])
        data[0] = work.guarded("normalization", lambda: _with_scale(model, bound, data[0]), data[0])
        data[0] = work.guarded("loss", lambda: _with_loss_order(work, facts, bound, data[0]), data[0])
    args, kwargs = work.guarded(
        "arguments", lambda: _substituted(work, bound, training, validation), (work.args, work.kwargs)
    )
    fit = work.guarded("call", lambda: _fit_facts(work, bound), FitFacts(method=method))
    return CollectedCall(
        model=facts if facts is not None else Unknown("collecting the model crashed"),
        fit=fit,
        data=tuple(data),
        args=args,
        kwargs=kwargs,
        crashes=tuple(work.crashes),
    )


def _codes(work: _Work, frame: FrameType | None, passed: Passed | None) -> Codes:
    if frame is None:
        return Codes()
    from fitdoctor.collect.locate import FrameCodes

    return FrameCodes(frame, passed or passed_to(work.model, work.method, len(work.args)))


def passed_to(
    model: Any, method: str, positional: int | None, *, leading: int = 0, direct: bool = True
) -> Passed:
    """Return how arguments reach a method of a model; see `Passed`."""
    return Passed(method, parameters_of(model, method), positional, leading, direct)


def bind(model: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the passed arguments by name; unknown keywords keep their names."""
    bound = dict(zip(parameters_of(model, method), args, strict=False))
    bound.update(kwargs)
    return bound


def parameters_of(model: Any, method: str) -> tuple[str, ...]:
    """Return the parameters of a method in order, without the model."""
    names: tuple[str, ...] = PARAMETERS.get(method, ())
    function = getattr(type(model), method, None)
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:] if function else []
    except (TypeError, ValueError):
        parameters = []
    if parameters and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        names = tuple(p.name for p in parameters if p.kind is not p.VAR_KEYWORD)
    return names


# --- data ---------------------------------------------------------------------------------------------------------


def _training(work: _Work, bound: dict[str, Any]) -> Collected | None:
    if "x" not in bound and "y" not in bound:
        return None
    on_batch = work.method.endswith("_on_batch")
    given = Given(
        x=bound.get("x"),
        y=bound.get("y"),
        sample_weight=bound.get("sample_weight"),
        class_weight=bound.get("class_weight"),
        batch_size=_integer(bound.get("batch_size")),
        steps=_integer(bound.get("steps_per_epoch", bound.get("steps"))),
        validation_split=_split(bound),
        whole_batch=on_batch,
        keras=keras_version(work.model),
    )
    collected = collect_data(given, "training", work.budget, work.codes)
    if not work.method.startswith("predict"):
        return collected
    # Labels of the dataset are ignored: predict does not compare them.
    facts = replace(collected.facts, y=(), sample_weight=(), y_structure="none")
    return replace(collected, facts=facts)


def _validation(work: _Work, bound: dict[str, Any]) -> Collected | None:
    given = bound.get("validation_data")
    if work.method != "fit" or given is None:
        return None
    parts: tuple[Any, ...]
    if isinstance(given, (list, tuple)) and form_of(given) == "arrays":
        parts = tuple(given) + (None,) * (3 - len(given))
    else:
        parts = (given, None, None)
    return collect_data(
        Given(
            x=parts[0],
            y=parts[1],
            sample_weight=parts[2],
            batch_size=_integer(bound.get("validation_batch_size")) or _integer(bound.get("batch_size")),
            steps=_integer(bound.get("validation_steps")),
            keras=keras_version(work.model),
        ),
        "validation",
        work.budget,
        work.codes,
    )


def _split(bound: dict[str, Any]) -> float:
    value = bound.get("validation_split", 0.0)
    if bound.get("validation_data") is not None or not isinstance(value, (int, float)):
        return 0.0
    return float(value)


def _integer(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _with_trial(work: _Work, collected: Collected, method: str, bound: dict[str, Any]) -> DataFacts:
    facts = collected.facts
    if not work.budget.trial:
        return facts
    counted = any(bound.get(name) is not None for name in ("steps_per_epoch", "validation_steps", "steps"))
    short = 0
    if not counted:
        size = _size_of_batches(facts) if facts.form == "dataset" else facts.batch_size
        split = _split(bound) if facts.role == "training" else 0.0
        short = last_rows(facts.samples, size, split) if facts.form in ("arrays", "dataset") else 0
    trial = work.guarded(
        f"trial on {facts.role} data",
        lambda: try_model(work.model, collected.batch, method, short, facts.element, _first_rows(facts)),
        facts.trial,
    )
    return replace(facts, trial=trial)


def _size_of_batches(facts: DataFacts) -> int | None:
    """Return the batch size of a dataset, if its number of batches says that the last one is not dropped."""
    sizes = [
        dict(step.arguments).get("batch_size", "") for step in facts.pipeline if step.operation == "batch"
    ]
    if len(sizes) != 1 or not sizes[0].isdigit() or not isinstance(facts.samples, int):
        return None
    size = int(sizes[0])
    return size if size and facts.batches == -(-facts.samples // size) else None


def _first_rows(facts: DataFacts) -> int:
    shape = facts.first_batch[0].shape if facts.first_batch else ()
    return shape[0] or 0 if isinstance(shape, tuple) and shape else 0


def _with_shared_rows(bound: dict[str, Any], facts: DataFacts) -> DataFacts:
    from fitdoctor.collect.numbering import numbered_apart
    from fitdoctor.collect.shared import rows_behind, shared_rows
    from fitdoctor.collect.windows import shared_windows

    validation = bound.get("validation_data")
    if isinstance(validation, (list, tuple)):
        validation = validation[0] if validation else None
    ours, theirs = rows_behind(bound.get("x")), rows_behind(validation)
    return replace(
        facts,
        shared_rows=shared_rows(ours, theirs),
        shared_windows=shared_windows(ours, theirs),
        numbering=numbered_apart(bound.get("x"), validation),
    )


def _with_targets(bound: dict[str, Any], facts: DataFacts) -> DataFacts:
    from fitdoctor.collect.elements import first_samples
    from fitdoctor.collect.windows import target_in_window

    if len(facts.x) != 1 or len(facts.y) != 1 or facts.sample_weight:
        return facts
    x, y = bound.get("x"), bound.get("y")
    if facts.form == "dataset" and _is_series(facts):
        columns = first_samples(x)
        x, y = columns if columns is not None and len(columns) == 2 else (None, None)
    return replace(facts, target_in_window=target_in_window(x, y))


def _with_scale(model: Any, bound: dict[str, Any], facts: DataFacts) -> DataFacts:
    from fitdoctor.collect.normalization import off_scale
    from fitdoctor.collect.shared import rows_behind

    return replace(facts, off_scale=off_scale(model, rows_behind(bound.get("x"))))


def _with_loss_order(
    work: _Work, model: ModelFacts | None, bound: dict[str, Any], facts: DataFacts
) -> DataFacts:
    """Try a loss that the user wrote: what it minimizes is not known from its name."""
    own = model is not None and [loss.kind for loss in model.losses] in (["function"], ["class"])
    if not own or work.method != "fit" or not work.budget.trial:
        return facts
    from fitdoctor.collect.loss_order import loss_order

    return replace(facts, loss_order=loss_order(work.model, bound.get("x"), bound.get("y")))


def _is_series(facts: DataFacts) -> bool:
    """Whether a dataset may yield windows with a number each: only then are its samples worth reading."""
    shape, dtypes = facts.x[0].shape, {facts.x[0].dtype, facts.y[0].dtype}
    return isinstance(shape, tuple) and len(shape) == 3 and dtypes <= {"float32", "float64"}


def _substituted(
    work: _Work, bound: dict[str, Any], training: Collected | None, validation: Collected | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments with peeked generators in place of the originals."""
    args, kwargs = list(work.args), dict(work.kwargs)
    for name, collected in (("x", training), ("validation_data", validation)):
        if collected is None or collected.facts.form != "generator" or collected.x is bound.get(name):
            continue
        if name in kwargs:
            kwargs[name] = collected.x
            continue
        for index, value in enumerate(args):
            if value is bound.get(name):
                args[index] = collected.x
    return tuple(args), kwargs


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not value)


# --- the call -----------------------------------------------------------------------------------------------------


def _fit_facts(work: _Work, bound: dict[str, Any]) -> FitFacts:
    codes = work.codes
    class_weight = bound.get("class_weight")
    return FitFacts(
        method=work.method,
        given=tuple(bound),
        valued=tuple(name for name, value in bound.items() if not _is_nothing(value)),
        epochs=_integer(bound.get("epochs")) or 1,
        batch_size=_integer(bound.get("batch_size")),
        steps_per_epoch=_integer(bound.get("steps_per_epoch", bound.get("steps"))),
        validation_steps=_integer(bound.get("validation_steps")),
        validation_split=_split(bound),
        split_off=work.guarded("split", lambda: split_off(bound.get("y"), _split(bound)), None),
        has_validation=bound.get("validation_data") is not None or _split(bound) > 0,
        class_weight=None if class_weight is None else class_weight_facts(class_weight, codes),
        callbacks=callback_facts(bound.get("callbacks"), codes),
        code=codes.of_call(),
        model=codes.model_text(),
    )
