"""Turns the statistics into facts and finds the causes they show, for all of the data instead of a sample."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from fitdoctor.collect.codes import Codes
from fitdoctor.collect.statistics import from_tally
from fitdoctor.collect.tally import Place, Tally, merged
from fitdoctor.diagnose import examine_call
from fitdoctor.diagnosis import Applicability, Diagnosis, Finding, Moment
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import (
    ArrayFacts,
    Column,
    DataFacts,
    FailureSummary,
    FitFacts,
    LossFacts,
    ModelFacts,
    PipelineStep,
    Shape,
    Spec,
    Statistics,
    Unknown,
)
from fitdoctor.facts.data import part_path
from fitdoctor.scan.outcome import Scanned, column_name
from fitdoctor.scan.pieces import Component, Source
from fitdoctor.scan.table_source import TableSource

CAUSES = ("FIT110", "FIT114", "FIT206", "FIT003", "FIT203", "FIT113", "FIT115", "FIT207", "FIT208", "FIT705")
"""The causes that the values show; the others are about the program."""
NO_BATCH = FailureSummary("ValueError", "the generator must yield at least one batch")
NOT_COMPARED = Unknown("training and validation were not compared")
NO_MODEL = Unknown("no model was given")


def judged(
    scans: list[Scanned],
    model: Any = None,
    classes: int | None = None,
    shared_rows: int | Unknown = NOT_COMPARED,
    codes: Codes | None = None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    declared: str = "",
) -> Diagnosis:
    """Return the diagnosis of the statistics.

    Args:
        scans: the training data and, if there is any, the validation data.
        model: the model that the data is for.
        classes: without a model: the number of classes.
        shared_rows: validation rows that are also in the training data.
        codes: knows where the data is defined.
        select: ids of the causes to check; by default, all that values can show.
        ignore: ids of causes to skip.
        declared: how the user set `classes`, for messages.
    """
    places = codes or Codes()
    data = tuple(data_facts(one, places, shared_rows) for one in scans)
    facts = _model_facts(model, classes, declared, places)
    fit = FitFacts(
        method="scan" if isinstance(facts, Unknown) else "fit",
        has_validation=len(scans) > 1,
        given=("x", "y", "validation_data") if len(scans) > 1 else ("x", "y"),
    )
    found = examine_call(SeenCall(facts, fit, data), select=CAUSES, ignore=tuple(ignore))
    kept = [_to_read(one) for one in found.findings if not select or _is_selected(one, select)]
    return replace(found, findings=tuple(kept))


def _is_selected(finding: Finding, select: Collection[str]) -> bool:
    return any(finding.id.startswith(word.upper()) or finding.slug == word.lower() for word in select)


def _to_read(finding: Finding) -> Finding:
    """Return the finding without edits, which are made for the source of a `fit` call."""
    fixes = tuple(replace(fix, edits=(), applicability=Applicability.DISPLAY) for fix in finding.fixes)
    return replace(finding, fixes=fixes, moment=Moment.IN_DATA)


def _model_facts(model: Any, classes: int | None, declared: str, codes: Codes) -> ModelFacts | Unknown:
    if model is not None:
        from fitdoctor.collect.model import collect_model

        return collect_model(model, codes)
    if classes is None:
        return NO_MODEL
    # Labels are checked against the declared number of classes as they are against the units of a model.
    return ModelFacts(
        declared=declared or f"`classes={classes}`",
        outputs=(Spec((None, classes), "float32"),),
        losses=(LossFacts("sparse_categorical_crossentropy"),),
        output_names=("classes",),
    )


# --- facts --------------------------------------------------------------------------------------------------------


def data_facts(scanned: Scanned, codes: Codes, shared_rows: int | Unknown) -> DataFacts:
    """Return the facts of one source."""
    source, counted, role = scanned.source, scanned.counted, scanned.role
    rows = max((tally.rows for tally in counted.tallies), default=counted.rows)
    found: dict[str, Any] = {}
    for part in ("x", "y", "sample_weight"):
        pairs = [
            (component, tally)
            for component, tally in zip(source.components, counted.tallies, strict=True)
            if component.part == part
        ]
        found[part] = _arrays(pairs, part, scanned, codes)
    elements = getattr(source, "elements", None)
    empty = elements == 0 and counted.complete
    return DataFacts(
        role=role,
        form=source.form,
        **found,
        x_structure="dict" if any(one.key and not one.key.isdigit() for one in found["x"]) else "single",
        y_structure=_structure(found["y"]),
        # Of a pipeline that gives nothing it is not known whether its source has samples.
        samples=Unknown("the data yielded no element")
        if empty or not rows and not counted.complete
        else rows,
        batches=elements if elements is not None and counted.complete else Unknown("not counted"),
        endless=False,
        shared_rows=shared_rows if role == "validation" else Unknown("it is the training data"),
        pipeline=_pipeline(source, codes, role),
        problem=NO_BATCH if empty and source.form == "generator" else None,
        code=codes.of_argument("x" if role == "training" else "validation_data")[0],
    )


def _pipeline(source: Source, codes: Codes, role: str) -> tuple[PipelineStep, ...]:
    dataset = getattr(source, "dataset", None)
    if dataset is None:
        return ()
    from fitdoctor.collect.pipelines import pipeline_of

    return pipeline_of(dataset, codes, "x" if role == "training" else "validation_data")


def _structure(arrays: tuple[ArrayFacts, ...]) -> str:
    if not arrays:
        return "none"
    return "single" if len(arrays) == 1 else "dict"


def _arrays(
    pairs: list[tuple[Component, Tally]], part: str, scanned: Scanned, codes: Codes
) -> tuple[ArrayFacts, ...]:
    """Return one array per component; the columns of a table form one array, as `fit` receives them."""
    if part == "x" and isinstance(scanned.source, TableSource) and len(pairs) > 1:
        return (_table(pairs, scanned, codes),)
    return tuple(_array(component, tally, scanned, codes) for component, tally in pairs)


def _array(component: Component, tally: Tally, scanned: Scanned, codes: Codes) -> ArrayFacts:
    path = _path(component, scanned.role)
    code, use = codes.of_argument(path)
    first = tally.first_nonfinite
    counts = tally.columns.nonfinite if tally.columns is not None else {}
    columns = [Column(column_name(component, i), _dtype(tally), "", n) for i, n in sorted(counts.items())]
    if first is not None and len(first.index) == 1:
        # The cause names the first column that it finds.
        name = column_name(component, first.index[0])
        columns.sort(key=lambda column: column.name != name)
    return ArrayFacts(
        path=path,
        key=component.key,
        container=component.container,
        shape=_shape(tally, scanned),
        dtype=_dtype(tally),
        statistics=_statistics(tally, scanned.counted.complete),
        columns=tuple(columns[:256]),
        code=code,
        use=use,
    )


def _path(component: Component, role: str) -> str:
    """Return the name that `fit` would use: `validation_data[0]` for the `x` of the validation data."""
    if role == "training" or not component.path.startswith(component.part):
        return component.path
    return part_path(role, component.part) + component.path.removeprefix(component.part)


def _table(pairs: list[tuple[Component, Tally]], scanned: Scanned, codes: Codes) -> ArrayFacts:
    path = part_path(scanned.role, "x")
    code, use = codes.of_argument(path)
    firsts = [
        (tally.first_nonfinite.row, index)
        for index, (_component, tally) in enumerate(pairs)
        if tally.first_nonfinite is not None
    ]
    columns = [
        Column(component.key or component.path, _dtype(tally), "", tally.nan + tally.inf)
        for component, tally in pairs
    ]
    place = None
    if firsts:
        row, index = min(firsts)
        place = Place(row, (index,))
        columns.sort(key=lambda column, name=columns[index].name: column.name != name)  # type: ignore[misc]
    numbers = [tally for _component, tally in pairs if tally.finite or tally.nan or tally.inf]
    whole = functools.reduce(merged, numbers, Tally())
    whole.first_nonfinite = place
    whole.rows = max(tally.rows for _component, tally in pairs)
    return ArrayFacts(
        path=path,
        container="pandas.DataFrame",
        shape=(whole.rows, len(pairs)),
        dtype="float64" if len(numbers) == len(pairs) else "object",
        statistics=_statistics(whole, scanned.counted.complete),
        columns=tuple(column for column in columns if column.nonfinite)[:256],
        code=code,
        use=use,
    )


def _shape(tally: Tally, scanned: Scanned) -> Shape | Unknown:
    # The sample axis comes first, also where each element is one sample.
    samples: Shape = (None,) if getattr(scanned.source, "batched", True) is False else ()
    shapes = [shape for shape in tally.shapes if isinstance(shape, tuple)]
    if not shapes and isinstance(scanned.source, TableSource):
        return (tally.rows,)
    if not shapes:
        return Unknown("no element was seen")
    if len({len(shape) for shape in shapes}) > 1:
        return Unknown("the elements differ in rank")
    sizes = (tuple(axis) for axis in zip(*shapes, strict=True))
    return (*samples, *(axis[0] if len(set(axis)) == 1 else None for axis in sizes))


def _dtype(tally: Tally) -> str:
    return next((str(dtype) for dtype in tally.dtypes), "float64")


def _statistics(tally: Tally, complete: bool) -> Statistics | Unknown:
    if not tally.finite and not tally.nan and not tally.inf:
        return Unknown("it contains no numbers")
    return from_tally(tally, complete)
