"""Checkpoint path with a file extension that Keras 3 rejects.

## What happens

Creating `ModelCheckpoint("best.hdf5")` raises `ValueError: The filepath provided must end in .keras`. With
`save_weights_only=True`, the path must end in `.weights.h5`. `model.save` accepts `.keras` and `.h5`, and
`model.save_weights` accepts `.weights.h5`; with any other extension they raise an error after training, when the work
is already done.

## Why

Keras 3 chooses the format by the file extension. Keras 2 accepted any path and wrote TensorFlow's own checkpoint
format.

## Fix

End the path in `.keras` for whole models and in `.weights.h5` for weights.

## Known limits

A path that is built elsewhere or comes from the command line is detected only after the failure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import calls_at
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project
from fitdoctor.source.saved_paths import (
    MODELS,
    PathText,
    format_rejected,
    is_model_saving,
    last_text,
    new_ending,
    text_ending,
)

CAUSE = Cause(id="FIT905", slug="checkpoint-path-rejected", severity=Severity.ERROR, raises="ValueError")

WEIGHTS = (".weights.h5",)
_REJECTED = re.compile(
    r"must end in `\.keras`|must end in `\.weights\.h5`|Invalid filepath extension for saving"
    r"|File format not supported: filepath="
)
_RECEIVED = re.compile(r"filepath=(\S+?)[.,)]?(?:\s|$)")
_CREATORS = ("keras.callbacks.ModelCheckpoint",)
_LOADERS = ("keras.models.load_model", "keras.saving.load_model")


@CAUSE.in_source
@mentions("ModelCheckpoint", "save")
def from_source(module: Module) -> Iterator[Finding]:
    """Report paths whose last piece is a literal with an extension that is not accepted."""
    if module.keras != 3:
        return
    for site in (*module.calls_to(*_CREATORS), *module.method_calls("save", "save_weights")):
        if site.method in ("save", "save_weights") and not is_model_saving(module, site):
            continue
        path = site.argument("filepath", 0)
        taken = _taken(site)
        text = last_text(module, path) if path is not None and taken is not None else None
        if taken is None or text is None or not text.certain or text.value.endswith(taken):
            continue
        if site.method == "save" and text.value.endswith(".hdf5"):
            continue  # accepted, but not recommended by Keras
        if site.method == "save" and (text.value.endswith("/") or format_rejected(module, site) is not None):
            continue  # a custom folder, or a Keras 2 argument that is rejected earlier
        yield _finding(module, site, text, taken)


def _taken(site: CallSite) -> tuple[str, ...] | None:
    """Return the extensions that this call accepts, or None if unknown."""
    if site.method == "save_weights":
        # Sharded weights, with a JSON index.
        return WEIGHTS if site.argument("max_shard_size", 2) is None else (*WEIGHTS, ".weights.json")
    if site.method == "save":
        return MODELS
    only = site.argument("save_weights_only", 4)
    if only is None:
        return MODELS
    if not isinstance(only, ast.Constant):
        return None
    return WEIGHTS if only.value else MODELS


def _finding(module: Module, site: CallSite, text: PathText, taken: tuple[str, ...]) -> Finding:
    called = site.method or site.name.rpartition(".")[2]
    # A file to load was saved earlier, so it must be saved again.
    edits = () if called.startswith("load") else new_ending(module, text, taken[0])
    ending = re.search(r"(\.[A-Za-z0-9.]+)?$", text.value)
    observed = ending[0] if ending is not None and ending[0] else "none"
    return CAUSE.finding(
        f"`{called}` expects a path that ends in {_either(taken)}",
        text.module.location(text.node) if edits else module.location(site.node),
        Evidence("file extension", observed, " or ".join(taken), location=module.location(site.node)),
        fix(f"end the path in `{taken[0]}`", edits),
        subject=f"path of {called}",
    )


def _either(endings: tuple[str, ...]) -> str:
    return " or ".join(f"`{ending}`" for ending in endings)


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the extension that Keras requires."""
    if failure.type != "ValueError" or not _REJECTED.search(failure.message):
        return
    taken = WEIGHTS if ".weights.h5" in failure.message.split("Received")[0] else MODELS
    evidence = Evidence("Keras rejected the path")
    for site in calls_at(failure, project):
        if site.name in (*_CREATORS, *_LOADERS) or site.method in ("save", "save_weights", "load_weights"):
            path = site.argument("filepath", 0)
            text = last_text(site.module, path) if path is not None else None
            given = _RECEIVED.search(failure.message)
            if text is None and given is not None and project:
                text = text_ending(project, given[1])
            if text is not None:
                yield certain(_finding(site.module, site, text, taken), failure)
                return
    yield CAUSE.certain(
        f"the path must end in {_either(taken)}",
        failure.location,
        evidence,
        fix(f"end the path in `{taken[0]}`"),
        subject="checkpoint path",
    )
