"""`shuffle` that is misplaced or has no effect.

## What happens

There is no error.

- `full.shuffle(n)` followed by `full.take(k)` for validation and `full.skip(k)` for training: each pass uses a new
  order, so the model trains on validation rows.
- `batch` before `shuffle`: the same rows share a batch in every epoch, and sorted classes stay together.
- `shuffle(1)`: the data is not shuffled at all.
- `validation_split` takes the last rows before `fit` shuffles: if the rows are sorted by class, whole classes are only in
  the validation part.
- `zip((x.shuffle(n), y.shuffle(n)))`, or `np.random.shuffle(x)` and `np.random.shuffle(y)`: each is shuffled in its own
  order, so the labels belong to other samples.

## Why

`shuffle` uses a new order each time the dataset is read (`reshuffle_each_iteration` is True by default, even with a
seed), and the two parts of the split are read separately. It shuffles the elements that it receives: after `batch`,
these are whole batches. Its buffer size limits how far an element can move.

## Fix

Call `shuffle(n, reshuffle_each_iteration=False)` before a split, or split first. Call `shuffle` before `batch`, and after
`zip`. Use a buffer as large as the data. Draw one permutation for arrays, and index both with it.

## Known limits

Two parts of a shuffled dataset count as a split only if `fit` gets both. A `cache` between `shuffle` and the split
keeps one order and is not reported. `shuffle` after `batch` is not reported if the source puts the rows in a random
order first (a permutation, `train_test_split`). Arrays that are shuffled separately are recognized by their names (`x`
and `y`, `images` and `labels`). It is only a note if published data may already be shuffled, or if a
custom loss or training step may need the rows of a batch together (all documents of a query).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import is_batched_class
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    BATCHING,
    READY_MADE,
    in_one_function,
    receiver_end,
    setting,
    step_place,
    whole_setting,
    with_step_after,
    with_step_before,
    without_step,
    words,
)
from fitdoctor.catalogue.knowledge.labels.paired_names import label_names_for
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Severity
from fitdoctor.edits import fix, insert_before, replace_code, set_argument, spell, unsafe
from fitdoctor.facts import Code, DataFacts, FitFacts, ModelFacts, PipelineStep, Unknown
from fitdoctor.records import dataclass, replace
from fitdoctor.source.callees import is_self
from fitdoctor.source.definitions import last_name
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import own_nodes

CAUSE = Cause(id="FIT713", slug="shuffle-too-late", severity=Severity.WARNING)

PARTS = ("take", "skip")
_SOURCES = frozenset("range generator list_files TFRecordDataset TextLineDataset CsvDataset".split())
"""Operations that begin a pipeline, besides those named `from_…`."""
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
@mentions("permutation", "shuffle")
def from_arrays(module: Module) -> Iterator[Finding]:
    """Report features and labels in two random orders."""
    for features, kept in _shuffled_alone(module):
        yield CAUSE.finding(
            f"`{features.name}` is shuffled, but `{kept.attr}` keeps its order, so the labels belong to other samples",
            module.location(features.random),
            Evidence("the same rows are read from both here", location=module.location(kept)),
            unsafe("use one random order for both", _both_reordered(module, features, kept)),
            subject=f"order of {kept.attr}",
        )
    for features, labels in _separate_orders(module, lambda features: set(label_names_for(features))):
        yield _apart(module, features, labels)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("permutation", "shuffle")
def from_fitted_arrays(data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report the features and labels of a call that the program put into two random orders, whatever their names are."""
    if data.role != "training" or len(data.x) != 1 or len(data.y) != 1:
        return
    x, y = data.x[0].code, data.y[0].code
    if isinstance(x, Unknown) or isinstance(y, Unknown):
        return
    module = project.module_at(x.location.path)
    if module is None or (x.location.path, x.function) != (y.location.path, y.function):
        return
    xs, ys = ({code.target, re.split(r"\W", code.text.removeprefix("self."))[0]} for code in (x, y))
    for features, labels in _separate_orders(module, lambda name: ys - xs if name in xs else set()):
        if getattr(module.function_of(features.random), "name", "") == x.function.rpartition(".")[2]:
            yield _apart(module, features, labels)


def _apart(module: Module, features: _Reordering, labels: _Reordering) -> Finding:
    return CAUSE.finding(
        f"`{features.name}` and `{labels.name}` are shuffled separately, so the labels belong to other samples",
        module.location(labels.random),
        Evidence("the features are shuffled here", location=module.location(features.random)),
        unsafe("use one random order for both", _one_order(module, features, labels)),
        subject=f"order of {labels.name}",
    )


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


def _branches(steps: tuple[PipelineStep, ...]) -> list[list[PipelineStep]]:
    """Return the pipelines that are zipped, each from its source on."""
    found: list[list[PipelineStep]] = []
    for step in steps:
        if step.operation.startswith("from_") or step.operation in _SOURCES or not found:
            found.append([])
        found[-1].append(step)
    return found


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


# --- inputs and labels in separate orders ---------------------------------------------------------------------------


_LABELS = re.compile(r"(?:^|_)(?:[yY]|labels?|targets?|classes)(?:_|$)")
_SHUFFLED_COPY = ("sklearn.utils.shuffle", "tensorflow.random.shuffle")
"""Functions that return their argument in another random order."""
_SEEDING = frozenset(
    "seed set_seed set_random_seed set_state setstate default_rng RandomState Random Generator".split()
)
"""Calls that may make the second order the same as the first."""


@dataclass(frozen=True, eq=False)
class _Reordering:
    """An array that gets a random order of its own."""

    array: ast.expr
    random: ast.Call
    """The call that draws the order, or shuffles in place."""
    index: ast.expr | None
    """The index, if there is one."""

    @property
    def name(self) -> str:
        """Return the last name of the array: `labels` of `self.labels`."""
        return self.array.attr if isinstance(self.array, ast.Attribute) else getattr(self.array, "id", "")


def _separate_orders(
    module: Module, labels_of: Callable[[str], set[str]]
) -> Iterator[tuple[_Reordering, _Reordering]]:
    """Yield features and their labels in one block whose orders are drawn one after the other."""
    every = [*_by_index(module), *_in_place(module), *_by_call(module)]
    names = [each.name for each in every]
    found = [each for each in every if names.count(each.name) == 1]
    for one in found:
        labels = labels_of(one.name)
        for other in found:
            if other.name in labels and _differ(module, one, other):
                yield one, other


def _shuffled_alone(module: Module) -> Iterator[tuple[_Reordering, ast.Attribute]]:
    """Yield features that a PyDataset shuffles in place, and the labels that it leaves in their order."""
    for info in module.classes:
        getter = info.methods.get("__getitem__")
        if getter is None or not is_batched_class(module, info):
            continue
        parts = [
            node
            for node in own_nodes(getter)
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and is_self(module, node.value.value)
        ]
        uses = [node for node in ast.walk(info.node) if isinstance(node, ast.Attribute)]
        for one in _in_place(module):
            method = module.function_of(one.random)
            if method is None or method.name == "__init__" or method not in info.methods.values():
                continue
            cut = {ast.dump(part.slice) for part in parts if ast.dump(part.value) == ast.dump(one.array)}
            for part in parts:
                labels = part.value
                if (
                    isinstance(labels, ast.Attribute)
                    and _LABELS.search(labels.attr)
                    and labels.attr != one.name
                    and ast.dump(part.slice) in cut
                    and all(_leaves_order(module, use) for use in uses if use.attr == labels.attr)
                ):
                    yield one, labels


def _leaves_order(module: Module, use: ast.Attribute) -> bool:
    """Whether the labels are only stored, counted or read by index there."""
    function = module.function_of(use)
    return function is not None and function.name in ("__init__", "__getitem__", "__len__")


def _both_reordered(module: Module, one: _Reordering, labels: ast.Attribute) -> tuple[Edit, ...]:
    """Return the edit that puts both arrays into one random order."""
    statement, func = module.statement(one.random), one.random.func
    if not isinstance(func, ast.Attribute) or module.resolve(func) == "random.shuffle":
        return ()
    first, second = module.segment(one.array), module.segment(labels)
    indent = module.code(statement).indent
    text = (
        f"order = {module.segment(func.value)}.permutation(len({first}))\n"
        f"{indent}{first}, {second} = {first}[order], {second}[order]"
    )
    return (Edit(module.location(statement), text),)


def _by_index(module: Module) -> Iterator[_Reordering]:
    for node in module.nodes(ast.Subscript):
        drawn: ast.AST = node.slice
        if isinstance(drawn, ast.Name):
            end = origin(module, drawn)
            uses = [one for one in module.nodes(ast.Name) if one.id == drawn.id]
            drawn = end.node if end.certain and not end.path and len(uses) == 2 else drawn
        if (
            isinstance(node.ctx, ast.Load)
            and isinstance(drawn, ast.Call)
            and last_name(drawn) == "permutation"
        ):
            yield _Reordering(node.value, drawn, node.slice)


def _in_place(module: Module) -> Iterator[_Reordering]:
    for call in module.method_calls("shuffle"):
        if (
            len(call.node.args) == 1
            and not call.node.keywords
            and isinstance(module.parent(call.node), ast.Expr)
        ):
            yield _Reordering(call.node.args[0], call.node, None)


def _by_call(module: Module) -> Iterator[_Reordering]:
    for call in module.calls_to(*_SHUFFLED_COPY):
        if len(call.node.args) == 1 and not call.node.keywords:
            yield _Reordering(call.node.args[0], call.node, None)


def _differ(module: Module, one: _Reordering, other: _Reordering) -> bool:
    """Whether one generator surely draws both orders, one after the other."""
    first, second = module.statement(one.random), module.statement(other.random)
    sources = [call.random.func.value for call in (one, other) if isinstance(call.random.func, ast.Attribute)]
    copies = all(module.called(each.random) in _SHUFFLED_COPY for each in (one, other))
    if (
        one.random is other.random
        or (len(sources) != 2 and not copies)
        or module.parent(first) is not module.parent(second)
    ):
        return False
    if not copies and (
        ast.dump(sources[0]) != ast.dump(sources[1])
        or any(isinstance(part, ast.Call) for part in ast.walk(sources[0]))
    ):
        return False
    start, end = sorted((first.lineno, second.lineno))
    between = (call.node for call in module.calls if start <= call.node.lineno <= end)
    return not any(last_name(call) in _SEEDING for call in between)


def _one_order(module: Module, one: _Reordering, other: _Reordering) -> tuple[Edit, ...]:
    """Return the edits that draw one order and use it for both arrays."""
    if one.index is None or other.index is None:
        return ()
    if isinstance(one.index, ast.Name):
        return replace_code(module.code(other.index), one.index.id)
    if "order" in module.text.split() or isinstance(other.index, ast.Name):
        return ()
    first = min(one, other, key=lambda each: each.random.lineno)
    return (
        *insert_before(module.code(first.random), f"order = {module.segment(one.random)}"),
        *replace_code(module.code(one.index), "order"),
        *replace_code(module.code(other.index), "order"),
    )
