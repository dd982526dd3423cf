"""Dataset that cannot be sharded across workers.

## What happens

With several workers: `InvalidArgumentError: Could not apply FILE based sharding: the dataset only has 1 file(s), which
is not enough for the required 2 shards/workers`, or `NotFoundError: Found an unshardable source dataset`. The other
workers fail with "Collective ops is aborted", which is only a consequence.

## Why

`MultiWorkerMirroredStrategy` gives each worker a shard of the data. A dataset that reads files is sharded by file, so it
needs at least one file per worker. Under the FILE policy, in-memory data cannot be sharded at all.

## Fix

Split the data into at least as many files as there are workers. Or shard by sample instead of by file: set
`options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA` and call
`dataset.with_options(options)`.

## Known limits

The failure needs several processes, so the example is a recorded traceback of two workers on one machine. It is
not run here. Before `fit`, the problem is reported only under Keras 2 (in Keras 3, `fit` trains with a single worker)
and only if the files are listed explicitly.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import DataFacts, FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.source.line_edits import attribute_name
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT607",
    slug="data-cannot-be-sharded",
    severity=Severity.ERROR,
    raises=("InvalidArgumentError", "NotFoundError"),
)

_FEW_FILES = re.compile(
    r"the dataset only has (?P<files>\d+) file\(s\), which is not enough for the required (?P<shards>\d+) shards"
)
_UNSHARDABLE = "Found an unshardable source dataset"
READERS = ("TFRecordDataset", "TextLineDataset", "CsvDataset", "FixedLengthRecordDataset", "list_files")


@CAUSE.before_fit
def from_dataset(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report a dataset with fewer files than workers, or with the FILE policy and no files."""
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
        return  # AUTO falls back to sharding in-memory data by sample
    read, policy = _reader(project), _policy(project)
    source = data.pipeline[0].code if data.pipeline else Unknown("no pipeline stage was recorded")
    yield _finding(
        *_told(shared.files, model.workers, "data.sharding"),
        location=(read if shared.files else policy) or place(source, data.code, fit.code),
        policy=policy,
        few=bool(shared.files),
    )


def _told(files: int, workers: int, fact: str) -> tuple[str, list[Evidence]]:
    if not files:
        return "the shard policy is FILE, but the dataset reads no files", []
    seen = Evidence("files to shard", str(files), f"at least {workers}", fact=fact)
    return f"the dataset has {files} file{'s' * (files > 1)}, but there are {workers} workers", [seen]


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Read the number of files and workers from TensorFlow's error."""
    few = _FEW_FILES.search(failure.message)
    if few is None and _UNSHARDABLE not in failure.message:
        return
    policy = _policy(project)
    yield _finding(
        *_told(int(few["files"]) if few else 0, int(few["shards"]) if few else 0, "failure.message"),
        location=(_reader(project) if few is not None else policy) or failure.location,
        policy=policy,
        few=few is not None,
    )


def _finding(
    told: str, evidence: list[Evidence], *, location: Location | None, policy: Location | None, few: bool
) -> Finding:
    return CAUSE.certain(
        told,
        location,
        *evidence,
        fix(
            "shard by sample instead of by file: set `auto_shard_policy = AutoShardPolicy.DATA` in `tf.data.Options`",
            (Edit(policy, "DATA"),) if policy is not None else (),
        ),
        *([fix("split the data into more files")] if few else ()),
        subject="training dataset",
    )


def _policy(project: Project) -> Location | None:
    """Return the only `AutoShardPolicy.FILE` in the program, if there is exactly one."""
    found: list[Location] = []
    for module in project.modules:
        for node in module.nodes(ast.Attribute):
            if module.resolve(node).endswith("AutoShardPolicy.FILE"):
                found.append(attribute_name(module, node))
    return found[0] if len(found) == 1 else None


def _reader(project: Project) -> Location | None:
    """Return the only call that reads files into a dataset, if there is exactly one."""
    found: list[Location] = []
    for module in project.modules:
        for node in module.nodes(ast.Call):
            if module.resolve(node.func).rpartition(".")[2] in READERS:
                found.append(module.location(node))
    return found[0] if len(found) == 1 else None
