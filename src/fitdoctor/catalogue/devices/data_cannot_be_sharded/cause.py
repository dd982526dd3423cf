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

It is found when it has failed: it needs several processes, so the example is a text that was recorded, with two workers
on one machine; as a program of one process it was not run here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.keras_3_fixes import attribute_name
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
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


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """TensorFlow says how many files and workers there are."""
    few = _FEW_FILES.search(failure.message)
    if few is None and _UNSHARDABLE not in failure.message:
        return
    frame, policy = failure.last_user_frame, _policy(project)
    evidence = []
    told = "the dataset reads no files, and is to be shared out by files"
    if few is not None:
        told = f"the dataset has {few['files']} file, and there are {few['shards']} workers"
        evidence = [
            Evidence(
                claim="files to share out",
                observed=few["files"],
                expected=f"at least {few['shards']}",
                fact="failure.message",
            )
        ]
    yield CAUSE.finding(
        told,
        subject="training dataset",
        location=(_reader(project) if few is not None else policy) or (frame.location if frame else None),
        evidence=evidence,
        fixes=[
            fix(
                "share out samples instead of files: `auto_shard_policy = AutoShardPolicy.DATA` in `tf.data.Options`",
                (Edit(policy, "DATA"),) if policy is not None else (),
            ),
            *([fix("split the data into more files")] if few is not None else ()),
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
