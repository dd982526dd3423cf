"""Labels, weights or a validation split passed along with a dataset or generator.

## What happens

`fit` raises `ValueError: When providing x as a tf.data.Dataset, y should not be passed`, the same error for
`sample_weight`, or ``Argument `validation_split` is only supported for tensors or NumPy arrays``. With a Python
generator, Keras 3 also rejects `class_weight`, which it accepts with a dataset or PyDataset. It accepts `batch_size`,
but ignores it.

## Why

The elements of a dataset, generator or PyDataset are complete batches that contain their own labels and weights.
Keras does not know how many there are before it reads them, so it cannot split off a fraction for validation.

## Fix

Remove the argument. Put labels and weights into the elements: `(x, y)` or `(x, y, sample_weight)`. For validation,
create a second dataset, for example with `take` and `skip` on a dataset that is not reshuffled.

## Known limits

`lint` does not report an argument whose value may be None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.pipeline_steps import words
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_before, remove_argument, unsafe
from fitdoctor.facts import Argument, Code, DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.failure.patterns import splits_list

CAUSE = Cause(
    id="FIT711",
    slug="arguments-clash-with-dataset",
    severity=Severity.ERROR,
    raises="ValueError",
    explains=("FIT107", "FIT108", "FIT109", "FIT214", "FIT215"),
)

POSITIONS = {"y": 1, "batch_size": 2, "validation_split": 6, "class_weight": 9, "sample_weight": 10}
"""The clashing arguments, with their positions in `fit(…)`."""
BATCHED = ("dataset", "generator", "pydataset", "dataloader")
UNWEIGHTED = ("generator", "dataloader")
"""Data for which Keras 3 does not support class weights."""


@CAUSE.likely_in_source
@CAUSE.before_fit
@mentions(*BATCHED_DATA)
def from_call(fit: FitFacts, data: DataFacts, model: ModelFacts | Unknown) -> Iterator[Finding]:
    """Report arguments that cannot be combined with batched data."""
    if fit.method != "fit" or data.role != "training" or data.form not in BATCHED:
        return
    for name in POSITIONS:
        if name == "validation_split" and "validation_data" in fit.given:
            continue  # the split is used only without other validation data
        older = not isinstance(model, ModelFacts) or model.keras == 2
        if name == "class_weight" and (data.form not in UNWEIGHTED or older):
            continue
        if name in fit.valued and name != "batch_size":
            yield _finding(name, fit, data)
    size = fit.batch_size
    if size is not None and isinstance(data.batch_size, int) and data.batch_size != size:
        yield _ignored(size, data.batch_size, fit, data)


def _finding(name: str, fit: FitFacts, data: DataFacts) -> Finding:
    argument = _argument(fit.code, name)
    return CAUSE.certain(
        f"`{name}` cannot be combined with a {words(data)}: {_reason(name)}",
        place(argument.whole if argument else None, fit.code),
        Evidence("argument x", f"a {words(data)}", f"arrays, or no `{name}`", fact="data.form"),
        *_kept(name, fit, data),
        *_fixes(name, fit.code),
        subject=f"argument {name} of fit",
    )


def _reason(name: str) -> str:
    if name == "validation_split":
        return "Keras can split only arrays"
    if name == "class_weight":
        return "Keras applies class weights only to arrays, datasets and PyDatasets"
    what = "labels" if name == "y" else "sample weights"
    return f"{what} must be part of its elements"


def _argument(code: Code | Unknown, name: str) -> Argument | None:
    return None if isinstance(code, Unknown) else code.argument(name, POSITIONS[name])


def _fixes(name: str, code: Code | Unknown) -> list[Fix]:
    edits = remove_argument(code, name, POSITIONS[name])
    if name == "y":
        return [fix("remove `y`", edits)]
    if name in ("sample_weight", "class_weight"):
        return [
            unsafe(f"remove `{name}`", edits),
            fix("add the weights as the third part of each element: `(x, y, weight)`"),
        ]
    return [
        unsafe("remove `validation_split`", edits),
        fix("split the data before creating the dataset, and pass `validation_data`"),
    ]


def _kept(name: str, fit_call: FitFacts, data: DataFacts) -> Iterator[Fix]:
    """Split the dataset itself instead, if it yields its batches in a fixed order."""
    batches, code = data.batches, fit_call.code
    if data.form != "dataset" or not data.pipeline or any(s.operation == "shuffle" for s in data.pipeline):
        return
    given, share = (
        (None, None) if isinstance(code, Unknown) else (code.argument("x", 0), _argument(code, name))
    )
    if given is None or share is None or share.name != "validation_split" or not given.text.isidentifier():
        return
    split = fit_call.validation_split
    if not isinstance(batches, int) or not 0 < int(batches * (1 - split)) < batches:
        return
    count = f"train_batches = int(len({given.text}) * (1 - {share.text}))"
    validation = f"validation_data={given.text}.skip(train_batches)"
    yield unsafe(
        "validate on the last batches of the dataset, as `validation_split` does with arrays",
        insert_before(code, count),
        (Edit(given.location, f"{given.text}.take(train_batches)"), Edit(share.whole, validation)),
    )


def _ignored(size: int, real: int, fit: FitFacts, data: DataFacts) -> Finding:
    argument = _argument(fit.code, "batch_size")
    return CAUSE.certain(
        f"`batch_size={size}` is ignored: the {words(data)} yields batches of {real:,}",
        place(argument.whole if argument else None, fit.code),
        Evidence("batch size", str(real), str(size), fact="data.batch_size"),
        fix("remove `batch_size`", remove_argument(fit.code, "batch_size", POSITIONS["batch_size"])),
        subject="argument batch_size of fit",
        severity=Severity.INFO,
    )


_REFUSED = re.compile(
    r"`(?P<name>y|sample_weights?)` should not be passed|`(?P<old>y|sample_weight)` argument is not supported"
    r"|Argument `(?P<classes>class_weight)` is not supported for"
)


_SPLIT_TYPES = re.compile(
    r"found following types in the input: \[.{0,400}?<class '(?P<kind>[\w.]*\b(?:\w*Ragged\w*|\w*Sparse\w*|list|dict|str))'"
)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Report the argument that Keras rejected."""
    refused = _REFUSED.search(failure.message)
    if failure.type != "ValueError":
        return
    if refused is not None:
        name = refused["classes"] or (refused["name"] or refused["old"]).rstrip("s")
    elif "`validation_split` is only supported" in failure.message and not splits_list(failure.message):
        name = "validation_split"
    else:
        return
    if isinstance(fit, FitFacts) and isinstance(data, DataFacts):
        if data.role == "training":
            yield _finding(name, fit, data)
        return
    frame = failure.last_user_frame
    code = frame.code if frame is not None else Unknown("the traceback has no user frame")
    argument = _argument(code, name)
    types = _SPLIT_TYPES.search(failure.message)
    if types is not None:
        kind = types["kind"].rpartition(".")[2]
        yield CAUSE.finding(
            f"`validation_split` takes its rows from arrays and dense tensors only, but the data contains `{kind}`",
            place(argument.whole if argument else None, failure.location),
            fix("split the data yourself before the call, and pass the second part as `validation_data`"),
            subject="argument validation_split of fit",
        )
        return
    kind = "generator" if name == "class_weight" else "dataset or generator"
    yield CAUSE.finding(
        f"`{name}` cannot be combined with a {kind}: {_reason(name)}",
        place(argument.whole if argument else None, failure.location),
        *_fixes(name, code),
        subject=f"argument {name} of fit",
    )
