"""Exceptions about a name or argument that Keras 3 does not have: which name it is, and where the source uses it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue.environment.removed_in_keras_3.changed_arguments import rejected_arguments
from fitdoctor.catalogue.environment.removed_in_keras_3.changed_attributes import (
    OWNERS,
    WITHOUT_SOURCE,
    failed_attributes,
)
from fitdoctor.catalogue.environment.removed_in_keras_3.changed_behavior import old_history_keys
from fitdoctor.catalogue.environment.removed_in_keras_3.changed_names import (
    advice,
    changed_calls,
    respelled_losses,
)
from fitdoctor.catalogue.environment.removed_in_keras_3.entry import CAUSE
from fitdoctor.catalogue.rules import is_raised_at
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame
from fitdoctor.failure.failed_line import module_of
from fitdoctor.failure.frames import is_framework
from fitdoctor.failure.patterns import (
    AttributeMissing,
    UnexpectedKeyword,
    attribute_missing,
    unexpected_keyword,
)
from fitdoctor.failure.raised_by import package_below
from fitdoctor.records import replace
from fitdoctor.source.keras_3_api import PUBLIC_NAMES
from fitdoctor.source.keras_changes import (
    Change,
    below_keras,
    changed_module,
    changed_name,
    changes,
    changes_of_argument,
    is_import_of_old_keras,
)
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project


def findings_at(module: Module, failure: FailureFacts, frame: Frame, name: str) -> Iterator[Finding]:
    """Find what a line uses under the name that the exception is about, most specific first."""
    of_name = (*rejected_arguments(module, frame), *respelled_losses(module))
    yield from (each for each in of_name if each.evidence[0].observed == name)
    attribute = attribute_missing(failure.message)
    owner = _kind_of_class(attribute.owner) if attribute is not None else ""
    yield from failed_attributes(module, frame, name, owner)
    found = (*changed_calls(module), *old_history_keys(module, frame))
    yield from (each for each in found if is_raised_at(each, module, failure))


def finding_from_text(failure: FailureFacts, name: str) -> Finding:
    """Report the name that the exception is about, if the source does not show it."""
    attribute, frame = attribute_missing(failure.message), failure.last_user_frame
    owner = _kind_of_class(attribute.owner) if attribute is not None else ""
    new, package = _new_name(name, owner, attribute), package_below(failure)
    if package and failure.type == "AttributeError":
        return CAUSE.certain(
            f"the package `{package}` uses `{name}`, which Keras {_since(failure.message, name)} does not have",
            frame.location if frame else None,
            Evidence("Keras rejected this name", name, new),
            fix(
                f"install a version of `{package}` that supports the installed Keras, or the Keras that it was written for"
            ),
            subject=f"name {name}",
        )
    of_history = failure.type == "KeyError" and new
    return CAUSE.certain(
        f"the history has no `{name}`: since Keras 2.3 the key is `{new}`"
        if of_history
        else f"Keras {_since(failure.message, name)} has no `{name}`",
        frame.location if frame else None,
        Evidence("Keras rejected this name", name, new),
        fix(f"use `{new}`" if new else _advice_about(name, attribute)),
        subject=f"name {name}",
    )


def _advice_about(name: str, attribute: AttributeMissing | None) -> str:
    """Return what to do about a name without a new one: an attribute of a module or of an object."""
    owner = attribute.owner if attribute is not None else ""
    if attribute is not None and attribute.kind == "module":
        return advice(f"{owner}.{name}")
    return WITHOUT_SOURCE.get(name) or advice(name)


def _since(message: str, name: str) -> str:
    """Return the version of Keras that took an argument away; 3 for all other names."""
    keyword = unexpected_keyword(message)
    found = changes_of_argument(name) if keyword is not None else ()
    versions = {change.since for change in found if keyword is not None and _may_be(change, keyword)}
    return "2 or later" if versions == {"2"} else "3"


def _new_name(name: str, owner: str, attribute: AttributeMissing | None) -> str:
    """Return what Keras 3 calls it: the attribute of an object, the key of the history or any argument."""
    of_tf = attribute is not None and attribute.owner.startswith(("keras._tf_keras.", "tensorflow."))
    if attribute is not None and attribute.kind == "module" and of_tf:
        module = attribute.owner.replace("keras._tf_keras.", "tensorflow.", 1)
        changed = changed_name(f"{module}.{name}")
        return f"tf.{changed.new.removeprefix('tensorflow.')}" if changed is not None and changed.new else ""
    of_objects = [
        changes("attribute", each).get(name) for each in ([owner] if owner else ["Model", "Optimizer"])
    ]
    rows = (*of_objects, changes("history").get(name), *changes_of_argument(name))
    new = next((change.new for change in rows if change is not None and change.new), "")
    public = (each for names in PUBLIC_NAMES.values() for each in names)
    return new or next((each for each in public if each.lower() == name.lower() and each != name), "")


# --- which name the message is about ----------------------------------------------------------------------------------

_IMPORTED = re.compile(r"(?:No module named|cannot import name) '([\w.]+)'(?: from '([\w.]+)')?")
_FROM = re.compile(r"\bfrom ([\w.]+) import\b")
"""Python before 3.7 does not say from where a name cannot be imported."""
_OF_NEW_OPTIMIZERS = re.compile(r"`?(?P<name>\w+)`? is deprecated in the new (?:TF-)?Keras optimizer")
"""The error since Keras 2.11."""


_READS_FILES = frozenset({"from_config", "deserialize_keras_object", "model_from_config"})


def missing_name(failure: FailureFacts, project: Project) -> str:
    """Return the name or argument that an exception is about if an older Keras had it; "" otherwise."""
    message, frame = failure.message, failure.last_user_frame
    if failure.type == "AttributeError" and any(_OF_KERAS_2.search(each.path) for each in failure.frames):
        return ""  # FIT901: the name was lost between two versions of Keras 2
    if unexpected_keyword(message) is not None:
        # While a file is read, it names the argument, not the program: FIT908.
        loads = not project and any(each.function in _READS_FILES for each in failure.frames)
        return "" if loads else _rejected_keyword(message, project)
    attribute = attribute_missing(message)
    if attribute is not None:
        if failure.frames and is_framework(failure.frames[-1].path):
            return ""  # Keras or TensorFlow itself reads the attribute: its version has the name
        if failure.type == "AttributeError" and attribute.name in _lost_by(attribute.owner):
            return attribute.name
        if _is_of_another_version(below_keras(attribute.owner), attribute.name):
            return ""  # FIT901
        return (
            attribute.name if "keras" in attribute.owner and _is_gone(attribute.owner, attribute.name) else ""
        )
    imported = _IMPORTED.search(message)
    if imported and failure.type in ("ImportError", "ModuleNotFoundError"):
        written = _FROM.search(frame.text) if frame is not None and not imported[2] else None
        owner = imported[2] or (written[1] if written else "")
        full = f"{owner}.{imported[1]}" if owner and "No module" not in message else imported[1]
        known = below_keras(full)
        # If Keras 3 has the name, something else was imported in its place: FIT907.
        home, _, name = known.rpartition(".")
        absent = known not in PUBLIC_NAMES and name not in PUBLIC_NAMES.get(home, ())
        # A name that no Keras had is a misspelling, or of a version that the table does not know: FIT901.
        return full if absent and (is_import_of_old_keras(home, name) or changed_module(known)) else ""
    if failure.type == "ImportError" and "is not supported in Keras 3" in message:
        return message.split("`")[1] if "`" in message else "legacy"
    if changed := _OF_NEW_OPTIMIZERS.match(message):
        return changed["name"]
    if "`save_format` argument is deprecated" in message:
        return "save_format"
    if "argument `reduction`" in message and message.rstrip().endswith("reduction=auto"):
        return "auto"
    key = message.strip().strip("'\"")
    # In a callback, `logs` lacks the key: FIT322.
    last = frame or (failure.frames[-1] if failure.frames else None)
    in_callback = last is not None and last.function.startswith("on_")
    return key if failure.type == "KeyError" and key in changes("history") and not in_callback else ""


_OF_KERAS_2 = re.compile(r"\btensorflow(?:_core)?[/\\]python[/\\]keras\b|\bkeras[/\\](?:src[/\\])?engine\b")
"""Where only Keras 2 and older versions keep their modules."""
_KERAS_3 = re.compile(r"^keras\.(?:_tf_keras\.keras|api(?!\._v))\.")
"""Where only Keras 3 keeps its modules."""


def _is_gone(owner: str, name: str) -> bool:
    """Whether a module is of Keras 3, or an older one had the name; otherwise it may be misspelled or newer."""
    return bool(_KERAS_3.match(owner)) or is_import_of_old_keras(owner, name)


def _is_of_another_version(owner: str, name: str) -> bool:
    """Whether the installed Keras is not Keras 3: it lacks a name of Keras 3, or has a module that Keras 3 lacks."""
    return name in PUBLIC_NAMES.get(owner, ()) or ".experimental" in owner and owner not in PUBLIC_NAMES


def _rejected_keyword(message: str, project: Project) -> str:
    keyword = unexpected_keyword(message)
    assert keyword is not None
    if keyword.function and project:
        wanted = f"{keyword.owner}.{keyword.function}" if keyword.owner else keyword.function
        if any(each.qualname == wanted for module in project.modules for each in module.functions):
            return ""  # the program's own function
    found = changes_of_argument(keyword.name)
    fitting = [change for change in found if _may_be(change, keyword)]
    # Only some classes of Keras 3 lost this argument, and the message does not say which class was called.
    if not keyword.owner and keyword.name == "input_shape":
        return ""
    return keyword.name if fitting else ""


def _may_be(change: Change, keyword: UnexpectedKeyword) -> bool:
    """Return whether a changed argument may be the one that a message names.

    What Keras 3 removed, all its classes reject. A word that Keras 1 used may be an argument of another class.
    """
    called = change.owner.rpartition(".")[2]
    if keyword.function not in ("", "__init__"):
        return called == keyword.function
    if keyword.owner and not any(keyword.owner in names for names in PUBLIC_NAMES.values()):
        return called == keyword.owner  # a class of another library, or one that Keras no longer has
    if change.since == "3" or called in (keyword.owner, "fit"):
        return True
    return not keyword.owner and ("_" in change.name or change.name in ("init", "subsample"))


def _kind_of_class(cls: str) -> str:
    """Return the kind of a Keras class by its name in a message; "" for others and for models."""
    return next((kind for kind in OWNERS[1:] if cls in PUBLIC_NAMES[f"keras.{kind.lower()}s"]), "")


def _lost_by(cls: str) -> frozenset[str]:
    """Return the attributes that Keras 3 removed from a class, by its name."""
    kind = _kind_of_class(cls)
    if kind:
        return frozenset(changes("attribute", kind))
    # A custom class: names that only Keras 2 models and optimizers had.
    return frozenset(
        (*changes("attribute", "Model"), "lr", "minimize", "compute_gradients", "aggregate_gradients")
    )


# --- arguments of Keras 1 ---------------------------------------------------------------------------------------------

_OF_LAYER = re.compile(
    r"keyword arguments passed to (?P<passed>\w+): \{|(?P<made>\w+)\.__init__\(\) missing \d+ required"
)
_WORDS = ("missing", "keyword arguments passed to", "Keyword argument not understood")


def keras_1_call(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report a layer or model called the Keras 1 way, by the argument that is missing now."""
    frame = failure.last_user_frame
    if frame is None or failure.type not in ("TypeError", "ValueError"):
        return
    if not any(each in failure.message for each in _WORDS):
        return
    module = module_of(project, frame)
    if module is not None:
        for found in rejected_arguments(module, frame):
            if "since Keras 2" in found.message:
                yield replace(found, confidence=Confidence.CERTAIN)
                return
    elif not project:
        for kind, change in _keras_1_in_text(failure, frame):
            yield CAUSE.certain(
                f"`{kind}` no longer has an argument `{change.name}`",
                frame.location,
                Evidence("Keras rejected the argument", change.name, change.new),
                fix(f"use `{change.new}`"),
                subject=f"name {change.name}",
            )
            return


def _keras_1_in_text(failure: FailureFacts, frame: Frame) -> Iterator[tuple[str, Change]]:
    """Return the class and its Keras 1 arguments that the message or the quoted line names, in their order."""
    said = _OF_LAYER.search(failure.message)
    kind = (said["passed"] or said["made"]) if said is not None else ""
    owner = "keras.Model" if kind in ("Model", "Functional") else f"keras.layers.{kind}"
    changed = changes("argument", owner)
    for word in re.findall(r"'(\w+)':|[ (](\w+)=", f"{failure.message} {frame.text}"):
        change = changed.get(word[0] or word[1])
        if change is not None and change.since == "2" and change.new:
            yield kind, change
