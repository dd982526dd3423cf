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
from fitdoctor.catalogue.environment.keras_saving import (
    MODELS,
    PathText,
    format_refused,
    is_model_saving,
    last_text,
    new_ending,
)
from fitdoctor.catalogue.graph.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT905", slug="checkpoint-path-rejected", severity=Severity.ERROR, raises="ValueError")

WEIGHTS = (".weights.h5",)
REFUSALS = (
    "must end in `.keras`",
    "must end in `.weights.h5`",
    "Invalid filepath extension for saving",
    "File format not supported: filepath=",
)


@CAUSE.in_source
@mentions("ModelCheckpoint", "save")
def from_source(module: Module) -> Iterator[Finding]:
    """Report paths whose last piece is a literal with an extension that is not accepted."""
    if module.keras != 3:
        return
    for site in (
        *module.calls_to("keras.callbacks.ModelCheckpoint"),
        *module.method_calls("save", "save_weights"),
    ):
        if site.method in ("save", "save_weights") and not is_model_saving(module, site):
            continue
        path = site.argument("filepath", 0)
        taken = _taken(site)
        text = last_text(module, path) if path is not None and taken is not None else None
        if taken is None or text is None or not text.certain or text.value.endswith(taken):
            continue
        if site.method == "save" and text.value.endswith(".hdf5"):
            continue  # accepted, but not recommended by Keras
        if site.method == "save" and (text.value.endswith("/") or format_refused(module, site) is not None):
            continue  # a custom folder, or a Keras 2 argument that is rejected earlier
        yield _finding(module, site, text, taken, Confidence.LIKELY, [])


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


def _finding(
    module: Module,
    site: CallSite,
    text: PathText,
    taken: tuple[str, ...],
    confidence: Confidence,
    evidence: list[Evidence],
) -> Finding:
    called = site.method or site.name.rpartition(".")[2]
    ending = taken[0]
    # A file to load was saved earlier, so it must be saved again.
    edits = () if called.startswith("load") else new_ending(module, text, ending)
    return CAUSE.finding(
        f"`{called}` expects a path that ends in {' or '.join(f'`{each}`' for each in taken)}",
        subject=f"path of {called}",
        location=text.module.location(text.node) if edits else module.location(site.node),
        evidence=[
            Evidence(
                claim="file extension",
                observed=re.search(r"(\.[A-Za-z0-9.]+)?$", text.value)[0] or "none",  # type: ignore[index]
                expected=" or ".join(taken),
                location=module.location(site.node),
            ),
            *evidence,
        ],
        fixes=[fix(f"end the path in `{ending}`", edits)],
        confidence=confidence,
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the extension that Keras requires."""
    if failure.type != "ValueError" or not any(words in failure.message for words in REFUSALS):
        return
    weights = ".weights.h5" in failure.message.split("Received")[0]
    taken = WEIGHTS if weights else MODELS
    frame = failure.last_user_frame
    evidence = Evidence(claim="Keras rejected the path", fact="failure.message")
    if frame is not None and isinstance(project, Project):
        module = module_of(project, frame)
        sites = (
            (
                *module.calls_to("keras.callbacks.ModelCheckpoint"),
                *module.calls_to("keras.models.load_model", "keras.saving.load_model"),
                *module.method_calls("save", "save_weights", "load_weights"),
            )
            if module is not None
            else ()
        )
        for site in sites:
            assert module is not None
            path = site.argument("filepath", 0)
            if path is not None and at_frame(module, site.node, frame):
                text = last_text(module, path)
                if text is not None:
                    yield _finding(module, site, text, taken, Confidence.CERTAIN, [evidence])
                    return
    yield CAUSE.finding(
        f"the path must end in {' or '.join(f'`{each}`' for each in taken)}",
        subject="checkpoint path",
        location=frame.location if frame else None,
        evidence=[evidence],
        fixes=[fix(f"end the path in `{taken[0]}`")],
        confidence=Confidence.CERTAIN,
    )
