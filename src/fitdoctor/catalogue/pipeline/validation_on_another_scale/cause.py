"""Training and validation data on different scales.

## What happens

Nothing fails. The model learns from values between 0 and 1 and is validated on values up to 255, or vice versa.
`val_loss` is huge or stays at 0, and says nothing about the model, but early stopping and the choice of the best
checkpoint depend on it.

## Why

The training data was divided, standardized or otherwise scaled, but the validation data was not. Or the targets were
scaled for training only. Or the scaler was fitted a second time, on the test data: `scaler.fit_transform(x_test)` scales
by the mean and deviation of the test data, so equal values mean different things in training and evaluation.

## Fix

Prepare both with the same code: the same divisor, or the scaler fitted to the training data. Call `fit_transform` on the
training data and `transform` on everything else.

## Known limits

In data, reported only if the mean of one is more than 10 times as large as any value of the other. In source, a second
`fit_transform` is reported only for scikit-learn's scalers and for arguments that are named after the test or validation
data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.pipeline.generator_sources import expression_of
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, rework, unsafe
from fitdoctor.facts import ArrayFacts, DataFacts, FitFacts, ModelFacts, Statistics, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT717", slug="validation-on-another-scale", severity=Severity.WARNING)

_FAR = 10
_ROWS = 8
"""The minimum number of rows for a meaningful mean."""


_SCALERS = frozenset(
    f"sklearn.{name}"
    for name in (
        *("preprocessing.StandardScaler", "preprocessing.MinMaxScaler", "preprocessing.RobustScaler"),
        *(
            "preprocessing.MaxAbsScaler",
            "preprocessing.PowerTransformer",
            "preprocessing.QuantileTransformer",
        ),
        *("decomposition.PCA", "decomposition.TruncatedSVD"),
    )
)
_HELD_OUT = pattern(
    r"(?i)(?:^|[^a-z])(?:test|val|valid|validation|holdout|dev)(?:$|[^a-z])|[a-z]_?(?:Test|Val|Valid)$"
)
_TRAINING = pattern(r"(?i)train")


@CAUSE.in_source
@mentions("fit_transform")
def from_source(module: Module) -> Iterator[Finding]:
    """Report a scaler that is fitted to the training data and fitted again to the test data."""
    if not ("keras" in module.text or "tensorflow" in module.text):
        return
    fitted: dict[ast.AST, str] = {}
    for site in module.method_calls("fit_transform", "fit"):
        function = site.node.func
        if not isinstance(function, ast.Attribute) or not site.node.args:
            continue
        scaler = module.made_by(function.value)
        if not isinstance(scaler, ast.Call) or module.resolve(scaler.func) not in _SCALERS:
            continue
        given = module.segment(site.node.args[0])
        before = fitted.setdefault(scaler, given)
        if _HELD_OUT.search(given) and _TRAINING.search(before) and not _TRAINING.search(given):
            yield _fitted_again(module, function, site.node, given, before)


def _fitted_again(
    module: Module, function: ast.Attribute, call: ast.Call, given: str, before: str
) -> Finding:
    edits: tuple[Edit, ...] = ()
    if function.attr == "fit_transform":
        end = module.location(function)
        name = replace(end, line=end.end_line, column=end.end_column - len("fit_transform"))
        edits = (Edit(name, "transform"),)
    owner = module.segment(function.value)
    return CAUSE.finding(
        f"`{owner}` is fitted again to `{given}`, so the test data is on a different scale than the training data",
        subject=f"scaler {owner}",
        location=module.location(call),
        evidence=[
            Evidence(claim="data that the scaler is fitted to", observed=given, expected=f"`{before}` only")
        ],
        fixes=[unsafe(f"scale the test data like the training data: `{owner}.transform({given})`", edits)],
        confidence=Confidence.LIKELY,
    )


@CAUSE.before_fit
def from_data(
    model: ModelFacts, fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """Report numeric data if the mean of one is far beyond every value of the other."""
    if (training.role, validation.role) != ("training", "validation") or fit.method != "fit":
        return
    if {"train_step", "test_step"} & set(model.overrides):
        return  # a custom step may scale the data
    for ours, theirs in ((training.x, validation.x), (training.y, validation.y)):
        if len(ours) != len(theirs):
            continue
        for one, other in zip(ours, theirs, strict=True):
            if _is_far(one, other) or _is_far(other, one):
                yield _finding(one, other, project)
                return


def _is_far(near: ArrayFacts, far: ArrayFacts) -> bool:
    """Return whether the mean of one is many times as large as any value of the other."""
    small, large = near.statistics, far.statistics
    if isinstance(small, Unknown) or isinstance(large, Unknown) or min(small.count, large.count) < _ROWS:
        return False
    if small.minimum is None or small.maximum is None or large.mean is None:
        return False
    return abs(large.mean) > _FAR * max(abs(small.minimum), abs(small.maximum)) > 0


def _finding(ours: ArrayFacts, theirs: ArrayFacts, project: Project | Unknown) -> Finding:
    return CAUSE.finding(
        f"`{theirs.path}` ranges from {_span(theirs)}, but the training data ranges from {_span(ours)}",
        subject="argument validation_data of fit",
        location=place(theirs.code, theirs.use),
        evidence=[
            Evidence(
                claim=f"values of `{theirs.path}`",
                observed=_range(theirs),
                expected=_range(ours),
                fact="data.x.statistics",
                location=place(ours.code, ours.use),
            )
        ],
        fixes=[_remedy(ours, theirs, project)],
        confidence=Confidence.LIKELY,
    )


def _span(array: ArrayFacts) -> str:
    return _range(array).replace("..", " to ")


def _range(array: ArrayFacts) -> str:
    assert isinstance(array.statistics, Statistics)
    return f"{array.statistics.minimum:.4g}..{array.statistics.maximum:.4g}"


def _remedy(ours: ArrayFacts, theirs: ArrayFacts, project: Project | Unknown) -> Fix:
    """Apply the division of the training data to the validation data too."""
    divisor = _divisor(ours, project) if _is_far(ours, theirs) else ""
    edits: tuple[Edit, ...] = rework(theirs.code, theirs.use, f"{{}} / {divisor}") if divisor else ()
    if edits:
        return unsafe(f"divide the validation data by {divisor}, like the training data", edits)
    return fix("prepare training and validation data with the same code")


def _divisor(array: ArrayFacts, project: Project | Unknown) -> str:
    found = expression_of(project, array.use)
    if found is None:
        return ""
    module, node = found
    made = module.origin(node).node
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Div) and isinstance(made.right, ast.Constant):
        return module.segment(made.right)
    return ""
