"""Features reordered without their labels.

## What happens

Nothing fails. Every sample is trained with the label of another one, so the model learns nothing: the accuracy stays at
the share of the most frequent class, or the loss at the variance of the targets.

## Why

`np.random.shuffle(x)` and `x = x[rng.permutation(len(x))]` reorder the features, but not the array of labels. The same
happens if features and labels are shuffled by two calls, if `train_test_split` is called for each with another
`random_state`, if the labels were taken from a table before `table.sample(frac=1)`, or if two datasets are shuffled
before they are zipped: `zip((x.shuffle(n), y.shuffle(n)))`.

Evaluation has the same mistake. A shuffled dataset, or the iterator of a folder of images, yields its rows in another
order in every pass, so labels that one pass collects, or `iterator.classes`, do not belong to what `predict` returns.

## Fix

Reorder both with one index: `order = rng.permutation(len(x))`, then `x, y = x[order], y[order]`. Or pass both to one call
of `train_test_split` or `sklearn.utils.shuffle`. Shuffle a dataset after `zip`, and not at all if it is only evaluated.
`fit` itself shuffles the rows of arrays in every epoch.

## Known limits

The rows are followed through the source, not compared in memory. Orders that start from the same seed are taken to be
equal. Labels that may have been computed after the features were reordered are not reported, nor are labels of which the
program shuffles a copy, as control experiments do, nor tables sorted by a time or an id: their rows may be in that order
already. Arrays of unknown origin are recognized by their names (`x` and `y`,
`images` and `labels`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    receiver_end,
    setting,
    step_place,
    with_step_after,
    without_step,
)
from fitdoctor.catalogue.knowledge.labels.paired_names import label_names_for
from fitdoctor.catalogue.labels.rows_out_of_step.separate_orders import (
    Reordering,
    both_reordered,
    one_order,
    separate_orders,
    shuffled_alone,
)
from fitdoctor.catalogue.labels.rows_out_of_step.separate_passes import (
    PREDICTS,
    SeparatePasses,
    separate_passes,
    shuffling,
)
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, replace_code, set_argument, unsafe
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FitFacts,
    ModelFacts,
    PipelineStep,
    RowEvent,
    Statistics,
    Unknown,
)
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.definitions import last_name
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT219", slug="rows-out-of-step", severity=Severity.WARNING)

_METHODS = (".sort_values(", ".sample(frac=1")
"""Methods that give every row of a table another place."""
_SOURCES = frozenset("range generator list_files TFRecordDataset TextLineDataset CsvDataset".split())
"""Operations that begin a pipeline, besides those named `from_…`."""


@CAUSE.in_source
@mentions("shuffle", "permutation", "sample(", "train_test_split", "sort_values", "choice(")
def from_histories(fit_call: FitFacts, data: DataFacts, model: ModelFacts) -> Iterator[Finding]:
    """Report features and labels of which only one was reordered, or each in an order of its own."""
    if "train_step" in model.overrides or not model.losses:
        return  # a training step of its own may need pairs that do not belong together
    if fit_call.method not in ("fit", "train_on_batch") or len(data.y) != 1 or not data.x:
        return
    labels = data.y[0]
    found = [_order_of_one(each, labels) for each in data.x]
    # Of several inputs, one may be reordered on purpose, as for pairs that do not belong together.
    if None in found or found[0] is None or _is_constant(labels):
        return
    moved, still, order = found[0]
    end = receiver_end(order.code) if isinstance(order.code, Code) else None
    text = order.code.text.split("\n")[0] if isinstance(order.code, Code) else "a shuffle"
    removed: tuple[Edit, ...] = ()
    if (
        end is not None
        and isinstance(order.code, Code)
        and order.code.text[end:].lstrip().startswith(_METHODS)
    ):
        text = text if "\n" not in order.code.text else " ".join(order.code.text[end:].split())
        removed = without_step(order.code)
    shuffles = _one_order(moved, still)
    yield CAUSE.finding(
        f"`{text}` reorders `{moved.path}`, but not `{still.path}`: the rows no longer belong together",
        place(step_place(order.code) if removed else order.code, fit_call.code),
        Evidence(
            "reordered", moved.path, f"`{moved.path}` and `{still.path}` together", location=place(still.use)
        ),
        *([unsafe("use one random order for both", shuffles)] if shuffles else []),
        *([unsafe(f"keep the order: remove the call of `{_method(text)}`", removed)] if removed else []),
        fix("reorder both with one index: `order = np.random.permutation(len(x))`, `x[order]`, `y[order]`"),
        fix("pass both to one call of `train_test_split` or `sklearn.utils.shuffle`"),
        subject="order of the rows",
    )


_SHUFFLES = re.compile(r"(?P<random>[\w.]+)\.shuffle\((?P<name>\w+)\)")


def _one_order(one: ArrayFacts, other: ArrayFacts) -> tuple[Edit, ...]:
    """Replace `np.random.shuffle(x)` and `np.random.shuffle(y)` by one permutation of both."""
    codes = [each.events("order")[-1].code for each in (one, other) if each.events("order")]
    known = [(code, _SHUFFLES.fullmatch(code.text)) for code in codes if isinstance(code, Code)]
    if len(known) != 2:
        return ()
    (first, shuffled), (second, again) = sorted(known, key=lambda each: each[0].location.line)
    here = [(each.location.path, each.location.cell, each.function) for each in (first, second)]
    if shuffled is None or again is None or here[0] != here[1] or first.location == second.location:
        return ()
    random, names = shuffled["random"], f"{shuffled['name']}, {again['name']}"
    if random == "random" or again["random"] != random:
        return ()  # of the standard library, for lists
    rows = ", ".join(f"{each}[order]" for each in names.split(", "))
    return (
        *replace_code(first, f"order = {random}.permutation(len({shuffled['name']}))"),
        *replace_code(second, f"{names} = {rows}"),
    )


def _method(call: str) -> str:
    """Return the name of the method that a call ends with."""
    return "sample" if ".sample(" in call else "sort_values"


def _order_of_one(features: ArrayFacts, labels: ArrayFacts) -> tuple[ArrayFacts, ArrayFacts, RowEvent] | None:
    """Return what was reordered, what was not in this way, and the last event that did it."""
    if isinstance(features.history, Unknown) or isinstance(labels.history, Unknown):
        return None
    ours, theirs = ({one.mark: one for one in each.events("order", "pick")} for each in (features, labels))
    apart = {mark: one for mark, one in {**ours, **theirs}.items() if (mark in ours) != (mark in theirs)}
    if any(one.kind == "pick" for one in apart.values()):
        return None
    for order in sorted(apart.values(), key=lambda one: -one.time):
        moved, still = (features, labels) if order.mark in ours else (labels, features)
        if _perhaps_sorted_before(order):
            continue
        if _existed_before(order, still) and not (moved is labels and _is_copy(order, labels)):
            return moved, still, order
    return None


_SORTED_BY_TIME = re.compile(
    r"\.sort_values\((?:by=)?\[?[\"'](?:\w*(?:date|time|day|year|month|week|stamp|period|index)\w*|(?:\w*_)?(?:id|key|t))[\"']",
    re.IGNORECASE,
)


def _perhaps_sorted_before(order: RowEvent) -> bool:
    """Whether a table is sorted by a time or a key, in whose order the file may be anyway."""
    return isinstance(order.code, Code) and _SORTED_BY_TIME.search(order.code.text) is not None


def _existed_before(order: RowEvent, array: ArrayFacts) -> bool:
    """Whether the rows of an array had their places when another one was reordered."""
    begun = [one.time for one in array.events("made")]
    return bool(begun) and max(begun) < order.time


def _is_copy(order: RowEvent, labels: ArrayFacts) -> bool:
    """Whether the program keeps the labels in their order as well: a control experiment."""
    code = order.code
    new_name = isinstance(code, Code) and bool(code.target) and code.target not in code.text
    return bool(labels.events("copy")) or new_name


def _is_constant(array: ArrayFacts) -> bool:
    """Whether all labels are equal, as those that a discriminator gets."""
    values = array.statistics
    return isinstance(values, Statistics) and values.minimum is not None and values.minimum == values.maximum


@CAUSE.in_source
@mentions("permutation", "shuffle")
def from_names(module: Module) -> Iterator[Finding]:
    """Report features and labels in two random orders."""
    for features, kept in shuffled_alone(module):
        yield CAUSE.finding(
            f"`{features.name}` is shuffled, but `{kept.attr}` keeps its order, so the labels belong to other samples",
            module.location(features.random),
            Evidence("the same rows are read from both here", location=module.location(kept)),
            unsafe("use one random order for both", both_reordered(module, features, kept)),
            subject="order of the rows",
        )
    for features, labels in separate_orders(module, lambda features: set(label_names_for(features))):
        yield _apart(module, features, labels)


def _apart(module: Module, features: Reordering, labels: Reordering) -> Finding:
    return CAUSE.finding(
        f"`{features.name}` and `{labels.name}` are shuffled separately, so the labels belong to other samples",
        module.location(labels.random),
        Evidence("the features are shuffled here", location=module.location(features.random)),
        unsafe("use one random order for both", one_order(module, features, labels)),
        subject="order of the rows",
    )


@CAUSE.before_fit
def from_zip(fit: FitFacts, data: DataFacts, model: ModelFacts) -> Iterator[Finding]:
    """Report features and labels that are shuffled apart and zipped."""
    if data.role != "training" or fit.method != "fit" or len(data.x) != 1 or len(data.y) != 1:
        return
    if "train_step" in model.overrides or not model.losses:
        return  # a training step of its own may need pairs that do not belong together
    zips = [at for at, step in enumerate(data.pipeline) if step.operation == "zip"]
    branches = _branches(data.pipeline[: zips[0]]) if len(zips) == 1 else []
    shuffled = [step for branch in branches for step in branch if step.operation == "shuffle"]
    if len(branches) != 2 or len(shuffled) != 2 or any(shuffled[0] in branch for branch in branches[1:]):
        return
    first, second = shuffled
    if any(not isinstance(step.code, Code) or "seed" in step.code.text for step in shuffled):
        return  # with the same seed, the orders are the same
    assert isinstance(first.code, Code)
    end = receiver_end(first.code)
    call = first.code.text[end:].strip() if end is not None else ""
    after = with_step_after(data.pipeline[zips[0]].code, call) if call else ()
    apart = (*without_step(first.code), *without_step(second.code))
    yield CAUSE.certain(
        "features and labels are shuffled separately before `zip`, so the labels belong to other samples",
        step_place(second.code),
        Evidence("the features are shuffled here", location=step_place(first.code)),
        unsafe("shuffle the pairs, after `zip`", (*apart, *after) if after and len(apart) == 2 else ()),
        subject="zip of shuffled datasets",
    )


@CAUSE.in_source
@mentions("flow_from_", "from_directory", "shuffle")
def from_passes(module: Module) -> Iterator[Finding]:
    """Report predictions that are compared with labels of another pass over shuffled data."""
    for site in module.method_calls(*PREDICTS):
        found = separate_passes(module, site)
        call = shuffling(module, found.data) if found is not None else None
        if found is not None and call is not None:
            flag = _RESHUFFLE if last_name(call) == "shuffle" else "shuffle"
            trained = any(
                _is_passed(module, each.argument("x", 0), found.data.id)
                for each in module.method_calls("fit")
            )
            edits = () if trained else set_argument(module.code(call), flag, "False")
            yield _of_passes(module, found, module.code(call), f"{flag}=False", edits)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("shuffle")
def from_shuffled_predictions(fit_call: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report the same for a dataset whose pipeline is known, wherever it was made."""
    at = _reshuffling(data.pipeline) if fit_call.method == "predict" else None
    called = expression_of(project, fit_call.code) if at is not None else None
    if at is None or called is None:
        return
    module, call = called
    site = next((each for each in module.method_calls("predict") if each.node is call), None)
    found = separate_passes(module, site) if site is not None else None
    if found is not None and isinstance(at.code, Code) and shuffling(module, found.data) is None:
        switch, edits = _switched_off(module, found.data, expression_of(project, at.code))
        yield _of_passes(module, found, at.code, switch or f"{_RESHUFFLE}=False", edits)


_RESHUFFLE = "reshuffle_each_iteration"


def _switched_off(
    module: Module, data: ast.Name, shuffle: tuple[Module, ast.expr] | None
) -> tuple[str, tuple[Edit, ...]]:
    """Return the argument, and the edit, with which the function that makes the data does not shuffle it."""
    made = last_assignment(module, data)
    call = made[0].value if made is not None and made[1] else None
    function = module.definition(call.func) if isinstance(call, ast.Call) else None
    if shuffle is None or not isinstance(call, ast.Call) or not isinstance(function, FunctionInfo):
        return "", ()
    branch = shuffle[0].around(shuffle[1], ast.If)
    flag = branch.test.id if branch is not None and isinstance(branch.test, ast.Name) else ""
    if flag not in function.parameters or shuffle[0].function_of(shuffle[1]) is not function:
        return "", ()
    position = function.parameters.index(flag)
    return f"{flag}=False", set_argument(module.code(call), flag, "False", position)


def _reshuffling(pipeline: tuple[PipelineStep, ...]) -> PipelineStep | None:
    """Return the step that puts the elements into a new order in every pass."""
    for step in reversed(pipeline):
        if step.operation == "cache":
            return None
        if step.operation == "shuffle":
            return step if setting(step, "reshuffle_each_iteration") != "False" else None
    return None


def _of_passes(
    module: Module, found: SeparatePasses, shuffle: Code, remedy: str, edits: tuple[Edit, ...]
) -> Finding:
    name = found.data.id
    return CAUSE.finding(
        f"`{name}` is shuffled again in every pass, so the predictions are compared with the labels of other rows",
        shuffle.location,
        Evidence("the predictions are in the order of this pass", location=module.location(found.predicting)),
        Evidence("the labels are in another order", location=module.location(found.labels)),
        Evidence("they are compared here", location=module.location(found.comparison)),
        unsafe(f"keep one order: `{remedy}`", edits),
        fix("collect labels and predictions in one loop: `for x, y in …: model.predict_on_batch(x)`"),
        subject=f"order of {name}",
    )


def _is_passed(module: Module, given: ast.expr | None, name: str) -> bool:
    return given is not None and module.segment(given) == name


def _branches(steps: tuple[PipelineStep, ...]) -> list[list[PipelineStep]]:
    """Return the pipelines that are zipped, each from its source on."""
    found: list[list[PipelineStep]] = []
    for step in steps:
        if step.operation.startswith("from_") or step.operation in _SOURCES or not found:
            found.append([])
        found[-1].append(step)
    return found
