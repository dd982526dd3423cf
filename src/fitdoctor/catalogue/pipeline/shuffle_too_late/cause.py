"""`shuffle` that is misplaced or has no effect.

## What happens

There is no error.

- `full.shuffle(n)` followed by `full.take(k)` for validation and `full.skip(k)` for training: each pass uses a new
  order, so the model trains on validation rows.
- `batch` before `shuffle`: the same rows share a batch in every epoch, and sorted classes stay together.
- `shuffle(1)`: the data is not shuffled at all.
- `validation_split` takes the last rows before `fit` shuffles: if the rows are sorted by class, whole classes are only in
  the validation part.

## Why

`shuffle` uses a new order each time the dataset is read (`reshuffle_each_iteration` is True by default, even with a
seed), and the two parts of the split are read separately. It shuffles the elements that it receives: after `batch`,
these are whole batches. Its buffer size limits how far an element can move.

## Fix

Call `shuffle(n, reshuffle_each_iteration=False)` before a split, or split first. Call `shuffle` before `batch`. Use a buffer
as large as the data.

## Known limits

Two parts of a shuffled dataset count as a split only if `fit` gets both. A `cache` between `shuffle` and the split
keeps one order and is not reported. `shuffle` after `batch` is not reported if the source puts the rows in a random
order first (a permutation, `train_test_split`). It is only a note if published data may already be shuffled, or if a
custom loss or training step may need the rows of a batch together (all documents of a query).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    BATCHING,
    READY_MADE,
    in_one_function,
    receiver_end,
    setting,
    step_place,
    whole_setting,
    with_step_before,
    without_step,
    words,
)
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, insert_before, replace_code, set_argument, spell, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, ModelFacts, PipelineStep, Unknown
from fitdoctor.records import replace
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT713", slug="shuffle-too-late", severity=Severity.WARNING)

PARTS = ("take", "skip")
RANDOM_ORDER = frozenset(
    "permutation permuted random_permutation sample ShuffleSplit StratifiedShuffleSplit".split()
)
"""Functions and methods that select rows, or their indices, in random order."""
ELSEWHERE = ("numpy.", "random.", "sklearn.", "tensorflow.random.", "keras.random.")
"""Modules whose `shuffle` works on arrays."""


@CAUSE.in_source
@CAUSE.before_fit
@mentions(*BATCHED_DATA)
def from_split(fit: FitFacts, training: DataFacts, validation: DataFacts) -> Iterator[Finding]:
    """Report training and validation data that are parts of one dataset that reshuffles for each."""
    for shuffle, cuts in _cut_after_shuffle(training):
        for other, other_cuts in _cut_after_shuffle(validation):
            if shuffle.code != other.code or _lines(cuts) == _lines(other_cuts):
                continue
            yield CAUSE.finding(
                "the model trains on validation rows: `shuffle` uses a new order for each pass, so "
                "`take` and `skip` select different rows each time",
                step_place(shuffle.code),
                Evidence("the training part", _called(cuts), location=place(cuts[0].code)),
                Evidence("the validation part", _called(other_cuts), location=place(other_cuts[0].code)),
                unsafe(
                    "keep one order with `reshuffle_each_iteration=False`",
                    set_argument(shuffle.code, "reshuffle_each_iteration", "False", 2),
                ),
                fix("split first, then shuffle the training part"),
                subject="split of a shuffled dataset",
                confidence=Confidence.CERTAIN if _both(cuts, other_cuts) else Confidence.LIKELY,
            )
            return


@CAUSE.before_fit
def from_sorted_rows(fit: FitFacts, data: DataFacts, model: ModelFacts) -> Iterator[Finding]:
    """Report classes that `validation_split` takes out of the training data, because the rows are sorted by class."""
    split = fit.split_off
    if split is None or data.role != "training" or fit.method != "fit":
        return
    if not any("crossentropy" in loss.name for loss in model.losses):
        return  # integers that are not classes may grow with time
    names = listing(list(split.classes), 4)
    effect = (
        f"{names} occurs only there, so the model never trains on it"
        if split.are_new
        else f"all are of class {names}"
    )
    if split.are_new and len(split.classes) > 1:
        effect = f"{names} occur only there, so the model never trains on them"
    given = fit.code.argument("validation_split") if isinstance(fit.code, Code) else None
    yield CAUSE.finding(
        f"`validation_split` takes the last {split.rows:,} rows before `fit` shuffles: {effect}",
        given.location if given is not None else place(fit.code),
        Evidence("the rows are sorted by class", f"{split.rows:,} rows with {names}", fact="fit.split_off"),
        unsafe("put the rows into a random order first", _shuffled_first(fit, data)),
        subject="order of the training data",
        confidence=Confidence.CERTAIN,
    )


def _shuffled_first(fit: FitFacts, data: DataFacts) -> tuple[Edit, ...]:
    """Return the edits that put features and labels into one random order before the call."""
    arrays = (*data.x, *data.y, *data.sample_weight)
    uses = [each.use.text if isinstance(each.use, Code) else "" for each in arrays]
    plain = all(use.isidentifier() for use in uses) and len(set(uses)) == len(arrays) == 2
    if not plain or any(each.container != "numpy.ndarray" for each in arrays) or "order" in uses:
        return ()
    np, imports = spell(fit.code, "numpy", "np")
    drawn = f"order = {np}.random.permutation(len({uses[0]}))"
    taken = f"{uses[0]}, {uses[1]} = {uses[0]}[order], {uses[1]}[order]"
    indent = fit.code.indent if isinstance(fit.code, Code) else ""
    return (*insert_before(fit.code, f"{drawn}\n{indent}{taken}"), *imports)


def _cut_after_shuffle(data: DataFacts) -> Iterator[tuple[PipelineStep, list[PipelineStep]]]:
    for index, step in enumerate(data.pipeline):
        if step.operation != "shuffle" or not isinstance(step.code, Code):
            continue
        if setting(step, "reshuffle_each_iteration") == "False":
            continue
        cuts = []
        for later in data.pipeline[index + 1 :]:
            if later.operation in ("cache", "snapshot", "shuffle"):
                break
            if later.operation in PARTS and isinstance(later.code, Code):
                cuts.append(later)
        if cuts:
            yield step, cuts


def _lines(cuts: list[PipelineStep]) -> list[object]:
    return [(cut.operation, cut.code) for cut in cuts]


def _called(cuts: list[PipelineStep]) -> str:
    return " ".join(f"{cut.operation}({setting(cut, 'count') or '…'})" for cut in cuts)


def _both(cuts: list[PipelineStep], others: list[PipelineStep]) -> bool:
    return {cut.operation for cut in (*cuts, *others)} == {"take", "skip"}


@CAUSE.in_source
@CAUSE.before_fit
@mentions(*BATCHED_DATA)
def from_order(
    fit: FitFacts, data: DataFacts, model: ModelFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report a shuffle of whole batches, of repeated data, or with a buffer of one."""
    if data.role != "training" or data.form != "dataset" or fit.method != "fit":
        return
    shuffles = [(at, step) for at, step in enumerate(data.pipeline) if step.operation == "shuffle"]
    if not shuffles or data.pipeline[0].operation not in ("from_tensor_slices", "range"):
        return  # other sources may yield elements in random order
    if all(whole_setting(step, "buffer_size") == 1 for _, step in shuffles) and data.batches != 1:
        yield _no_room(shuffles[0][1], data)
        return
    batches = [at for at, step in enumerate(data.pipeline) if step.operation in BATCHING | READY_MADE]
    first = shuffles[0][0]
    if not batches or not all(before < first for before in batches):
        return
    between = [step.operation for step in data.pipeline[batches[0] : first]]
    if "unbatch" in between or "flat_map" in between or data.batches == 1:
        return
    if whole_setting(data.pipeline[batches[-1]], "batch_size") == 1 or _shuffles_rows(project):
        return
    finding = _whole_batches(data.pipeline[batches[-1]], shuffles[0][1], data)
    sure = _reads_no_ready_data(project) and not _may_compare_rows(model)
    yield finding if sure else replace(finding, severity=Severity.INFO)


def _may_compare_rows(model: ModelFacts | Unknown) -> bool:
    """Return whether a custom loss or step may compare the rows of a batch, which then belong together."""
    if isinstance(model, Unknown):
        return False
    own_steps = {"train_step", "compute_loss"} & set(model.overrides)
    return bool(own_steps) or any(loss.kind in ("function", "class") for loss in model.losses)


def _shuffles_rows(project: Project) -> bool:
    """Return whether the source shuffles rows other than through a dataset."""
    if not project:
        return False
    return any(_is_random_order(module, call) for module in project.modules for call in module.calls)


def _is_random_order(module: Module, call: CallSite) -> bool:
    name = call.method or call.name.rpartition(".")[2] or getattr(call.node.func, "id", "")
    if name == "train_test_split":
        kept = call.argument("shuffle")
        return not (isinstance(kept, ast.Constant) and kept.value is False)
    if name == "shuffle":
        # A random generator shuffles in place; a dataset returns a new one.
        return call.name.startswith(ELSEWHERE) or isinstance(module.parent(call.node), ast.Expr)
    return name in RANDOM_ORDER


def _reads_no_ready_data(project: Project) -> bool:
    """Return whether the program determines the order of the rows; published data is usually shuffled."""
    if not project:
        return False
    return not any(
        call.method == "load_data" or call.name.startswith("sklearn.datasets.make_")
        for module in project.modules
        for call in module.calls
    )


def _no_room(step: PipelineStep, data: DataFacts) -> Finding:
    size = str(data.samples) if isinstance(data.samples, int) else "1000"
    return CAUSE.certain(
        f"`shuffle` with a buffer of 1 does not change the order of the {words(data)}",
        place(step_place(step.code), data.code),
        Evidence("`shuffle` buffer size", "1", f"up to {int(size):,}", fact="data.pipeline"),
        unsafe("use a buffer as large as the data", set_argument(step.code, "buffer_size", size, 0)),
        subject="shuffle of the training dataset",
    )


def _whole_batches(batch: PipelineStep, shuffle: PipelineStep, data: DataFacts) -> Finding:
    batch, shuffle = in_one_function(batch, shuffle)
    return CAUSE.certain(
        "`shuffle` comes after `batch`, so it reorders whole batches and their rows stay together",
        place(step_place(shuffle.code), data.code),
        Evidence("the rows are batched here", location=place(batch.code), fact="data.pipeline"),
        unsafe("call `shuffle` before `batch`", *_swapped(batch, shuffle)),
        subject="shuffle of the training dataset",
    )


def _swapped(batch: PipelineStep, shuffle: PipelineStep) -> list[tuple[Edit, ...]]:
    """Move the `shuffle` call before the `batch` call."""
    if not isinstance(batch.code, Code) or not isinstance(shuffle.code, Code):
        return []
    end = receiver_end(shuffle.code)
    if end is None:
        return []
    call = shuffle.code.text[end:]
    inner = batch.code.text
    if shuffle.code.text[:end] == inner:
        start = receiver_end(batch.code)
        if start is None:
            return []
        return [replace_code(shuffle.code, inner[:start] + call + inner[start:])]
    # A deeper statement is conditional and must stay so.
    together = shuffle.code.indent == batch.code.indent and shuffle.code.function == batch.code.function
    if shuffle.code.location.line <= batch.code.location.end_line or not together:
        return []
    gone = without_step(shuffle.code)
    if shuffle.code.target == shuffle.code.text[:end] and shuffle.code.statement is not None:
        gone = (Edit(shuffle.code.statement.lines, ""),)  # this would leave `ds = ds`
    return [with_step_before(batch.code, call), gone]
