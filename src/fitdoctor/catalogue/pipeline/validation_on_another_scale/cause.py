"""Training and validation or test data prepared differently.

## What happens

Nothing fails. The model learns from values between 0 and 1 and is validated on values up to 255, or vice versa.
`val_loss` is huge or stays at 0, and says nothing about the model, but early stopping and the choice of the best
checkpoint depend on it. The same happens to `evaluate` and `predict` if the test data was left as it was loaded.

## Why

The training data was divided, standardized or otherwise scaled, but the validation data was not. Or the targets were
scaled for training only. Or what prepares the data was fitted a second time, to the test data:
`scaler.fit_transform(x_test)` scales by the mean and deviation of the test data, and a `LabelEncoder`, `Tokenizer` or
`CountVectorizer` that is fitted again gives the same number to another class or word. A helper that creates and fits one
each time it is called does the same, and so does a loader that numbers the classes it finds in its folder.

## Fix

Prepare both with the same code: the same divisor, or the scaler fitted to the training data. Call `fit_transform` on the
training data and `transform` on everything else. `transform` returns the scaled data and leaves its argument as it is:
assign the result.

## Known limits

In data, a second fit is reported only if every column of both has exactly the mean and deviation, or the range, that a
scaler gives to the data it is fitted to. Other differences are reported only if the mean of one is more than 10 times as
large as any value of the other, or more than twice as large if it contains only integers and the other fractions. In
source, a second fit is reported if the data of both can be followed from there to `fit`, `evaluate` or `predict`, and
otherwise only for scikit-learn's scalers and for arguments that are named after the test or validation data. Labels that
were split from one array at random have the same classes in both parts, so encoding each part by itself is not reported.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import chain

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import expression_of
from fitdoctor.catalogue.knowledge.data.pipeline_steps import (
    BATCHING,
    coded,
    receiver_end,
    step_place,
    with_step_after,
    with_step_before,
    without_step,
)
from fitdoctor.catalogue.pipeline.validation_edits import changes_data, same_preparation, steps_repeated
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, replace_code, unsafe
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, ModelFacts, RowEvent, Statistics, Unknown
from fitdoctor.records import dataclass, replace
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT717", slug="validation-on-another-scale", severity=Severity.WARNING, aspect="own-scale")

_FAR = 10
_RAW = 4
"""How many times larger integers must be than fractions to be the same data before it was scaled."""
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
_HELD_OUT = re.compile(
    r"(?i)(?:^|[^a-z])(?:test|val|valid|validation|holdout|dev)(?:$|[^a-z])|[a-z]_?(?:Test|Val|Valid)$"
)
_TRAINING = re.compile(r"(?i)train")


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
        held_out = _HELD_OUT.search(given) and _TRAINING.search(before) and not _TRAINING.search(given)
        if held_out and _scales_afterwards(module, site.node, scaler):
            yield _fitted_again(module, function, site.node, given, before)


def _scales_afterwards(module: Module, call: ast.Call, scaler: ast.Call) -> bool:
    """Whether data is scaled by the second fit: some fit again only to undo the scale of predictions."""
    fits_only = isinstance(module.parent(call), ast.Expr)
    return not fits_only or any(
        each.node.lineno > call.lineno and module.made_by(each.receiver) is scaler
        for each in module.method_calls("transform")
    )


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
        module.location(call),
        Evidence("data that the scaler is fitted to", given, f"`{before}` only"),
        unsafe(f"scale the test data like the training data: `{owner}.transform({given})`", edits),
        subject=f"second fit of `{owner}`",
    )


@CAUSE.in_source
@mentions("evaluate", "predict", "validation_data")
def from_parts(module: Module) -> Iterator[Finding]:
    """Report a part of a split that reaches the model as it is, after another part was scaled for training."""
    for split in module.nodes(ast.Assign):
        names = [each for target in split.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        if len(names) < 2 or not isinstance(split.value, ast.Call):
            continue
        block = module.block(split)
        later = block[block.index(split) + 1 :]
        for part in names:
            steps = [each for each in later if changes_data(each, part.id)]
            scaled = next((each for each in steps if _scales(module, each, part.id)), None)
            trained = _trained_on(module, part, scaled) if scaled is not None else None
            if scaled is None or trained is None:
                continue
            for other in names:
                use = _used_as_it_is(module, other, trained, split) if other.id != part.id else None
                if use is not None:
                    yield _left_as_it_was(module, use, trained, scaled)


def _scales(module: Module, statement: ast.stmt, name: str) -> bool:
    """Whether a statement scales the named data: divides or subtracts, or fits and applies a scaler."""
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.op, (ast.Div, ast.Sub)) and not _is_random(statement.value)
    value = getattr(statement, "value", None)
    while isinstance(value, ast.Call) and getattr(value.func, "attr", "") in ("astype", "reshape"):
        value = value.func.value  # type: ignore[attr-defined]
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, (ast.Div, ast.Sub)) and not _is_random(value)
    if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "fit_transform":
        scaler = module.made_by(value.func.value)  # type: ignore[attr-defined]
        given = value.args[0] if value.args else None
        known = isinstance(scaler, ast.Call) and module.resolve(scaler.func) in _SCALERS
        return known and isinstance(given, ast.Name) and given.id == name
    return False


def _is_random(value: ast.expr) -> bool:
    return "rand" in ast.unparse(value) or "noise" in ast.unparse(value)


def _trained_on(module: Module, part: ast.Name, scaled: ast.stmt) -> ast.Name | None:
    """Return the use of a part as the features of a `fit` after it was scaled, unless a `fit` got it before."""
    uses = [
        given
        for site in module.method_calls("fit")
        if isinstance(given := site.argument("x", 0), ast.Name)
        and given.id == part.id
        and module.scope(given) is module.scope(part)
        and (len(site.node.args) > 1 or site.argument("y") is not None)
    ]
    return uses[0] if uses and all(use.lineno > scaled.lineno for use in uses) else None


def _used_as_it_is(module: Module, part: ast.Name, trained: ast.Name, split: ast.stmt) -> ast.Name | None:
    """Return where a part that nothing changes is passed to the model that was trained on another one."""
    scope = module.scope(part)
    stores = module.stores(scope, part.id)
    if len(stores) != 1 or module.in_place_writes.get((scope.node, part.id)):
        return None
    fit = module.around(trained, ast.Call)
    model = module.segment(fit.func.value) if fit is not None and isinstance(fit.func, ast.Attribute) else ""
    found = None
    for read in module.reads.get(part.id, ()):
        if module.scope(read) is not scope:
            return None
        call = module.around(read, ast.Call)
        function = call.func if call is not None else None
        own = isinstance(function, ast.Attribute) and module.segment(function.value) == model
        if own and _is_features(module, read, call) and found is None and read.lineno >= trained.lineno:
            found = read
        elif not own and read.lineno > split.lineno and _may_prepare(module, read, call):
            return None
    return found


def _is_features(module: Module, read: ast.Name, call: ast.Call | None) -> bool:
    """Whether a name is the features of `evaluate`, `predict` or the validation data of `fit`."""
    method = getattr(call.func, "attr", "") if call is not None else ""
    if call is None or method in ("evaluate", "predict"):
        return call is not None and (read in call.args[:1] or argument_of(call, "x") is read)
    given = argument_of(call, "validation_data")
    return method == "fit" and isinstance(given, ast.Tuple) and given.elts[0] is read


def _may_prepare(module: Module, read: ast.Name, call: ast.Call | None) -> bool:
    """Whether an expression may compute something new from the data, which the model gets instead."""
    parent = module.parent(read)
    if isinstance(parent, ast.Attribute) and parent.attr in ("shape", "dtype", "ndim"):
        return False
    statement = module.statement(read)
    return not (isinstance(statement, ast.Expr) and module.called(statement.value) == "print")


def _left_as_it_was(module: Module, use: ast.Name, trained: ast.Name, scaled: ast.stmt) -> Finding:
    repeated = steps_repeated((module, trained), (module, use))
    return CAUSE.finding(
        f"`{use.id}` is passed on as it is, but the model was trained on scaled data: line {scaled.lineno} scales "
        f"only `{trained.id}`",
        module.location(use),
        Evidence(f"`{trained.id}` is scaled", module.segment(scaled), location=module.location(scaled)),
        unsafe(repeated.title, repeated.edits) if repeated is not None else fix("scale both alike"),
        subject="test data",
    )


_REFITS = ("fit_transform", "fit_on_texts", ".fit(")


@CAUSE.in_source
@mentions(*_REFITS)
def from_fits_of_validation(
    training: DataFacts, validation: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report validation data that was prepared by an encoder fitted to it."""
    if (training.role, validation.role) == ("training", "validation"):
        yield from _fitted_apart(training, validation, project)


@CAUSE.in_source
@mentions(*_REFITS)
def from_fits_of_test(fit_call: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report the same of data that is passed to `evaluate` or `predict` after training."""
    found = [list(_fitted_apart(each, data, project)) for each in fit_call.trained_on]
    if all(found):  # a model may be trained again, with an encoder fitted to the new training data
        yield from chain.from_iterable(found[-1:])


def _fitted_apart(training: DataFacts, other: DataFacts, project: Project) -> Iterator[Finding]:
    for ours, theirs, labels in ((training.x, other.x, False), (training.y, other.y, True)):
        for one, second in zip(ours, theirs, strict=False):
            before, again = _fits(one), _fits(second)
            for name in before.keys() & again.keys():
                separate = before[name].keys().isdisjoint(again[name].keys())
                if separate and not (labels and _same_classes(one, second)):
                    last, first = list(again[name].values())[-1], next(iter(before[name].values()))
                    yield _prepared_apart(second, name, last, first, project)


def _prepared_apart(
    array: ArrayFacts, name: str, again: RowEvent, before: RowEvent, project: Project
) -> Finding:
    code, first = again.code, place(before.code)
    end = receiver_end(code) if isinstance(code, Code) else None
    owner = code.text[:end] if isinstance(code, Code) and end else name
    where = f" of line {first.line}" if first is not None else ""
    edits = _transformed(project, again.code, before.code)
    unless = ", unless both have the same categories" if name.endswith(_OF_CATEGORIES) else ""
    return CAUSE.finding(
        f"`{_name(array)}` is prepared by a `{name}` that was fitted again, not by the one of the training data: equal "
        f"values mean different things in the two{unless}",
        place(again.code, array.use),
        Evidence("fits", "one per part of the data", "one, to the training data", location=first),
        unsafe(f"use the fit{where}: `{edits[0].replacement}`", edits)
        if edits
        else fix("fit it once, to the training data, and call only its `transform` for everything else"),
        subject=f"second fit of `{owner}`",
        severity=Severity.INFO if name.endswith(_WIDE) else None,
    )


_WIDE = ("OneHotEncoder", "LabelBinarizer")
"""Encoders whose width shows a missing category: the model rejects the data."""
_OF_CATEGORIES = (*_WIDE, "LabelEncoder", "OrdinalEncoder")


def _of_first(
    before: tuple[Module, ast.expr] | None, again: tuple[Module, ast.expr] | None, code: Code
) -> tuple[Edit, ...]:
    """Write `scaler.transform(x)` for `StandardScaler().fit_transform(x)`."""
    if before is None or again is None or before[0] is not again[0]:
        return ()
    module, first, second = before[0], before[1], again[1]
    if not (isinstance(first, ast.Call) and isinstance(second, ast.Call)):
        return ()
    known, fresh = getattr(first.func, "value", None), getattr(second.func, "value", None)
    if not isinstance(known, ast.Name) or not isinstance(fresh, ast.Call):
        return ()
    made = module.made_by(known)
    kind = module.resolve(made.func) if isinstance(made, ast.Call) else ""
    if getattr(second.func, "attr", "") != "fit_transform" or not kind or kind != module.resolve(fresh.func):
        return ()
    scope = module.index.lookup(known.id, module.scope(second))
    if scope is None or scope is not module.index.lookup(known.id, module.scope(first)):
        return ()
    given = ", ".join(module.segment(each) for each in (*second.args, *second.keywords))
    return replace_code(code, f"{known.id}.transform({given})")


def _transformed(project: Project, again: Code | Unknown, before: Code | Unknown) -> tuple[Edit, ...]:
    """Write `transform` of the same object for the second `fit_transform`; the second object may have no name."""
    calls = [expression_of(project, code) for code in (before, again)]
    made = [
        module.made_by(node.func.value)
        for module, node in filter(None, calls)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    if isinstance(again, Unknown) or len(made) < 2:
        return ()
    if made[0] is not made[1]:
        return _of_first(calls[0], calls[1], again)
    if calls[0] == calls[1] or ".fit_transform(" not in again.text:
        return ()
    return replace_code(again, again.text.replace(".fit_transform(", ".transform(", 1))


def _same_classes(one: ArrayFacts, other: ArrayFacts) -> bool:
    """Whether labels have the same classes, so that both encoders number them alike: parts of one split do."""
    sides = (one.statistics, other.statistics)
    if not any(isinstance(side, Unknown) or side.maximum is None for side in sides):
        return len({side.maximum for side in sides if isinstance(side, Statistics)}) == 1
    split, again = ({event.mark for event in each.events("order")} for each in (one, other))
    return not split.isdisjoint(again)


def _fits(array: ArrayFacts) -> dict[str, dict[str, RowEvent]]:
    """Return the fits of the encoders that prepared an array, by class and by mark."""
    found: dict[str, dict[str, RowEvent]] = {}
    for event in array.events("fit"):
        found.setdefault(event.text, {})[event.mark] = event
    return found


@CAUSE.in_source
@CAUSE.before_fit
@mentions("validation_data")
def from_data(
    model: ModelFacts, fit: FitFacts, training: DataFacts, validation: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report numeric data if the mean of one is far beyond every value of the other."""
    if fit.method == "fit" and not _scales_in_its_step(model):
        if not validation.shared_rows and len(training.x) == len(validation.x):
            yield from _scaled_by_themselves(training.x, validation.x)
        yield from _far_apart(training, validation, project)


@CAUSE.in_source
@CAUSE.before_fit
@mentions("evaluate", "predict")
def from_test_data(
    model: ModelFacts, fit_call: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report the same of data that is passed to `evaluate` or `predict` after training."""
    if not _scales_in_its_step(model):
        found = [list(_far_apart(each, data, project)) for each in fit_call.trained_on]
        if all(found):
            yield from (replace(each, subject="test data") for each in chain.from_iterable(found[-1:]))


def _scales_in_its_step(model: ModelFacts) -> bool:
    """Whether a custom step may scale the data."""
    return bool({"train_step", "test_step", "predict_step"} & set(model.overrides))


def _far_apart(training: DataFacts, validation: DataFacts, project: Project) -> Iterator[Finding]:
    for ours, theirs in ((training.x, validation.x), (training.y, validation.y)):
        if len(ours) != len(theirs):
            continue
        for one, other in zip(ours, theirs, strict=True):
            if _is_far(one, other) or _is_far(other, one):
                found = _finding(one, other, _missing_maps(training, validation, project), project)
                lost = _discarded(project)
                twice = _mapped_twice(training, validation) or _mapped_twice(validation, training)
                if twice is not None:
                    found = _where_mapped_again(found, *twice)
                yield _where_discarded(found, *lost) if lost is not None else found
                return


@CAUSE.before_fit
def from_numbering(fit_call: FitFacts, validation: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a class that has another number in the validation data than in the training data."""
    apart = validation.numbering
    if apart is None or fit_call.method != "fit":
        return
    owner = project.class_named(apart.class_name) if project else None
    stores = owner.module.attribute_stores(owner.node).get(apart.attribute, []) if owner is not None else []
    stored = (
        owner.module.location(owner.module.statement(stores[0])) if owner is not None and stores else None
    )
    yield CAUSE.certain(
        f"`{apart.name}` is number {apart.validation} in the validation data, but number {apart.training} in the "
        "training data",
        place(stored, validation.code, fit_call.code),
        Evidence(
            f"`{apart.attribute}` of the `{apart.class_name}` for validation",
            f"{apart.name}: {apart.validation}",
            f"{apart.name}: {apart.training}",
            fact="data.numbering",
            location=place(validation.code),
        ),
        fix("number the classes once, from the training data, and pass these numbers to both"),
        subject="argument validation_data of fit",
    )


def _scaled_by_themselves(ours: tuple[ArrayFacts, ...], theirs: tuple[ArrayFacts, ...]) -> Iterator[Finding]:
    """Report validation data that is scaled by its own mean and deviation, or its own extremes."""
    for one, other in zip(ours, theirs, strict=True):
        ready, wrong = one.statistics, other.statistics
        if isinstance(ready, Unknown) or isinstance(wrong, Unknown) or not wrong.own_scale:
            continue
        if ready.own_scale == wrong.own_scale:
            yield CAUSE.finding(
                f"every column of `{_name(other)}` has {wrong.own_scale.replace('..', ' to ')} by itself, like the "
                "training data: equal values mean different things in the two",
                place(other.code, other.use),
                Evidence(
                    f"scale of `{_name(other)}`",
                    wrong.own_scale,
                    "the mean and deviation of the training data"
                    if "mean" in wrong.own_scale
                    else "the range of the training data",
                    fact="data.x.own_scale",
                    location=place(one.code, one.use),
                ),
                fix("fit the scaler to the training data only, and scale the validation data with it"),
                subject="argument validation_data of fit",
            )


def _mapped_twice(one: DataFacts, other: DataFacts) -> tuple[str, Code] | None:
    """Return a function that one pipeline maps once more than the other one, which maps it, too, and where it does."""
    ours, theirs = _mapped(one), _mapped(other)
    for function, codes in ours.items():
        known = theirs.get(function, [])
        if known and len(codes) == len(known) + 1:
            own = [code for code in codes if code not in known]
            return function, (own or codes)[-1]
    return None


def _mapped(data: DataFacts) -> dict[str, list[Code]]:
    """Return the functions that a pipeline maps, as they are written, with their stages."""
    found: dict[str, list[Code]] = {}
    for step, code in coded(data.pipeline):
        function = code.argument("map_func", 0) if step.operation == "map" else None
        if function is not None:
            found.setdefault(function.text, []).append(code)
    return found


def _where_mapped_again(found: Finding, function: str, again: Code) -> Finding:
    """Move a finding to the stage that maps a function a second time, with the fix that removes it."""
    text = function if len(function) < 40 and "\n" not in function else "the same function"
    title = f"map `{text}` once, as in the other pipeline"
    end = receiver_end(again)
    alone = again.target and again.target == again.text[:end] and again.statement is not None
    # Without its statement, unless nothing else is in the block: `ds = ds` would be left.
    gone = (unsafe(title, (Edit(again.statement.lines, ""),)),) if alone and again.statement else ()
    seen = Evidence(f"`{text}` is mapped a second time", location=step_place(again))
    return replace(
        found,
        location=step_place(again),
        evidence=(*found.evidence, seen),
        fixes=(*gone, unsafe(title, without_step(again)), found.fixes[-1]),
    )


def _discarded(project: Project) -> tuple[Module, ast.Call, str] | None:
    """Return the only call of a scaler's `transform` whose result is not kept, with the scaled data's name."""
    found = []
    for module in project.modules:
        for site in module.method_calls("transform"):
            function, given = site.node.func, site.node.args
            if not isinstance(module.parent(site.node), ast.Expr) or len(given) != 1:
                continue
            scaler = module.made_by(function.value) if isinstance(function, ast.Attribute) else None
            known = isinstance(scaler, ast.Call) and module.resolve(scaler.func) in _SCALERS
            in_place = isinstance(scaler, ast.Call) and any(each.arg == "copy" for each in scaler.keywords)
            if known and not in_place and isinstance(given[0], (ast.Name, ast.Attribute)):
                found.append((module, site.node, module.segment(given[0])))
    return found[0] if len(found) == 1 else None


def _where_discarded(found: Finding, module: Module, call: ast.Call, data: str) -> Finding:
    """Move a finding to the scaling that has no effect, with the fix that keeps its result."""
    text = module.segment(call)
    kept = unsafe(f"keep the result: `{data} = {text}`", replace_code(module.code(call), f"{data} = {text}"))
    seen = Evidence(f"the result of `{text}` is discarded", location=module.location(call))
    return replace(
        found,
        location=module.location(call),
        evidence=(*found.evidence, seen),
        fixes=(kept, *found.fixes),
    )


def _is_far(near: ArrayFacts, far: ArrayFacts) -> bool:
    """Return whether the mean of one is many times as large as any value of the other."""
    small, large = near.statistics, far.statistics
    if isinstance(small, Unknown) or isinstance(large, Unknown) or min(small.count, large.count) < _ROWS:
        return False
    if small.minimum is None or small.maximum is None:
        return False
    most = max(abs(small.minimum), abs(small.maximum))
    if large.integral and not small.integral and large.maximum is not None:
        # Counts or pixels as they are, beside fractions of them; in source, the mean is not known.
        return large.maximum > _RAW * most > 0 and (large.mean is None or abs(large.mean) > 2 * most)
    return large.mean is not None and abs(large.mean) > _FAR * most > 0


def _finding(ours: ArrayFacts, theirs: ArrayFacts, maps: list[Missing], project: Project) -> Finding:
    stage = next((each.stage for each in maps), None)
    remedy = _remedy(ours, theirs, project)
    made, prepared_at = place(theirs.code), next((edit.location for edit in remedy.edits), None)
    raw = isinstance(ours.use, Code) and prepared_at == ours.use.location
    if made is not None and prepared_at is not None and made.path == prepared_at.path and not raw:
        prepared_at = None
    return CAUSE.finding(
        f"`{_name(theirs)}` ranges from {_span(theirs)}, but the training data ranges from {_span(ours)}",
        place(step_place(stage) if stage is not None else prepared_at, theirs.code, theirs.use),
        Evidence(
            f"values of `{_name(theirs)}`",
            _range(theirs),
            _range(ours),
            fact="data.x.statistics",
            location=place(ours.code, ours.use),
        ),
        *(unsafe(f"add `{each.text}` to the validation pipeline, too", each.edits) for each in maps),
        remedy,
        subject="argument validation_data of fit",
    )


@dataclass(frozen=True)
class Missing:
    """A `map` of the training pipeline that the validation pipeline lacks."""

    text: str
    """`.map(scale)`."""
    stage: Code
    """The stage of the validation pipeline that it belongs next to."""
    edits: tuple[Edit, ...]


def _missing_maps(training: DataFacts, validation: DataFacts, project: Project) -> list[Missing]:
    theirs = [code for _step, code in coded(validation.pipeline)]
    if not theirs:
        return []
    batch = next((code for step, code in coded(validation.pipeline) if step.operation in BATCHING), None)
    known = {_own_call(code) for code in theirs}
    shared = {code.location for _step, code in coded(training.pipeline)}
    if (batch or theirs[-1]).location in shared:
        return []  # one function makes both pipelines: an edit there would change the training data, too
    found = []
    batched = False
    for step, code in coded(training.pipeline):
        batched = batched or step.operation in BATCHING
        call = _own_call(code)
        if step.operation != "map" or call in known or not _means_the_same(code, theirs[-1], project):
            continue
        if batch is not None and not batched:
            found.append(Missing(call, batch, with_step_before(batch, call)))
        else:
            found.append(Missing(call, theirs[-1], with_step_after(batch or theirs[-1], call)))
    return found


def _own_call(code: Code) -> str:
    """Return the last call of a chain: `.map(scale)`."""
    end = receiver_end(code)
    return code.text[end:].strip() if end is not None else ""


def _means_the_same(code: Code, other: Code, project: Project) -> bool:
    """Whether the names in a stage are global ones that the other pipeline's file has as well."""
    found, there = expression_of(project, code), expression_of(project, other)
    if found is None or there is None or not isinstance(found[1], ast.Call):
        return False
    module, call = found[0], found[1]
    if module is not there[0]:
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    own = {each.arg for node in given for each in ast.walk(node) if isinstance(each, ast.arg)}
    names = {each.id for node in given for each in ast.walk(node) if isinstance(each, ast.Name)} - own
    methods = [each for node in (call, there[1]) if (each := module.function_of(node)) is not None]
    owners = [each.owner.node for each in methods if each.owner is not None]
    if len(owners) == 2 and owners[0] is owners[1]:
        names.discard("self")
    scope = whole = module.scope(call)
    while whole.parent is not None:
        whole = whole.parent
    in_both = scope is module.scope(there[1])
    return in_both or all(
        name in whole.bindings and (scope is whole or name not in scope.bindings) or hasattr(builtins, name)
        for name in names
    )


def _name(array: ArrayFacts) -> str:
    """Return the name that the program gives an array, if it passes one."""
    use = array.use
    return use.text if isinstance(use, Code) and use.text.isidentifier() else array.path


def _span(array: ArrayFacts) -> str:
    return _range(array).replace("..", " to ")


def _range(array: ArrayFacts) -> str:
    assert isinstance(array.statistics, Statistics)
    return f"{array.statistics.minimum:.4g}..{array.statistics.maximum:.4g}"


def _remedy(ours: ArrayFacts, theirs: ArrayFacts, project: Project) -> Fix:
    """Prepare the validation data like the training data, or the other way round if that is raw."""
    parts = (ours, theirs) if _is_far(ours, theirs) else (theirs, ours)
    alike = same_preparation(*parts, project)
    if alike is not None:
        return unsafe(alike.title, alike.edits)
    return fix("prepare training and validation data with the same code")
