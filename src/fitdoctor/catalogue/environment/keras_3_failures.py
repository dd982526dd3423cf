"""Keras 3 errors about a missing name or argument, and the source line that uses it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.environment.compile_positions import (
    bare_metrics,
    metrics_by_position,
    refuses_bare_metrics,
    refuses_loss_weights,
)
from fitdoctor.catalogue.environment.keras_1 import refused_in_words
from fitdoctor.catalogue.environment.keras_3_arguments import argument_finding, of_keras_1
from fitdoctor.catalogue.environment.keras_3_attributes import failed_attribute
from fitdoctor.catalogue.environment.keras_3_fixes import as_keras
from fitdoctor.catalogue.environment.keras_3_gone import METHODS, METHODS_OF_PARTS
from fitdoctor.catalogue.environment.keras_3_names import gone_names_told
from fitdoctor.catalogue.environment.keras_3_spellings import renamed_losses
from fitdoctor.catalogue.environment.keras_history import history_finding
from fitdoctor.catalogue.environment.keras_renames import (
    DROPPED_WITH_KERAS_1,
    OLDER_HISTORY,
    RENAMED_ARGUMENTS,
    RENAMED_METHODS,
    RENAMED_OF_METRICS,
    older_arguments,
    refused_by_class,
)
from fitdoctor.catalogue.environment.keras_saving import saved_by_keras_2
from fitdoctor.catalogue.environment.keras_signatures import (
    PUBLIC_NAMES,
    REMOVED_ARGUMENTS,
    REMOVED_ATTRIBUTES,
)
from fitdoctor.catalogue.graph.traced import at_frame, module_of, stands_at
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.failure.patterns import attribute_missing, unexpected_keyword
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project


def told_by(
    cause: Cause,
    failure: FailureFacts,
    project: Project | Unknown,
    in_source: Callable[[Module], Iterator[Finding]],
) -> Iterator[Finding]:
    """Report the missing name at its source line; `in_source` judges a whole module."""
    loaded = list(saved_by_keras_2(cause, failure))
    if loaded:
        yield from loaded
        return
    if "has never been called and thus" in failure.message:
        from fitdoctor.catalogue.environment.uncalled_models import failed_uncalled

        found = failed_uncalled(cause, failure, project)
        if found is not None:
            yield found
            return
    if isinstance(project, Project) and refuses_loss_weights(failure.message):
        for read in project.modules:
            yield from metrics_by_position(cause, read, Confidence.CERTAIN)
    if isinstance(project, Project) and refuses_bare_metrics(failure.message):
        for read in project.modules:
            yield from bare_metrics(cause, read, Confidence.CERTAIN)
    gone, kind = _gone_in_message(failure), _owner_in_message(failure.message)
    frame = failure.last_user_frame
    if gone is None or _is_of_user(failure.message, project):
        yield from _refused_call(cause, failure, project)
        return
    if frame is not None and isinstance(project, Project):
        module = module_of(project, frame)
        for finding in _certain(cause, module, frame, gone, kind, in_source) if module is not None else ():
            yield finding
            return
    new = RENAMED_ARGUMENTS.get(gone) or RENAMED_METHODS.get(gone) or OLDER_HISTORY.get(gone)
    if kind == "metric":
        new = RENAMED_OF_METRICS.get(gone)
    of_history = failure.type == "KeyError" and new
    yield cause.finding(
        f"the history has no `{gone}`: since Keras 2.3 the key is `{new}`"
        if of_history
        else f"Keras 3 has no `{gone}`",
        subject=f"name {gone}",
        location=frame.location if frame else None,
        evidence=[
            Evidence(
                claim="Keras rejected this name", observed=gone, expected=new or "", fact="failure.message"
            )
        ],
        fixes=[fix(f"use `{new}`" if new else "use the Keras 3 replacement")],
        confidence=Confidence.CERTAIN,
    )


def _refused_call(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a layer or model called the Keras 1 way, from the missing or unexpected argument in the message."""
    frame = failure.last_user_frame
    if frame is None or failure.type not in ("TypeError", "ValueError"):
        return
    words = ("missing", "keyword arguments passed to", "Keyword argument not understood")
    if not any(each in failure.message for each in words):
        return
    if isinstance(project, Unknown):
        yield from refused_in_words(cause, failure, frame)
        return
    module = module_of(project, frame)
    if module is None:
        return
    for site in module.calls:
        if at_frame(module, site.node, frame):
            for finding in of_keras_1(cause, module, site):
                yield replace(finding, confidence=Confidence.CERTAIN)


def _certain(
    cause: Cause,
    module: Module,
    frame: Frame,
    gone: str,
    kind: str,
    in_source: Callable[[Module], Iterator[Finding]],
) -> Iterator[Finding]:
    """Return the source findings at that line as certain, because it failed."""
    for site in module.calls:
        refuses = site.method in (*METHODS, *METHODS_OF_PARTS) or gone in refused_by_class(site.name)
        if refuses and at_frame(module, site.node, frame):
            code = module.code(site.node)
            for argument in code.arguments:
                if argument.name == gone:
                    yield argument_finding(cause, module, site, code, argument, Confidence.CERTAIN)
    for finding in renamed_losses(cause, module):
        if finding.evidence[0].observed == gone:
            yield replace(finding, confidence=Confidence.CERTAIN)
    for node in module.nodes(ast.Attribute):
        if node.attr == gone and at_frame(module, node, frame):
            yield from failed_attribute(cause, module, node, kind)
    for finding in gone_names_told(cause, module):
        if finding.location is not None and stands_at(finding.location, frame.line, frame.cell):
            yield replace(finding, confidence=Confidence.CERTAIN)
    for subscript in module.nodes(ast.Subscript):
        key = subscript.slice.value if isinstance(subscript.slice, ast.Constant) else None
        if key in OLDER_HISTORY and at_frame(module, subscript, frame):
            yield history_finding(cause, module, subscript, Confidence.CERTAIN)
    for finding in in_source(module):
        if finding.location is not None and stands_at(finding.location, frame.line, frame.cell):
            yield replace(finding, confidence=Confidence.CERTAIN)


# --- what the message names -------------------------------------------------------------------------------------------


_IMPORTED = pattern(r"(?:No module named|cannot import name) '([\w.]+)'(?: from '([\w.]+)')?")


_FROM = pattern(r"\bfrom ([\w.]+) import\b")
"""Python before 3.7 does not say from where a name cannot be imported."""


def _kind_of_owner(owner: str) -> str:
    """Return the kind of a Keras class by its name in a message; "" for others and for models."""
    for kind in ("layer", "metric", "optimizer"):
        if owner in PUBLIC_NAMES[f"keras.{kind}s"]:
            return kind
    return ""


def _owner_in_message(message: str) -> str:
    """Return the kind of object that lacks the attribute in a message, or "" if unknown."""
    attribute = attribute_missing(message)
    return _kind_of_owner(attribute.owner) if attribute is not None else ""


def _is_of_user(message: str, project: Project | Unknown) -> bool:
    """Return whether the function that rejected an argument is the program's own."""
    keyword = unexpected_keyword(message)
    if keyword is None or not keyword.function or isinstance(project, Unknown):
        return False
    wanted = f"{keyword.owner}.{keyword.function}" if keyword.owner else keyword.function
    return any(function.qualname == wanted for module in project.modules for function in module.functions)


def _gone_of(owner: str) -> tuple[str, ...]:
    """Return the attributes that Keras 3 removed from a class, by its name."""
    kind = _kind_of_owner(owner)
    if kind:
        return REMOVED_ATTRIBUTES[kind]
    # A custom class: names that only Keras 2 models and optimizers had.
    return (*REMOVED_ATTRIBUTES["model"], "lr", "minimize", "compute_gradients", "aggregate_gradients")


_OF_NEW_OPTIMIZERS = pattern(r"`?(?P<name>\w+)`? is deprecated in the new (?:TF-)?Keras optimizer")
"""The error since Keras 2.11."""


def _gone_in_message(failure: FailureFacts) -> str | None:
    """Return the missing name in the message, if an older Keras had it."""
    message = failure.message
    keyword = unexpected_keyword(message)
    if keyword is not None:
        of_functions = (
            names
            for name, names in REMOVED_ARGUMENTS.items()
            if name.endswith(f".{keyword.function}") and keyword.function != "__init__"
        )
        if any(keyword.name in names for names in of_functions):
            return keyword.name
        if keyword.function in METHODS:
            # An argument removed from a layer was never an argument of a method.
            return keyword.name if keyword.name in older_arguments(keyword.function) else None
        gone = {name for names in REMOVED_ARGUMENTS.values() for name in names}
        dropped = DROPPED_WITH_KERAS_1.get(keyword.owner, ())
        gone = gone.union(older_arguments("fit"), older_arguments("compile"), dropped)
        keras_call = not keyword.function or keyword.function == "__init__"
        return keyword.name if keyword.name in gone and keras_call else None
    attribute = attribute_missing(message)
    if attribute is not None:
        if failure.type == "AttributeError" and attribute.name in _gone_of(attribute.owner):
            return attribute.name
        if attribute.name in PUBLIC_NAMES.get(as_keras(attribute.owner) or "", ()):
            return None  # Keras 3 has it, so the installed version is another: FIT901
        return attribute.name if "keras" in attribute.owner else None
    imported = _IMPORTED.search(message)
    if imported and failure.type in ("ImportError", "ModuleNotFoundError"):
        frame = failure.last_user_frame
        written = _FROM.search(frame.text) if frame is not None and not imported[2] else None
        owner = imported[2] or (written[1] if written else "")
        full = f"{owner}.{imported[1]}" if owner and "No module" not in message else imported[1]
        known = as_keras(full)
        # If Keras 3 has the name, something else was imported in its place: FIT907.
        return full if known and known != "keras" and known not in PUBLIC_NAMES else None
    if failure.type == "ImportError" and "is not supported in Keras 3" in message:
        return message.split("`")[1] if "`" in message else "legacy"
    changed = _OF_NEW_OPTIMIZERS.match(message)
    if changed:
        return changed["name"]
    if "`save_format` argument is deprecated" in message:
        return "save_format"
    if "argument `reduction`" in message and message.rstrip().endswith("reduction=auto"):
        return "auto"
    if failure.type == "KeyError":
        key = message.strip().strip("'\"")
        frame = failure.last_user_frame
        # In a callback, `logs` lacks the key: FIT322.
        in_callback = frame is not None and frame.function.startswith("on_")
        return key if key in OLDER_HISTORY and not in_callback else None
    return None
