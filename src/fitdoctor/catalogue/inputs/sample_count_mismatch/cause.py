"""`x`, `y` and sample weights of different lengths.

## What happens

`ValueError: Data cardinality is ambiguous. Make sure all arrays contain the same number of samples … 'x' sizes: 275
… 'y' sizes: 300`. The message does not say where the lengths diverged. Keras does not count the batches of a
generator: there the loss fails with `Incompatible shapes: [17,1] vs. [16,1]`.

## Why

Rows were dropped from one array (`dropna`, a filter, a slice), a window over a series yields fewer rows than there
are targets, the four results of `train_test_split` were unpacked in the wrong order, or the samples are in the
columns of a table.

## Fix

Apply the same step to both arrays. `train_test_split(X, y)` returns `X_train, X_test, y_train, y_test`.

## Known limits

The step that caused the difference is found by reading the source. It is a guess if both arrays went through
several.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.inputs.contents import arrays_of
from fitdoctor.catalogue.inputs.row_changes import row_change
from fitdoctor.catalogue.knowledge.data.data_places import made_near, maker, rework_data
from fitdoctor.catalogue.knowledge.data.data_trail import Link, trail
from fitdoctor.catalogue.knowledge.data.frame_edits import with_whole_rows
from fitdoctor.catalogue.knowledge.data.generator_sources import generator_behind, yields_of
from fitdoctor.catalogue.knowledge.data.shapes import lacks_its_batch
from fitdoctor.catalogue.knowledge.labels.label_shapes import shapes_of_failure
from fitdoctor.catalogue.prefilter import INPUTS
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.failed_line import calls_at, nodes_at
from fitdoctor.failure.patterns import cardinality
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT108",
    slug="sample-count-mismatch",
    severity=Severity.ERROR,
    aspect="rows",
    raises=("ValueError", "InvalidArgumentError"),
    explains=("FIT201", "FIT202", "FIT204", "FIT205"),
)

SPLITS = frozenset({"sklearn.model_selection.train_test_split"})


@CAUSE.in_source
@mentions("split")
def from_source(data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report the results of a split that were unpacked in the wrong order."""
    if data.role != "training" or len(data.x) != 1 or len(data.y) != 1:
        return
    first, other = data.x[0], data.y[0]
    order = _unpacked_in_wrong_order(first, other, project)
    if order is not None:
        yield CAUSE.finding(
            f"`{first.path}` and `{other.path}` are two parts of the same array and differ in length",
            order[0],
            Evidence(
                "`train_test_split` returns both parts of the first array, then both of the second",
                location=order[0],
            ),
            order[1],
            subject="numbers of samples",
        )


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report the sample counts that Keras found to differ."""
    if data.problem is not None and cardinality(data.problem.message) is not None:
        if not lacks_its_batch(model, data):
            yield from _findings(fit, data, project)


@CAUSE.likely_in_source
@doubting(INPUTS)
def from_lengths(fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report sample counts that differ according to the source."""
    compared = (*data.x, *data.y)
    known = all(isinstance(array.shape, tuple) and array.shape[:1] != (None,) for array in compared)
    if data.form == "arrays" and known and _differ(compared):
        yield from _findings(fit, data, project)


def _findings(fit_call: FitFacts | Unknown, data: DataFacts, project: Project) -> Iterator[Finding]:
    sized = [
        (array, array.shape[0]) for array in arrays_of(data) if isinstance(array.shape, tuple) and array.shape
    ]
    if len({rows for _array, rows in sized}) < 2 or len(data.x) > 8:
        return
    first, rows = sized[0]
    other, others = next((array, count) for array, count in sized if count != rows)
    location: Location | None
    order = _unpacked_in_wrong_order(first, other, project)
    if order is not None:
        location, fixes = order[0], [order[1]]
    elif _is_transposed(first, others):
        location, fixes = place(maker(first), first.use), [_turned(first, fit_call)]
    elif 1 in (rows, others):
        location, fixes = _in_one(first if rows == 1 else other)
    else:
        location, fixes = _parting(first, other, data, project)
    yield CAUSE.certain(
        f"`{first.path}` has {_rows(rows)} sample{'s' * (rows != 1)}, but `{other.path}` has {_rows(others)}",
        location,
        *(
            Evidence(
                f"samples of `{array.path}`",
                str(count),
                str(wanted),
                fact="data.shape",
                location=place(array.code, array.use),
            )
            for array, count, wanted in ((first, rows, others), (other, others, rows))
        ),
        *fixes,
        subject="numbers of samples",
    )


def _rows(count: int | None) -> str:
    return f"{count:,}" if count is not None else "None"


def _in_one(single: ArrayFacts) -> tuple[Location | None, list[Fix]]:
    """Report all samples merged into one, as in `x.reshape(1, 99, 3)`."""
    title = f"keep the samples on the first axis of `{single.path}`"
    return place(maker(single), single.use), [fix(title)]


def _is_transposed(first: ArrayFacts, others: int | None) -> bool:
    """Whether the samples are in the columns: a table with as many columns as the other array has entries."""
    shape = first.shape
    return isinstance(shape, tuple) and len(shape) == 2 and shape[1] == others and (others or 0) > 1


def _turned(first: ArrayFacts, fit_call: FitFacts | Unknown) -> Fix:
    edits = rework_data(first, fit_call, "{}.T") if "numpy" in first.container else ()
    return fix(f"transpose `{first.path}` so that each sample is a row", edits)


# --- batches of a generator ---------------------------------------------------------------------------------------


_UNCOUNTED = ("train_on_batch", "test_on_batch")
"""Keras counts the samples of arrays, but not of batches."""


@CAUSE.before_fit
def from_batch(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a first batch with different numbers of samples and labels, for a built-in loss."""
    forms = ("generator", "pydataset", "dataloader", *(("arrays",) if fit.method in _UNCOUNTED else ()))
    if data.form not in forms or len(data.x) != 1 or len(data.y) != 1:
        return
    if {"train_step", "compute_loss"} & set(model.overrides) or not model.losses:
        return
    x, y = data.x[0].shape, data.y[0].shape
    if not isinstance(x, tuple) or not isinstance(y, tuple) or not x or not y:
        return
    plain = all(loss.kind == "builtin" for loss in model.losses)
    if plain and None not in (x[0], y[0]) and x[0] != y[0] and 1 not in (x[0], y[0]):
        one = _of_batches(x[0], y[0], data, project, None)
        for finding in _findings(fit, data, project) if data.form == "arrays" else (one,):
            yield finding if _keeps_batch(model) else replace(finding, confidence=Confidence.LIKELY)


def _keeps_batch(model: ModelFacts) -> bool:
    """Whether every layer is one of Keras that leaves the samples apart: an operation may fold them together."""
    kept = all(layer.builtin and layer.class_name != "Lambda" for layer in model.every_layer())
    return kept and model.kind == "sequential"


def _of_batches(
    samples: int | None,
    labels: int | None,
    data: DataFacts | Unknown,
    project: Project,
    raised: Location | None,
) -> Finding:
    code = data.code if isinstance(data, DataFacts) else Unknown("the data is unknown")
    # The batch that a `__getitem__` returns, where its source shows it.
    labels_code = data.y[0].code if isinstance(data, DataFacts) and data.form == "pydataset" else code
    function = generator_behind(project, code)
    yields = yields_of(function) if function is not None else []
    given = function.module.location(yields[-1]) if function is not None and yields else None
    return CAUSE.certain(
        f"a batch has {samples} samples, but {labels} labels",
        place(given, labels_code, code, raised),
        Evidence("labels in the batch", str(labels), str(samples), "data.y.shape"),
        *_same_rows(project, place(given, labels_code)),
        fix("select the same rows of x and y for each batch"),
        subject="numbers of samples",
    )


def _same_rows(project: Project, batch: Location | None) -> Iterator[Fix]:
    """Yield the fix of a batch whose labels are cut at another end than its samples: `x[a:b], y[a : b - 1]`."""
    module = project.module_at(batch.path) if batch is not None and project else None
    for pair in nodes_at(module, ast.Tuple, batch):
        assert module is not None
        cuts = [each.slice for each in pair.elts if isinstance(each, ast.Subscript)]
        slices = [each for each in cuts if isinstance(each, ast.Slice) and each.lower is not None]
        if not len(pair.elts) == len(slices) == 2:
            continue
        starts = [module.segment(each.lower) for each in slices if each.lower is not None]
        cut = [module.segment(each) for each in slices]
        if starts[0] == starts[1] and cut[0] != cut[1]:
            yield unsafe(f"select the rows `{cut[0]}` of both", (Edit(module.location(slices[1]), cut[0]),))


# --- the four results of a split ----------------------------------------------------------------------------------


def _unpacked_in_wrong_order(
    first: ArrayFacts, other: ArrayFacts, project: Project
) -> tuple[Location, Fix] | None:
    """Return the split and its fix if both arrays are parts of the same array."""
    if not project or isinstance(first.use, Unknown) or isinstance(other.use, Unknown):
        return None
    if first.use.text == other.use.text:
        return None  # an autoencoder
    module = project.module_at(first.use.location.path)
    for call in module.calls_to(*SPLITS) if module is not None else ():
        assert module is not None
        statement = module.statement(call.node)
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Tuple):
            continue
        targets = statement.targets[0]
        names = [module.segment(element) for element in targets.elts]
        arrays = len(call.node.args)
        if len(names) != 2 * arrays or first.use.text not in names or other.use.text not in names:
            continue
        if names.index(first.use.text) // 2 == names.index(other.use.text) // 2:
            return module.location(statement), _right_order(module, targets, names, arrays)
    return None


def _right_order(module: Module, targets: ast.Tuple, names: list[str], arrays: int) -> Fix:
    """Reorder the targets to train and test part of each array: `a, b, a, b` becomes `a, a, b, b`."""
    meant = [names[index] for position in range(arrays) for index in (position, position + arrays)]
    where = module.location(targets)
    text = ", ".join(meant)
    if module.segment(targets).startswith("("):
        text = f"({text})"
    return fix(f"unpack the results in the right order: `{text}`", (Edit(where, text),))


# --- the step at which the lengths diverge ------------------------------------------------------------------------


def _parting(
    first: ArrayFacts, other: ArrayFacts, data: DataFacts, project: Project
) -> tuple[Location | None, list[Fix]]:
    """Return the location and fixes of the step that changes the rows of only one array."""
    ways = [list(trail(project, data, array)) for array in (first, other)]
    windows = list(_same_windows(first, other, ways))
    added = _added_to_one(first, other, ways)
    if added is not None:
        words = module_text(added)
        return added.location, [fix(f"add the same number of rows to the other array: `{words}`")]
    for way, opposite in ((ways[0], ways[1]), (ways[1], ways[0])):
        shared = {link.node for link in opposite}
        own = [link for link in way if link.node not in shared]
        for strong in (True, False):
            step = _first_change(own, strong)
            if step is not None and (strong or way is ways[1]):
                words = module_text(step)
                by_hand = fix(f"apply `{words}` to both arrays, or to neither")
                return step.location, [*windows, *_evened(first, other, data, project, step), by_hand]
    grown = next((found for way in reversed(ways) for found in _growing(way)), None)
    return (
        place(grown, made_near(other), other.use, other.code),
        [*windows, fix(f"build `{first.path}` and `{other.path}` from the same samples")],
    )


def _same_windows(first: ArrayFacts, other: ArrayFacts, ways: list[list[Link]]) -> Iterator[Fix]:
    """Yield the fix of windows over a series that are counted otherwise than their targets.

    Only the end changes: a different start would pair every window with another target.
    """
    counts = [array.shape[0] or 0 for array in (first, other) if isinstance(array.shape, tuple)]
    ends = [next((found for link in way if (found := _counted_to(link)) is not None), None) for way in ways]
    if len(counts) != 2 or 0 in counts:
        return
    longer = 0 if counts[0] > counts[1] else 1
    long, short = ends[longer], ends[1 - longer]
    if short is None:
        return
    module, end = short
    if long is not None:
        if long[0] is module and module.function_of(long[1]) is module.function_of(end):
            text = module.segment(end)
            yield unsafe(f"count both to `{text}`", (Edit(module.location(long[1]), text),))
    elif any(_follow_windows(link, end) for link in ways[longer]):
        text = _increased(module, end, counts[longer] - counts[1 - longer])
        yield unsafe(f"use every window: count to `{text}`", (Edit(module.location(end), text),))


def _follow_windows(link: Link, counted: ast.expr) -> bool:
    """Whether targets such as `series[width:]` begin after the first of the windows `series[i : i + width]`."""
    module, cut = link.module, getattr(link.node, "slice", None)
    start = module.segment(cut.lower) if isinstance(cut, ast.Slice) and cut.lower is not None else ""
    made = [each for each in ast.walk(module.statement(counted)) if isinstance(each, ast.ListComp)]
    slices = [each.elt.slice for each in made if isinstance(each.elt, ast.Subscript)]
    ends = [each.upper for each in slices if isinstance(each, ast.Slice)]
    end = ends[0] if len(ends) == 1 else None
    width = module.segment(end.right) if isinstance(end, ast.BinOp) else ""
    return bool(width) and re.match(rf"{re.escape(width)}(?!\s*-|\w)", start) is not None


def _counted_to(link: Link) -> tuple[Module, ast.expr] | None:
    """Return the end of the `range` that a list of slices or elements is made over."""
    made = link.node
    if not isinstance(made, ast.ListComp) or len(made.generators) != 1 or made.generators[0].ifs:
        return None
    over = made.generators[0].iter
    if not isinstance(over, ast.Call) or len(over.args) != 1 or link.module.resolve(over.func) != "range":
        return None
    return (link.module, over.args[0]) if isinstance(made.elt, ast.Subscript) else None


def _increased(module: Module, bound: ast.expr, more: int) -> str:
    text = module.segment(bound)
    if isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Sub):
        if isinstance(bound.right, ast.Constant) and bound.right.value == more:
            return module.segment(bound.left)
    return f"{text} + {more}"


def _evened(
    first: ArrayFacts, other: ArrayFacts, data: DataFacts, project: Project, step: Link
) -> Iterator[Fix]:
    """Yield fixes that apply the step to both arrays: in their table, by index, or at another offset."""
    counts = [array.shape[0] or 0 for array in (first, other) if isinstance(array.shape, tuple)]
    more = counts[0] - counts[-1]
    node = step.node.value if isinstance(step.node, ast.Expr) else step.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "dropna":
        edits = with_whole_rows(project, data)
        if edits:
            yield unsafe("drop the rows with missing values from the table before selecting columns", edits)
    longer, shorter = (first, other) if more > 0 else (other, first)
    if longer.container.startswith("pandas.") and shorter.container.startswith("pandas."):
        if isinstance(shorter.use, Code):
            rows = f"{{}}.loc[{shorter.use.text}.index]"
            yield unsafe(
                f"select the rows of `{longer.path}` that are in `{shorter.path}`", wrap(longer.use, rows)
            )
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        yield from _at_other_offset(step.module, node.slice, abs(more))


def _at_other_offset(module: Module, cut: ast.Slice, more: int) -> Iterator[Fix]:
    """Change `series[width + 1 :]` to `series[width:]` if that removes the difference."""
    start = cut.lower
    if not isinstance(start, ast.BinOp) or not isinstance(start.op, ast.Add):
        return
    if isinstance(start.right, ast.Constant) and start.right.value == more:
        text = module.segment(start.left)
        yield unsafe(f"start at `{text}`, as the other array does", (Edit(module.location(start), text),))


def _added_to_one(first: ArrayFacts, other: ArrayFacts, ways: list[list[Link]]) -> Link | None:
    """Return the step that appends rows to the longer array but not to the shorter one."""
    if not isinstance(first.shape, tuple) or not isinstance(other.shape, tuple):
        return None
    longer, shorter = ways if (first.shape[0] or 0) > (other.shape[0] or 0) else ways[::-1]
    if any(row_change(link) in ("grow", "drop") for link in shorter):
        return None
    return next((link for link in longer if row_change(link) == "grow"), None)


def _first_change(links: list[Link], strong: bool) -> Link | None:
    for link in links:
        kind = row_change(link)
        if kind == "drop" or (kind == "slice" and not strong):
            return link
    return None


def _growing(way: list[Link]) -> Iterator[Location]:
    """Yield the statements that append to the list an array is created from."""
    for link in way:
        call = link.module.parent(link.node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr in ("append", "extend") and link.node in call.args:
                yield link.module.location(link.module.statement(call))


def module_text(link: Link) -> str:
    """Return the source of the step, cut to 60 characters."""
    text = " ".join(link.module.segment(link.node).split())
    return text if len(text) <= 60 else f"{text[:57]}…"


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report the sample counts in the message."""
    sizes = cardinality(failure.message)
    if sizes is not None and isinstance(data, DataFacts) and lacks_its_batch(model, data):
        return
    if sizes is None:
        yield from _refused(failure)
        yield from _sliced(failure, project)
        yield from _from_loss(failure, fit, data, project)
        return
    if isinstance(data, DataFacts):
        if data.problem is not None or _differ(tuple(arrays_of(data))):
            yield from _findings(fit, data, project)
            return
        if data.role != "training" or not failure.from_text:
            return
    counts = [f"`{name}` has {', '.join(map(str, dict.fromkeys(rows)))}" for name, rows in sizes.sizes]
    yield CAUSE.certain(
        f"the number of samples differs: {', '.join(counts)}",
        _from_source(data, project) or failure.location,
        Evidence("samples", ", ".join(counts), "the same number"),
        fix("build x, y and the weights from the same samples"),
        subject="numbers of samples",
    )


def _from_loss(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report labels and outputs of a batch that differ only in their first axis."""
    shapes = shapes_of_failure(failure)
    # Arrays are counted before the first step, so there the model changes the number of outputs.
    forms = ("generator", "pydataset", *(("arrays",) if failure.called in _UNCOUNTED else ()))
    if shapes is None or not isinstance(data, DataFacts) or data.form not in forms:
        return
    if data.role != "training":
        return
    labels, outputs = shapes.target, shapes.output
    lengths = {labels[0], outputs[0]} if labels and outputs else set()
    if len(lengths) == 2 and not lengths & {None, 1} and labels[1:] == outputs[1:]:
        known = list(_findings(fit, data, project)) if data.form == "arrays" else []
        other = _of_batches(outputs[0], labels[0], data, project, failure.location)
        yield from known or (other,)


def _from_source(data: DataFacts | Unknown, project: Project) -> Location | None:
    """Return the step at which the lengths diverge, as far as the source shows."""
    if isinstance(data, Unknown) or len(data.x) != 1 or len(data.y) != 1:
        return None
    order = _unpacked_in_wrong_order(data.x[0], data.y[0], project)
    return order[0] if order is not None else _parting(data.x[0], data.y[0], data, project)[0]


def _differ(arrays: tuple[ArrayFacts, ...]) -> bool:
    rows = {array.shape[0] for array in arrays if isinstance(array.shape, tuple) and array.shape}
    return len(rows - {None}) > 1


CAUSE.message(
    r"All input arrays and the target array must have the same number of samples",
    "the arrays differ in their number of samples",
    "pass as many rows of labels as of inputs",
    subject="data",
    confidence=Confidence.CERTAIN,
)


# --- counts of splits -----------------------------------------------------------------------------------------------


_SAID = re.compile(
    r"Found input variables with inconsistent numbers of samples: \[(?P<sizes>[\d, ]{1,200})\]"
)


def _refused(failure: FailureFacts) -> Iterator[Finding]:
    """Report the sample counts in the message."""
    said, frame = _SAID.search(failure.message), failure.last_user_frame
    if said is None or frame is None:
        return
    called = {inner.function for inner in failure.frames if inner.library}
    if called and "train_test_split" not in called:
        return  # an estimator of scikit-learn checks its data in the same words
    sizes = [int(size) for size in said["sizes"].split(",")]
    yield CAUSE.certain(
        f"the arrays to split have {' and '.join(f'{size:,}' for size in sizes)} samples, but need the same number",
        frame.location,
        Evidence("samples", said["sizes"], "the same number"),
        fix("build the arrays from the same samples"),
        subject="numbers of samples",
    )


_SLICED = re.compile(r"Dimensions (?P<first>\d+) and (?P<other>\d+) are not compatible")


def _sliced(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report `from_tensor_slices` of arrays whose first axes differ."""
    said, frame = _SLICED.search(failure.message), failure.last_user_frame
    if said is None or frame is None or failure.type != "ValueError":
        return
    calls = [site for site in calls_at(failure, project) if site.method == "from_tensor_slices"]
    if not calls and "from_tensor_slices" not in frame.text:
        return
    yield CAUSE.certain(
        f"the arrays in `from_tensor_slices` have {said['first']} and {said['other']} samples, but need the same number",
        calls[0].module.location(calls[0].node) if calls else frame.location,
        Evidence("samples", said["other"], said["first"], location=frame.location),
        fix("build the arrays from the same samples"),
        subject="numbers of samples",
    )
