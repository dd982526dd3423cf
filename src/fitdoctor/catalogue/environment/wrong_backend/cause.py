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
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.environment.imports import first_import
from fitdoctor.catalogue.sayings import Saying, findings_from_message
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import EnvironmentFacts, FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.keras_backend import VARIABLE, settings
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(id="FIT904", slug="wrong-backend", severity=Severity.WARNING)

IMPORTERS = ("keras", "tensorflow")
"""Importing TensorFlow also imports Keras."""
_NO_BACKEND = pattern(r"No module named '(?P<name>jax|jaxlib|torch|openvino)(?:[.\w]*)'")
_UNKNOWN = pattern(r"Unable to import backend : (?P<name>\S+)")
_HANDED_OVER = pattern(r"'_error_repr'|__array__\(\) was called on|TracerArrayConversionError")
_NO_FIT = pattern(r"fit not implemented for NumPy backend")


@CAUSE.in_source
@mentions("KERAS_BACKEND")
def from_source(module: Module) -> Iterator[Finding]:
    """Report the variable if it is set after Keras is imported, at module level."""
    imported = first_import(module, IMPORTERS)
    used: list[object] = ["tensorflow"]
    for node, value in sorted(settings(module), key=lambda setting: setting[0].lineno):
        if imported is None or module.function_of(node) is not None:
            continue
        if node.lineno <= imported.lineno:
            used = [value.value] if isinstance(value, ast.Constant) else []
            continue
        if (
            not isinstance(node, ast.Assign)
            or not used
            or isinstance(value, ast.Constant)
            and value.value in used
        ):
            continue
        wanted = (
            f"`{value.value}`" if isinstance(value, ast.Constant) and isinstance(value.value, str) else "it"
        )
        yield CAUSE.finding(
            f"`{VARIABLE}` is set after Keras is imported, so {wanted} is not used",
            subject=VARIABLE,
            location=module.location(node),
            evidence=[Evidence(claim="Keras is imported here", location=module.location(imported))],
            fixes=[
                fix("set it before the first import of Keras"),
                unsafe(
                    "remove this line and keep the current backend",
                    (delete_lines(module, module.statement(node)),),
                ),
            ],
        )


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, environment: EnvironmentFacts | Unknown, project: Project | Unknown
) -> Iterator[Finding]:
    """Report a backend that Keras cannot import, or that cannot train."""
    if _tensorflow_on_jax(failure):
        yield _foreign_operations(failure)
        return
    if _settings_refused(failure):
        yield _bad_settings(failure)
        return
    backend = _refused(failure)
    if backend is None:
        return
    set_by = environment.backend_set_by if isinstance(environment, EnvironmentFacts) else ""
    frame = failure.last_user_frame
    location, asked = frame.location if frame else None, backend
    for module in () if isinstance(project, Unknown) else project.modules:
        for node, value in settings(module):
            location = module.location(node)
            # The NumPy backend depends on JAX.
            asked = "numpy" if isinstance(value, ast.Constant) and value.value == "numpy" else asked
    yield CAUSE.finding(
        f"Keras is configured to use the backend `{asked}`, "
        + ("which cannot train" if asked == "numpy" else "which is not installed"),
        subject=VARIABLE,
        location=location,
        evidence=[Evidence(claim="backend", observed=asked, expected="tensorflow"),
                  *([Evidence(claim="set by", observed=set_by)] if set_by else [])],
        fixes=[fix(f"remove `{VARIABLE}` (and `backend` in keras.json)"
                   + (f", or install `{backend}`" if asked != "numpy" else ""))],
        confidence=Confidence.CERTAIN,
        severity=Severity.ERROR,
    )  # fmt: skip


def _refused(failure: FailureFacts) -> str | None:
    """Return the backend that is not available."""
    said = _UNKNOWN.search(failure.message)
    if said is not None:
        return said["name"]
    if failure.type == "NotImplementedError" and _NO_FIT.search(failure.message):
        return "numpy"
    missing = _NO_BACKEND.search(failure.message) if failure.type == "ModuleNotFoundError" else None
    in_keras = any("/keras/src/backend/" in frame.path.replace("\\", "/") for frame in failure.frames)
    return missing["name"].removesuffix("lib") if missing is not None and in_keras else None


def _settings_refused(failure: FailureFacts) -> bool:
    """Return whether Keras failed while reading its settings at import."""
    last = failure.frames[-1] if failure.frames else None
    path = last.path.replace("\\", "/") if last is not None else ""
    return path.endswith("/keras/src/backend/config.py") and failure.frames[-1].function == "<module>"


def _bad_settings(failure: FailureFacts) -> Finding:
    frame = failure.last_user_frame
    return CAUSE.finding(
        "Keras cannot read its settings from `keras.json` or a `KERAS_…` environment variable",
        subject="keras.json",
        location=frame.location if frame else None,
        evidence=[
            Evidence(claim="line that failed in Keras", observed=failure.frames[-1].text.strip()[:100]),
            Evidence(claim="error", observed=failure.message.strip().split("\n")[0][:120] or failure.type),
        ],
        fixes=[
            fix(
                "fix or delete `~/.keras/keras.json` (or the one in `KERAS_HOME`); Keras then writes a new one"
            )
        ],
        confidence=Confidence.CERTAIN,
        severity=Severity.ERROR,
    )


def _tensorflow_on_jax(failure: FailureFacts) -> bool:
    """Return whether JAX rejected a tensor that a custom layer passed to another library."""
    last = failure.frames[-1].path.replace("\\", "/") if failure.frames else ""
    return (
        "/jax/_src/" in last
        and bool(failure.layer_class)
        and _HANDED_OVER.search(failure.message) is not None
    )


def _foreign_operations(failure: FailureFacts) -> Finding:
    frame = failure.last_user_frame
    return CAUSE.finding(
        f"`{failure.layer_class}` passes its input to a library other than JAX, the current Keras backend",
        subject=f"layer {failure.layer_class}",
        location=frame.location if frame else None,
        evidence=[
            Evidence(claim="backend", observed="jax", expected="tensorflow, for layers that use `tf.`")
        ],
        fixes=[
            fix("use `keras.ops` instead of `tf.` and NumPy: it runs on every backend"),
            fix(f"remove `{VARIABLE}` (and `backend` in keras.json) to train on TensorFlow"),
        ],
        severity=Severity.ERROR,
    )


_SAYINGS = (
    Saying(
        pattern(
            r"'(?:Model|Sequential|Functional)' object has no attribute "
            r"'(?P<name>parameters|named_parameters|state_dict|load_state_dict|zero_grad|cuda|eval|to)'"
        ),
        "`{name}` is a method of PyTorch models, which a Keras model has only on the torch backend",
        "use the Keras way (`weights`, `save_weights`, `fit`), or set `KERAS_BACKEND=torch` before importing Keras",
        types=("AttributeError",),
    ),
)


@CAUSE.after_failure
def from_words(failure: FailureFacts) -> Iterator[Finding]:
    """Report what the message alone shows."""
    yield from findings_from_message(CAUSE, failure, _SAYINGS, "method of PyTorch")
