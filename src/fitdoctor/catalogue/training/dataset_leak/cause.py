"""Validation rows that are also in the training data.

## What happens

Nothing raises. The validation metrics are better than the model performs on new data, and early stopping stops too
late.

## Why

The validation data was split off, but the model is trained on everything; the slices overlap; rows were copied
(oversampled) before the split; or the training data itself is used for validation. In cross-validation, one model that is
built before the loop over the folds has been trained on the rows that later folds hold out.

## Fix

Split first, then oversample only the training part. Train only on the training part of the split. Build a new model in
every fold. Cut a series into training and validation part before cutting each into windows: windows that overlap contain
the same steps, so a random split gives most steps of a validation window to the training data.

## Known limits

Rows are compared byte by byte, in arrays and in datasets that slice arrays. A few equal rows do not count as a leak.
Data whose rows naturally repeat (few columns with few values) is not checked. `lint` reports only a call that passes the
same arrays twice; it accepts that for arrays that the program generates itself and for fewer than 50 rows, where
memorizing them is often the purpose.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.bindings import binding_line
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.training_loops import bound_in, loops_around, names_read
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, remove_argument, set_argument, unsafe
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, Unknown
from fitdoctor.source.assignments import last_assignment
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.line_edits import delete_lines, indent_of, with_comment
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT003", slug="dataset-leak", severity=Severity.WARNING, aspect="split")

LEAST_SHARE = 0.15
LEAST_ROWS = 5


@CAUSE.before_fit
def from_rows(
    fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report validation rows that are also in the training data, if there are many."""
    shared, rows = validation.shared_rows, validation.samples
    if (
        not isinstance(shared, int)
        or not isinstance(rows, int)
        or shared < LEAST_ROWS
        or shared < LEAST_SHARE * rows
    ):
        return
    all_of_them = shared == rows
    if all_of_them and rows == training.samples and (rows < _FEW or _says_overfit(fit)):
        return  # whether a model can learn a few rows by heart is a common test
    yield CAUSE.certain(
        f"{'all' if all_of_them else f'{shared:,} of the'} {rows:,} validation rows are also in the training data",
        _line(fit, training, validation, project),
        Evidence(
            "validation rows in the training data",
            f"{shared:,} of {rows:,}",
            "none",
            fact="data.shared_rows",
            location=place(validation.code),
        ),
        unsafe("remove the validation rows from the training data", _other_rows(fit, project)),
        fix("split the data before copying or augmenting rows"),
        subject="argument validation_data of fit",
    )


@CAUSE.before_fit
def from_windows(
    fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report windows of a series that were split at random, although they overlap."""
    shared, rows = validation.shared_windows, validation.samples
    if not isinstance(shared, int) or not isinstance(rows, int) or 2 * shared < rows:
        return
    if isinstance(validation.shared_rows, int) and validation.shared_rows >= LEAST_SHARE * rows:
        return
    yield CAUSE.certain(
        f"{shared:,} of the {rows:,} validation windows lie between windows of the training data that they overlap: "
        "the model has seen most of their steps, and the targets",
        _line(fit, training, validation, project),
        Evidence(
            "validation windows that overlap training windows on both sides",
            f"{shared:,} of {rows:,}",
            "one at the border",
            fact="data.shared_windows",
            location=place(validation.code),
        ),
        unsafe("split the windows in time, without shuffling", _in_time(validation, project)),
        fix("split the series first, and cut each part into windows"),
        subject="argument validation_data of fit",
    )


_SPLIT = "sklearn.model_selection.train_test_split"


def _in_time(validation: DataFacts, project: Project) -> tuple[Edit, ...]:
    """Make the `train_test_split` that the validation windows come from keep their order."""
    found = node_of(project, validation.x[0].use) if validation.x else None
    if found is None or not isinstance(found[1], ast.expr):
        return ()
    end = origin(found[0], found[1])
    passed = [(end.module, end.node), *((step.module, step.node) for step in end.steps)]
    split = next((each for each in passed if each[0].called(each[1]) == _SPLIT), None)
    if split is None:
        return ()
    code = split[0].code(split[1])
    if code.argument("stratify") is not None:
        return ()
    drawn = code.argument("random_state")
    if drawn is not None and code.argument("shuffle") is None:
        return (Edit(drawn.whole, "shuffle=False"),)
    return set_argument(code, "shuffle", "False")


def _other_rows(fit_call: FitFacts, project: Project) -> tuple[Edit, ...]:
    """Train on `x[:n]` where `x[n:]` validates, in the place that returns or passes both."""
    code = fit_call.code
    given = [code.argument("x", 0), code.argument("y", 1)] if isinstance(code, Code) else []
    validation = code.argument("validation_data") if isinstance(code, Code) else None
    if validation is None or None in given:
        return ()
    theirs = node_of(project, Code(validation.location, validation.text))
    edits: list[Edit] = []
    for index, argument in enumerate(given):
        ours = node_of(project, Code(argument.location, argument.text)) if argument is not None else None
        if ours is None or theirs is None:
            return ()
        if not isinstance(ours[1], ast.expr) or not isinstance(theirs[1], ast.expr):
            return ()
        part = origin(theirs[0], theirs[1], (index,))
        rest = _rest(part.module, part.node) if not part.path else None
        if rest is None:
            return ()
        whole = origin(ours[0], ours[1])
        passed = [*((step.module, step.node) for step in whole.steps), ours]
        same = [
            node
            for module, node in passed
            if isinstance(node, ast.Name)
            and module is part.module
            and node.id == rest[0]
            and module.scope(node) is module.scope(part.node)
        ]
        if not same:
            return ()
        edits.append(Edit(part.module.location(same[-1]), rest[1]))
    return tuple(edits)


def _rest(module: Module, part: ast.expr) -> tuple[str, str] | None:
    """Return the array of a slice, and the slice of its other rows: `x[:n]` for `x[n:]`."""
    if not isinstance(part, ast.Subscript) or not isinstance(part.value, ast.Name):
        return None
    rows = part.slice
    if (
        not isinstance(rows, ast.Slice)
        or rows.step is not None
        or (rows.lower is None) == (rows.upper is None)
    ):
        return None
    name, bound = part.value.id, module.segment(rows.lower or rows.upper)  # type: ignore[arg-type]
    return name, f"{name}[:{bound}]" if rows.lower is not None else f"{name}[{bound}:]"


_HOLD_OUT = frozenset({"evaluate", "predict"})
_HARMLESS = frozenset({"fit", "evaluate", "predict", "summary", "save"})
"""Methods of a model that do not reset its weights."""


@CAUSE.in_source
@mentions("Fold", "ShuffleSplit")
def from_folds(module: Module) -> Iterator[Finding]:
    """Report a model that keeps its weights from one fold of a cross-validation to the next."""
    for site in module.method_calls("fit"):
        loop = next((one for one in loops_around(module, site.node) if _folds(module, one)), None)
        if loop is None or not is_keras_model(module, site.receiver):
            continue
        model = module.segment(site.receiver)
        parts = (each for each in ast.walk(loop) if isinstance(each, (ast.Name, ast.Attribute)))
        called = {_method_called(module, each) for each in parts if module.segment(each) == model}
        tests = site.argument("validation_data") is not None or not _HOLD_OUT.isdisjoint(called)
        if not tests or not called <= _HARMLESS:
            continue
        bound = last_assignment(module, site.receiver) if isinstance(site.receiver, ast.Name) else None
        yield CAUSE.finding(
            f"`{model}` keeps its weights from fold to fold: it is tested on rows that it was trained on",
            module.location(module.statement(bound[0].target if bound is not None else site.node)),
            Evidence(
                "trained in every fold",
                module.segment(site.node),
                "a new model",
                location=module.location(site.node),
            ),
            unsafe("build the model in the loop", _into_loop(module, loop, model)),
            subject=f"model {model}",
            confidence=Confidence.LIKELY,
        )


def _folds(module: Module, loop: ast.For | ast.While) -> bool:
    """Whether a loop runs over the folds that an object of scikit-learn makes."""
    for call in ast.walk(loop.iter) if isinstance(loop, ast.For) else ():
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "split":
            splitter = module.origin(call.func.value)
            if splitter.module.called(splitter.node).startswith("sklearn.model_selection."):
                return True
    return False


def _method_called(module: Module, model: ast.Name | ast.Attribute) -> str:
    """Return which method is called on a model; "" for any other use."""
    method = module.parent(model)
    if not isinstance(method, ast.Attribute):
        return ""
    call = module.parent(method)
    return method.attr if isinstance(call, ast.Call) and call.func is method else ""


def _into_loop(module: Module, loop: ast.For | ast.While, name: str) -> tuple[Edit, ...]:
    """Move the statements that make a model from the block before a loop into it."""
    block = module.block(loop)
    before = [each for each in block[: block.index(loop)] if name in names_read(each) | bound_in(each)]
    simple = all(isinstance(each, (ast.Assign, ast.Expr)) and bound_in(each) <= {name} for each in before)
    if not before or not simple or name not in bound_in(before[0]):
        return ()
    moved = f"\n{indent_of(module, loop.body[0])}".join(with_comment(module, each) for each in before)
    return (
        *insert_before(module.code(loop.body[0]), moved),
        *(delete_lines(module, each) for each in before),
    )


@CAUSE.in_source
@mentions("validation_data")
def from_arguments(fit: FitFacts, training: DataFacts, validation: DataFacts) -> Iterator[Finding]:
    """Report a call that passes its training arrays as `validation_data`."""
    if "dataset" in (training.form, validation.form):
        return
    ours, theirs = (*training.x, *training.y), (*validation.x, *validation.y)
    texts = [_repeatable_text(array) for array in ours]
    if not training.x or "" in texts or texts != [_repeatable_text(array) for array in theirs]:
        return
    few = isinstance(training.samples, int) and training.samples < _FEW
    if few or any(_is_generated(array) for array in ours) or _says_overfit(fit):
        return
    yield CAUSE.certain(
        "`validation_data` is the training data itself",
        place(theirs[0].use, fit.code),
        Evidence(
            "validation inputs",
            texts[0],
            "rows that the model is not trained on",
            fact="data.x",
            location=place(validation.x[0].code),
        ),
        _split_off(fit),
        fix("pass rows that are not in the training data"),
        subject="argument validation_data of fit",
    )


def _split_off(fit_call: FitFacts) -> Fix:
    """Replace `validation_data` by `validation_split`, or leave it to the one that is there."""
    if "validation_split" in fit_call.given:
        edits = remove_argument(fit_call.code, "validation_data")
        return unsafe("remove `validation_data`: Keras ignores `validation_split` beside it", edits)
    given = fit_call.code.argument("validation_data") if isinstance(fit_call.code, Code) else None
    split = (Edit(given.whole, "validation_split=0.2"),) if given is not None else ()
    return unsafe("validate on the last 20% of the rows, without training on them", split)


_FEW = 50
_NOT_REPEATABLE = frozenset("(*")
"""A call may return other rows each time."""
_GENERATED = re.compile(
    r"\b(?:random|rng|linspace|arange|zeros|ones|make_(?:blobs|moons|circles|classification|regression))\b"
)
_ON_PURPOSE = re.compile(r"(?i)overfit|memori[sz]e|sanity|smoke")


def _repeatable_text(array: ArrayFacts) -> str:
    """Return the expression of an array if it gives the same rows each time it is evaluated, else ""."""
    use = array.use
    return "" if isinstance(use, Unknown) or _NOT_REPEATABLE & set(use.text) else use.text


def _is_generated(array: ArrayFacts) -> bool:
    """Whether the program makes up the rows: nothing can be learned about new ones."""
    code = array.code
    return isinstance(code, Code) and _GENERATED.search(code.text) is not None


def _says_overfit(fit_call: FitFacts) -> bool:
    code = fit_call.code
    return isinstance(code, Code) and _ON_PURPOSE.search(f"{code.function} {code.text}") is not None


def _line(
    fit_call: FitFacts, training: DataFacts, validation: DataFacts, project: Project
) -> Location | None:
    """Return the line of the split if both parts come from it, else the data passed to fit."""
    if not training.x or not validation.x:
        return place(fit_call.code)
    ours, theirs = training.x[0], validation.x[0]
    if _repeatable_text(ours) and _repeatable_text(ours) == _repeatable_text(theirs):
        return place(theirs.use)
    one, other = binding_line(project, ours.use), binding_line(project, theirs.use)
    if one is not None and one == other:
        return one
    if training.samples == validation.samples:
        return place(theirs.use, fit_call.code)
    return place(ours.use, fit_call.code)
