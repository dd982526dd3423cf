"""Data that cannot be shared out among the workers.

## What happens

With several workers: `InvalidArgumentError: Could not apply FILE based sharding: the dataset only has 1 file(s), which
is not enough for the required 2 shards/workers`, or `NotFoundError: Found an unshardable source dataset`. The other
workers end with "Collective ops is aborted", which is only the consequence.

## Why

`MultiWorkerMirroredStrategy` gives each worker its share of the data. A dataset that reads files is shared out by
files, so it needs as many of them as there are workers; with the policy FILE, data in memory cannot be shared out at all.

## Fix

Split the data into at least as many files as there are workers; or share out samples instead of files:
`options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA` and
`dataset.with_options(options)`.

## Known limits

It needs several processes, so the example is a text that was recorded, with two workers on one machine; as a program of
one process it was not run here. Before fit it is told under Keras 2 (`fit` of Keras 3 trains with one worker only) where
the files are listed plainly.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.keras_3_fixes import attribute_name
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT607",
    slug="data-cannot-be-sharded",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "NotFoundError"),
)

_FEW_FILES = pattern(
    r"the dataset only has (?P<files>\d+) file\(s\), which is not enough for the required (?P<shards>\d+) shards"
)
_UNSHARDABLE = "Found an unshardable source dataset"
READERS = ("TFRecordDataset", "TextLineDataset", "CsvDataset", "FixedLengthRecordDataset", "list_files")


@CAUSE.before_fit
def from_dataset(
    model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """There are fewer files than workers, or files are to be shared out and none is read."""
    shared = data.sharding
    if (
        model.keras != 2
        or model.workers < 2
        or isinstance(shared, Unknown)
        or isinstance(shared.files, Unknown)
    ):
        return
    if shared.policy not in ("AUTO", "FILE") or shared.files >= model.workers:
        return
    if not shared.files and shared.policy == "AUTO":
        return  # what is in memory is then shared out by samples
    read, policy = _reader(project), _policy(project)
    source = data.pipeline[0].code if data.pipeline else Unknown("no step was seen")
    yield _finding(
        *_told(shared.files, model.workers, "data.sharding"),
        location=(read if shared.files else policy) or place(source, data.code, fit.code),
        policy=policy,
        few=bool(shared.files),
    )


def _told(files: int, workers: int, fact: str) -> tuple[str, list[Evidence]]:
    if not files:
        return "the dataset reads no files, and is to be shared out by files", []
    seen = Evidence(
        claim="files to share out", observed=str(files), expected=f"at least {workers}", fact=fact
    )
    return f"the dataset has {files} file{'s' * (files > 1)}, and there are {workers} workers", [seen]


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """TensorFlow says how many files and workers there are."""
    few = _FEW_FILES.search(failure.message)
    if few is None and _UNSHARDABLE not in failure.message:
        return
    frame, policy = failure.last_user_frame, _policy(project)
    yield _finding(
        *_told(int(few["files"]) if few else 0, int(few["shards"]) if few else 0, "failure.message"),
        location=(_reader(project) if few is not None else policy) or (frame.location if frame else None),
        policy=policy,
        few=few is not None,
    )


def _finding(
    told: str, evidence: list[Evidence], *, location: Location | None, policy: Location | None, few: bool
) -> Finding:
    return CAUSE.finding(
        told,
        subject="training dataset",
        location=location,
        evidence=evidence,
        fixes=[
            fix(
                "share out samples instead of files: `auto_shard_policy = AutoShardPolicy.DATA` in `tf.data.Options`",
                (Edit(policy, "DATA"),) if policy is not None else (),
            ),
            *([fix("split the data into more files")] if few else ()),
        ],
        confidence=Confidence.CERTAIN,
    )


def _policy(project: Project | Unknown) -> Location | None:
    """The only `FILE` of an `AutoShardPolicy` in the program."""
    found: list[Location] = []
    for module in () if isinstance(project, Unknown) else project.modules:
        for node in module.nodes(ast.Attribute):
            if module.resolve(node).endswith("AutoShardPolicy.FILE"):
                found.append(attribute_name(module, node))
    return found[0] if len(found) == 1 else None


def _reader(project: Project | Unknown) -> Location | None:
    """The only place where the program reads files into a dataset."""
    found: list[Location] = []
    for module in () if isinstance(project, Unknown) else project.modules:
        for node in module.nodes(ast.Call):
            if module.resolve(node.func).rpartition(".")[2] in READERS:
                found.append(module.location(node))
    return found[0] if len(found) == 1 else None
