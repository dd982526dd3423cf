"""Keras backend other than the one the program expects.

## What happens

Setting `KERAS_BACKEND` after Keras is imported silently has no effect: the program trains on TensorFlow. If it names
a backend that is not installed, the import fails: `ModuleNotFoundError: No module named 'jax'` from inside Keras, or
`ValueError: Unable to import backend : …`. On the `numpy` backend, `fit` raises `NotImplementedError`. On `jax`, a
layer that uses `tf.` operations fails when the model is built, with a JAX error: in JAX 0.10, `AttributeError: 'str'
object has no attribute '_error_repr'`.

## Why

Keras reads `KERAS_BACKEND` (and `~/.keras/keras.json`) once, at its first import. `import tensorflow` also imports
Keras.

## Fix

Set the variable before the first import of Keras, to a backend that is installed. For TensorFlow, do not set it.

## Known limits

One program on JAX was run elsewhere (JAX 0.10 with Keras 3.15), and its output is recorded. Programs on PyTorch were
not run here. In source, only an assignment at the top level of the same file is detected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import EnvironmentFacts, FailureFacts, Unknown
from fitdoctor.records import replace
from fitdoctor.source.imports import first_import
from fitdoctor.source.keras_backend import VARIABLE, settings
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT904", slug="wrong-backend", severity=Severity.WARNING)

IMPORTERS = ("keras", "tensorflow")
"""Importing TensorFlow also imports Keras."""
_NO_BACKEND = re.compile(r"No module named '(?P<name>jax|jaxlib|torch|openvino)(?:[.\w]*)'")
_UNKNOWN = re.compile(r"Unable to import backend : (?P<name>\S+)")
_GIVEN_AWAY = re.compile(r"'_error_repr'|__array__\(\) was called on|TracerArrayConversionError")
_NO_FIT = re.compile(r"fit not implemented for NumPy backend")


@CAUSE.in_source
@mentions("KERAS_BACKEND")
def from_source(module: Module) -> Iterator[Finding]:
    """Report the variable if it is set after Keras is imported, at module level."""
    imported = first_import(module, IMPORTERS)
    used: list[object] = ["tensorflow"]
    for node, value in sorted(settings(module), key=lambda setting: setting[0].lineno):
        if imported is None or module.function_of(node) is not None:
            continue
        asked = value.value if isinstance(value, ast.Constant) else None
        if node.lineno <= imported.lineno:
            used = [asked] if asked is not None else []
        elif isinstance(node, ast.Assign) and used and asked not in used:
            wanted = f"`{asked}`" if isinstance(asked, str) else "it"
            yield CAUSE.finding(
                f"`{VARIABLE}` is set after Keras is imported, so {wanted} is not used",
                module.location(node),
                Evidence("Keras is imported here", location=module.location(imported)),
                fix("set it before the first import of Keras"),
                unsafe(
                    "remove this line and keep the current backend",
                    (delete_lines(module, module.statement(node)),),
                ),
                subject=VARIABLE,
            )


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, environment: EnvironmentFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report a backend that Keras cannot import, or that cannot train."""
    last = failure.frames[-1] if failure.frames else None
    path = last.path.replace("\\", "/") if last is not None else ""
    if "/jax/_src/" in path and failure.layer_class and _GIVEN_AWAY.search(failure.message):
        yield _failed(
            failure,
            f"`{failure.layer_class}` passes its input to a library other than JAX, the current Keras backend",
            f"layer {failure.layer_class}",
            [Evidence("backend", "jax", "tensorflow, for layers that use `tf.`")],
            "use `keras.ops` instead of `tf.` and NumPy: it runs on every backend",
            f"remove `{VARIABLE}` (and `backend` in keras.json) to train on TensorFlow",
            confidence=Confidence.LIKELY,
        )
    elif last is not None and path.endswith("/keras/src/backend/config.py") and last.function == "<module>":
        yield _failed(
            failure,
            "Keras cannot read its settings from `keras.json` or a `KERAS_…` environment variable",
            "keras.json",
            [
                Evidence("line that failed in Keras", last.text.strip()[:100]),
                Evidence("error", failure.message.strip().split("\n")[0][:120] or failure.type),
            ],
            "fix or delete `~/.keras/keras.json` (or the one in `KERAS_HOME`); Keras then writes a new one",
        )
    elif backend := _unavailable(failure):
        asked, place = backend, None
        for module in project.modules:
            for node, value in settings(module):
                place = module.location(node)
                # The NumPy backend depends on JAX.
                asked = "numpy" if isinstance(value, ast.Constant) and value.value == "numpy" else asked
        set_by = environment.backend_set_by if isinstance(environment, EnvironmentFacts) else ""
        trains = asked != "numpy"
        finding = _failed(
            failure,
            f"Keras is configured to use the backend `{asked}`, which {'is not installed' if trains else 'cannot train'}",
            VARIABLE,
            [Evidence("backend", asked, "tensorflow"), *([Evidence("set by", set_by)] if set_by else [])],
            f"remove `{VARIABLE}` (and `backend` in keras.json)"
            + (f", or install `{backend}`" if trains else ""),
        )
        yield replace(finding, location=place) if place is not None else finding


def _failed(
    failure: FailureFacts,
    message: str,
    subject: str,
    evidence: list[Evidence],
    *remedies: str,
    confidence: Confidence = Confidence.CERTAIN,
) -> Finding:
    return CAUSE.finding(
        message,
        failure.location,
        *evidence,
        *([fix(remedy) for remedy in remedies]),
        subject=subject,
        confidence=confidence,
        severity=Severity.ERROR,
    )


def _unavailable(failure: FailureFacts) -> str:
    """Return the backend that Keras cannot use; "" if the failure is another one."""
    if said := _UNKNOWN.search(failure.message):
        return said["name"]
    if failure.type == "NotImplementedError" and _NO_FIT.search(failure.message):
        return "numpy"
    missing = _NO_BACKEND.search(failure.message) if failure.type == "ModuleNotFoundError" else None
    in_keras = any("/keras/src/backend/" in frame.path.replace("\\", "/") for frame in failure.frames)
    return missing["name"].removesuffix("lib") if missing is not None and in_keras else ""


CAUSE.message(
    r"'(?:Model|Sequential|Functional)' object has no attribute "
    r"'(?P<name>parameters|named_parameters|state_dict|load_state_dict|zero_grad|cuda|eval|to)'",
    "`{name}` is a method of PyTorch models, which a Keras model has only on the torch backend",
    "use the Keras way (`weights`, `save_weights`, `fit`), or set `KERAS_BACKEND=torch` before importing Keras",
    subject="method of PyTorch",
    types=("AttributeError",),
)
