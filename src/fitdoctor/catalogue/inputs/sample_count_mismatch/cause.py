"""x, y and the sample weights differ in length.

## What happens

`ValueError: Data cardinality is ambiguous. Make sure all arrays contain the same number of samples. 'x'
sizes: 275, 'y' sizes: 300`. The message does not say where the two parted. Batches of a
generator are not counted: there the loss fails, `Incompatible shapes: [17,1] vs. [16,1]`.

## Why

Rows were dropped from one of them (`dropna`, a filter, a slice), a window over a series gives fewer rows than
there are targets, or the four results of `train_test_split` were unpacked in the wrong order. Or
the samples lie in the columns of a table.

## Fix

Do to both what was done to one. `train_test_split(X, y)` gives `X_train, X_test, y_train, y_test`.

## Known limits

Which step made the difference is read from the source, and is a guess where both arrays went through several.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.doubts import INPUTS
from fitdoctor.catalogue.inputs.contents import arrays_of
from fitdoctor.catalogue.inputs.data_places import made_near, maker, rework_data
from fitdoctor.catalogue.inputs.shapes import lacks_its_batch
from fitdoctor.catalogue.labels.label_shapes import shapes_of_failure
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.patterns import cardinality
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.catalogue.inputs.data_trail import Link

CAUSE = Cause(
    id="FIT108",
    slug="sample-count-mismatch",
    severity=Severity.ERROR,
    raises=("ValueError", "InvalidArgumentError"),
    explains=("FIT201", "FIT202", "FIT204", "FIT205"),
)

SPLITS = frozenset({"sklearn.model_selection.train_test_split"})


@CAUSE.in_source
@mentions("split")
def from_source(data: DataFacts, project: Project) -> Iterator[Finding]:
    """Both are parts of one array: what a split gives was unpacked in the wrong order."""
    if data.role != "training" or len(data.x) != 1 or len(data.y) != 1:
        return
    first, other = data.x[0], data.y[0]
    order = _unpacked_in_wrong_order(first, other, project)
    if order is not None:
        yield CAUSE.finding(
            f"`{first.path}` and `{other.path}` are two parts of the same array, of different lengths",
            subject="numbers of samples",
            location=order[0],
            evidence=[
                Evidence("`train_test_split` gives both parts of each array in turn", location=order[0])
            ],
            fixes=[order[1]],
            confidence=Confidence.LIKELY,
        )


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Keras counted the samples, and they differ."""
    if data.problem is not None and cardinality(data.problem.message) is not None:
        if not lacks_its_batch(model, data):
            yield from _findings(fit, data, project)


@CAUSE.in_source
@doubting(INPUTS)
def from_lengths(fit: FitFacts, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The source tells every length, and they differ."""
    compared = (*data.x, *data.y)
    known = all(isinstance(array.shape, tuple) and array.shape[:1] != (None,) for array in compared)
    if data.form == "arrays" and known and _differ(compared):
        for finding in _findings(fit, data, project):
            yield replace(finding, confidence=Confidence.LIKELY)


def _findings(fit_call: FitFacts | Unknown, data: DataFacts, project: Project | Unknown) -> Iterator[Finding]:
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
    yield CAUSE.finding(
        f"`{first.path}` has {rows} samples, but `{other.path}` has {others}",
        subject="numbers of samples",
        location=location,
        evidence=[
            Evidence(
                claim=f"samples of `{array.path}`",
                observed=str(count),
                expected=str(rows if array is not first else others),
                fact="data.shape",
                location=place(array.code, array.use),
            )
            for array, count in ((first, rows), (other, others))
        ],
        fixes=fixes,
        confidence=Confidence.CERTAIN,
    )


def _in_one(single: ArrayFacts) -> tuple[Location | None, list[Fix]]:
    """All samples were made one: `x.reshape(1, 99, 3)`."""
    title = f"leave the samples on the first axis of `{single.path}`"
    return place(maker(single), single.use), [fix(title)]


def _is_transposed(first: ArrayFacts, others: int | None) -> bool:
    """Whether the samples lie in the columns: a table with as many of them as the other array has entries."""
    shape = first.shape
    return isinstance(shape, tuple) and len(shape) == 2 and shape[1] == others and (others or 0) > 1


def _turned(first: ArrayFacts, fit_call: FitFacts | Unknown) -> Fix:
    edits = rework_data(first, fit_call, "{}.T") if "numpy" in first.container else ()
    return fix(f"turn `{first.path}`, so that each sample is a row", edits)


# --- batches of a generator ----------------------------------------------------------------------------------------


_UNCOUNTED = ("train_on_batch", "test_on_batch")
"""Keras counts the samples of arrays, but not of those that are a batch."""


@CAUSE.before_fit
def from_batch(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """The first batch has more labels than samples, or fewer, and a loss of Keras compares them."""
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
    project: Project | Unknown,
    raised: Location | None,
) -> Finding:
    from fitdoctor.catalogue.pipeline.generator_sources import generator_behind, yields_of

    code = data.code if isinstance(data, DataFacts) else Unknown("the data was not seen")
    function = generator_behind(project, code)
    yields = yields_of(function) if function is not None else []
    given = function.module.location(yields[-1]) if function is not None and yields else None
    return CAUSE.finding(
        f"a batch has {samples} samples, but {labels} labels",
        subject="numbers of samples",
        location=place(given, code, raised),
        evidence=[Evidence("labels of the batch", str(labels), str(samples), "data.y.shape")],
        fixes=[fix("take the same rows of x and y for a batch")],
        confidence=Confidence.CERTAIN,
    )


# --- the four results of a split ----------------------------------------------------------------------------------


def _unpacked_in_wrong_order(
    first: ArrayFacts, other: ArrayFacts, project: Project | Unknown
) -> tuple[Location, Fix] | None:
    """Both arrays are parts of the same array: the results of one split, taken in the wrong order."""
    if isinstance(project, Unknown) or isinstance(first.use, Unknown) or isinstance(other.use, Unknown):
        return None
    if first.use.text == other.use.text:
        return None  # an autoencoder's
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
    """Each array's training part, then its test part: what `a, b, a, b` meant becomes `a, a, b, b`."""
    meant = [names[index] for position in range(arrays) for index in (position, position + arrays)]
    where = module.location(targets)
    text = ", ".join(meant)
    if module.segment(targets).startswith("("):
        text = f"({text})"
    return fix(f"unpack the results in their order: `{text}`", (Edit(where, text),))


# --- the step at which they part ----------------------------------------------------------------------------------


def _parting(
    first: ArrayFacts, other: ArrayFacts, data: DataFacts, project: Project | Unknown
) -> tuple[Location | None, list[Fix]]:
    """The step that only one of the two arrays went through and that changes its number of rows."""
    from fitdoctor.catalogue.inputs.data_trail import trail

    ways = [list(trail(project, data, array)) for array in (first, other)]
    added = _added_to_one(first, other, ways)
    if added is not None:
        words = module_text(added)
        return added.location, [fix(f"add as many rows to the other array: `{words}`")]
    for way, opposite in ((ways[0], ways[1]), (ways[1], ways[0])):
        shared = {link.node for link in opposite}
        own = [link for link in way if link.node not in shared]
        for strong in (True, False):
            step = _first_change(own, strong)
            if step is not None and (strong or way is ways[1]):
                words = module_text(step)
                by_hand = fix(f"do the same to both arrays, or to neither: `{words}`")
                return step.location, [*_evened(first, other, data, project, step), by_hand]
    grown = next((found for way in reversed(ways) for found in _growing(way)), None)
    return (
        place(grown, made_near(other), other.use, other.code),
        [fix(f"make `{first.path}` and `{other.path}` of the same samples")],
    )


def _evened(
    first: ArrayFacts, other: ArrayFacts, data: DataFacts, project: Project | Unknown, step: Link
) -> Iterator[Fix]:
    """The step for both arrays: in the table that they come from, by the rows that are left, or at another offset."""
    from fitdoctor.catalogue.inputs.frame_edits import with_whole_rows

    counts = [array.shape[0] or 0 for array in (first, other) if isinstance(array.shape, tuple)]
    more = counts[0] - counts[-1]
    node = step.node.value if isinstance(step.node, ast.Expr) else step.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "dropna":
        edits = with_whole_rows(project, data)
        if edits:
            yield fix("drop the rows with gaps from the table, before columns are picked", edits)
    longer, shorter = (first, other) if more > 0 else (other, first)
    if longer.container.startswith("pandas.") and shorter.container.startswith("pandas."):
        if isinstance(shorter.use, Code):
            rows = f"{{}}.loc[{shorter.use.text}.index]"
            yield fix(f"take the rows of `{longer.path}` that `{shorter.path}` has", wrap(longer.use, rows))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        yield from _at_other_offset(step.module, node.slice, more)


def _at_other_offset(module: Module, cut: ast.Slice, more: int) -> Iterator[Fix]:
    """`series[width + 1 :]` as `series[width:]`, where that makes up for the difference."""
    start = cut.lower
    if not isinstance(start, ast.BinOp) or not isinstance(start.op, (ast.Add, ast.Sub)):
        return
    if isinstance(start.right, ast.Constant) and start.right.value == abs(more):
        text = module.segment(start.left)
        yield unsafe(f"start at `{text}`, as the other array does", (Edit(module.location(start), text),))


def _added_to_one(first: ArrayFacts, other: ArrayFacts, ways: list[list[Link]]) -> Link | None:
    """The step that put rows behind those of the longer array, where the shorter one saw none of the kind."""
    from fitdoctor.catalogue.inputs.row_changes import row_change

    if not isinstance(first.shape, tuple) or not isinstance(other.shape, tuple):
        return None
    longer, shorter = ways if (first.shape[0] or 0) > (other.shape[0] or 0) else ways[::-1]
    if any(row_change(link) in ("grow", "drop") for link in shorter):
        return None
    return next((link for link in longer if row_change(link) == "grow"), None)


def _first_change(links: list[Link], strong: bool) -> Link | None:
    from fitdoctor.catalogue.inputs.row_changes import row_change

    for link in links:
        kind = row_change(link)
        if kind == "drop" or (kind == "slice" and not strong):
            return link
    return None


def _growing(way: list[Link]) -> Iterator[Location]:
    """The statements that appended to the list which an array was made of: they decide how long it is."""
    for link in way:
        call = link.module.parent(link.node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr in ("append", "extend") and link.node in call.args:
                yield link.module.location(link.module.statement(call))


def module_text(link: Link) -> str:
    """The step as it is written, cut to a line."""
    text = " ".join(link.module.segment(link.node).split())
    return text if len(text) <= 60 else f"{text[:57]}…"


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    project: Project | Unknown,
) -> Iterator[Finding]:
    """The message counts the samples."""
    sizes = cardinality(failure.message)
    if sizes is not None and isinstance(data, DataFacts) and lacks_its_batch(model, data):
        return
    if sizes is None:
        from fitdoctor.catalogue.inputs.split_counts import refused, sliced

        yield from refused(CAUSE, failure, project)
        yield from sliced(CAUSE, failure, project)
        yield from _from_loss(failure, fit, data, project)
        return
    if isinstance(data, DataFacts):
        if data.problem is not None or _differ(tuple(arrays_of(data))):
            yield from _findings(fit, data, project)
            return
        if data.role != "training" or not failure.from_text:
            return
    counts = [f"`{name}` has {', '.join(map(str, dict.fromkeys(rows)))}" for name, rows in sizes.sizes]
    frame = failure.last_user_frame
    yield CAUSE.finding(
        f"the numbers of samples differ: {', '.join(counts)}",
        subject="numbers of samples",
        location=_from_source(data, project) or (frame.location if frame else None),
        evidence=[Evidence("samples", ", ".join(counts), "the same number", "failure.message")],
        fixes=[fix("make x, y and the weights of the same samples")],
        confidence=Confidence.CERTAIN,
    )


def _from_loss(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """The loss met batches of labels and outputs that differ in their first axis alone."""
    shapes = shapes_of_failure(failure)
    # Arrays are counted before the first step: there it is the model that makes fewer outputs, or more.
    forms = ("generator", "pydataset", *(("arrays",) if failure.called in _UNCOUNTED else ()))
    if shapes is None or not isinstance(data, DataFacts) or data.form not in forms:
        return
    if data.role != "training":
        return
    labels, outputs = shapes.target, shapes.output
    lengths = {labels[0], outputs[0]} if labels and outputs else set()
    if len(lengths) == 2 and not lengths & {None, 1} and labels[1:] == outputs[1:]:
        frame = failure.last_user_frame
        known = list(_findings(fit, data, project)) if data.form == "arrays" else []
        other = _of_batches(outputs[0], labels[0], data, project, frame.location if frame else None)
        yield from known or (other,)


def _from_source(data: DataFacts | Unknown, project: Project | Unknown) -> Location | None:
    """The step at which the arrays part, as far as the source tells."""
    if isinstance(data, Unknown) or len(data.x) != 1 or len(data.y) != 1:
        return None
    order = _unpacked_in_wrong_order(data.x[0], data.y[0], project)
    return order[0] if order is not None else _parting(data.x[0], data.y[0], data, project)[0]


def _differ(arrays: tuple[ArrayFacts, ...]) -> bool:
    rows = {array.shape[0] for array in arrays if isinstance(array.shape, tuple) and array.shape}
    return len(rows - {None}) > 1
