"""NaN or infinite values in the features.

## What happens

Nothing raises. With most activations the loss is `nan` from the first epoch on. With relu on the usual CPU build it
is not: relu(NaN) is 0 there, so the loss stays finite although the first kernel has become NaN. The model then
returns the same prediction for every sample forever, and `TerminateOnNaN` does not notice.

## Why

Missing values in a table, the logarithm of 0, a division by a standard deviation of 0, or rows that `shift` or
`rolling` left empty. Scalers pass NaN through.

## Fix

Drop the rows or fill the values, and guard the operation that produces them (`np.log1p`, `std + 1e-7`).

## Known limits

Generators and long pipelines are read only as far as this has no side effects. A model whose own layers or `call`
handle NaN is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.data_places import part_words, rework_data, reworked
from fitdoctor.catalogue.knowledge.data.frame_edits import with_whole_rows
from fitdoctor.catalogue.knowledge.data.logarithms import of_one_more
from fitdoctor.catalogue.knowledge.data.value_changes import last_decided, maker_of_nonfinite
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, spell, unsafe
from fitdoctor.facts import ArrayFacts, DataFacts, FitFacts, ModelFacts, Statistics, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT110", slug="non-finite-input", severity=Severity.WARNING, aspect="non-finite")

_GUARDS = ("is_nan", "isnan", "nan_to_num", "is_finite", "isfinite", "isinf", "is_inf", "multiply_no_nan")


@CAUSE.before_fit
def from_data(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report NaN or infinite values in x that no custom code handles."""
    if not _is_judged(model, fit, project):
        return
    for array in data.x:
        statistics = array.statistics
        if isinstance(statistics, Statistics) and (statistics.nan or statistics.inf):
            yield _finding(array, statistics, data, model, project, fit)


def _is_judged(model: ModelFacts | Unknown, fit: FitFacts, project: Project) -> bool:
    if isinstance(model, Unknown):
        return fit.method == "scan"
    return fit.method in ("fit", "train_on_batch") and not _is_dealt_with(model, project)


def _is_dealt_with(model: ModelFacts, project: Project) -> bool:
    """Whether code of the user's, which may deal with NaN, comes before the first weights."""
    if "train_step" in model.overrides or model.kind == "subclassed":
        return not project or _mentions_guard(project)
    known = {layer.name for layer in model.layers} | set(model.input_layers)
    for layer in model.layers:
        # `keras.ops` on symbolic tensors are not layers: they appear only as inputs of the next layer.
        own = not layer.builtin or layer.class_name == "Lambda" or not known.issuperset(layer.fed_by)
        if own:
            return not project or _mentions_guard(project)
        if layer.parameters:
            return False
    return False


def _mentions_guard(project: Project) -> bool:
    return any(word in module.text for module in project.modules for word in _GUARDS)


def _finding(
    array: ArrayFacts,
    statistics: Statistics,
    data: DataFacts,
    model: ModelFacts | Unknown,
    project: Project,
    fit_call: FitFacts,
) -> Finding:
    one = statistics.nan + statistics.inf == 1
    counts = [f"{statistics.nan:,} NaN"] * bool(statistics.nan) + [f"{statistics.inf:,} infinite"] * bool(
        statistics.inf
    )
    step = maker_of_nonfinite(project, data, array, statistics)
    validation = data.role == "validation"
    own = validation or isinstance(model, Unknown) or _is_own(model)
    return CAUSE.finding(
        f"`{array.path}` contains {' and '.join(counts)} value{'s' * (not one)}{_where(array, statistics)}"
        + ("" if validation else f": {'it turns' if one else 'they turn'} the weights into NaN"),
        place(step.location if step else None, last_decided(project, array), array.use),
        Evidence(
            f"values of `{array.path}`",
            " and ".join(counts),
            "finite numbers",
            fact="data.x.statistics",
            location=place(array.code, array.use),
        ),
        *_columns(array),
        *_fixes(
            array, statistics, data, project, Unknown("it is the validation data") if validation else fit_call
        ),
        subject=part_words(array, data) if not validation else "validation features",
        notes=["with relu the loss may stay finite; even so, every prediction is identical"],
        confidence=Confidence.LIKELY if own else Confidence.CERTAIN,
    )


def _is_own(model: ModelFacts) -> bool:
    return model.kind == "subclassed" or not all(layer.builtin for layer in model.layers)


def _where(array: ArrayFacts, statistics: Statistics) -> str:
    first = statistics.first_nonfinite
    columns = [column for column in array.columns if column.nonfinite]
    if first is None:
        return f" in column `{columns[0].name}`" if len(columns) == 1 and columns[0].name else ""
    only = statistics.nan + statistics.inf == 1
    row = f" in row {first[0]:,}" if only else f", the first in row {first[0]:,}"
    if len(first) == 2:
        named = next((column.name for column in columns if not column.name.isdigit()), None)
        return f"{row}, column " + (f"`{named}`" if named else str(first[1]))
    return row


def _columns(array: ArrayFacts) -> Iterator[Evidence]:
    for column in [one for one in array.columns if one.nonfinite][:5]:
        yield Evidence(
            f"column `{column.name}`", f"{column.nonfinite:,} NaN or infinite", "0", "data.columns"
        )


_BY_HAND = fix("drop the rows, fill the values, or guard the operation that produces them")
_FEW = 0.2
"""Up to this fraction of rows, dropping is offered before filling."""


def _fixes(
    array: ArrayFacts,
    statistics: Statistics,
    data: DataFacts,
    project: Project,
    fit_call: FitFacts | Unknown,
) -> list[Fix]:
    dropped, filled = _dropped(array, statistics, data, project), _filled(array, fit_call)
    rows = array.shape[0] if isinstance(array.shape, tuple) and array.shape else None
    few = rows is not None and statistics.nan + statistics.inf <= _FEW * rows
    found = [*dropped, *filled] if few else [*filled, *dropped]
    return [*_guarded(array, statistics, data, project), *found, _BY_HAND]


def _guarded(array: ArrayFacts, statistics: Statistics, data: DataFacts, project: Project) -> Iterator[Fix]:
    """Yield fixes for a logarithm of 0 or a division by 0, such as by the deviation of a constant column."""
    step = maker_of_nonfinite(project, data, array, statistics)
    yield from of_one_more(step, statistics, labels=False)
    node = step.node if step is not None else None
    if step is None or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return
    divisor = step.module.segment(node.right)
    if isinstance(node.right, (ast.Name, ast.Attribute)) and array.container != "pandas.DataFrame":
        numpy, imports = spell(step.code, "numpy", "np")
        guarded = f"{numpy}.where({divisor} == 0, 1, {divisor})"
        edit = Edit(step.module.location(node.right), guarded)
        yield unsafe(f"divide by 1 where `{divisor}` is 0", (edit,), imports)


def _dropped(array: ArrayFacts, statistics: Statistics, data: DataFacts, project: Project) -> Iterator[Fix]:
    """Yield a fix that drops the rows from the table that features and labels come from."""
    step = maker_of_nonfinite(project, data, array, statistics)
    made = step.location if step else None
    edits = with_whole_rows(project, data, bool(statistics.inf), made=made) if array in data.x else ()
    if edits:
        yield unsafe("drop the rows with missing values from the table before selecting columns", edits)


def _filled(array: ArrayFacts, fit_call: FitFacts | Unknown) -> Iterator[Fix]:
    if array.container == "numpy.ndarray":
        numpy, imports = spell(reworked(array), "numpy", "np")
        filled = f"{numpy}.nan_to_num({{}}, posinf=0.0, neginf=0.0)"
        yield unsafe("replace them with 0", rework_data(array, fit_call, filled), imports)
    elif array.container == "pandas.DataFrame":
        yield unsafe("replace them with 0", rework_data(array, fit_call, "{}.fillna(0)"))
