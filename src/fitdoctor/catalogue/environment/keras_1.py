"""Keras 1 calls: which arguments of a layer or model predate Keras 2, and the edits that update them."""

from __future__ import annotations

import ast

from fitdoctor.catalogue.environment.keras_renames import keras_1_arguments
from fitdoctor.diagnosis import Confidence, Edit, Evidence
from fitdoctor.edits import fix, rename_argument
from fitdoctor.patterns import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fitdoctor.catalogue import Cause
    from fitdoctor.diagnosis import Finding
    from fitdoctor.facts import Argument, Code, FailureFacts, Frame
    from fitdoctor.source.module import CallSite, Module

_REFUSED = pattern(
    r"keyword arguments passed to (?P<passed>\w+): \{|(?P<made>\w+)\.__init__\(\) missing \d+ required"
)


def arguments_of_keras_1(module: Module, site: CallSite) -> list[tuple[Argument, str]]:
    """Return the arguments of a call that only Keras 1 had, with their current names."""
    known = keras_1_arguments(site.name)
    if not known or not any(keyword.arg in known for keyword in site.node.keywords):
        return []
    return [(each, known[each.name]) for each in module.code(site.node).arguments if each.name in known]


def renamed(module: Module, site: CallSite) -> tuple[Edit, ...]:
    """Return edits for the whole call with current names; none if it needs more than renaming."""
    code = module.code(site.node)
    arguments = arguments_of_keras_1(module, site)
    if any(argument.name in ("nb_row", "nb_col") for argument, _new in arguments):
        return ()
    edits = [edit for argument, new in arguments for edit in rename_argument(code, argument.name, new)]
    return (*edits, *_kernel_size(module, site, code))


def _kernel_size(module: Module, site: CallSite, code: Code) -> tuple[Edit, ...]:
    """Group the kernel size in `Convolution2D(8, 3, 3)`, whose third argument is now the strides."""
    positional = site.node.args
    if "Conv" not in site.name or "2D" not in site.name or len(positional) != 3:
        return ()
    rows, columns = positional[1:]
    if not all(isinstance(each, ast.Constant) and isinstance(each.value, int) for each in (rows, columns)):
        return ()
    first, last = code.arguments[1].location, code.arguments[2].location
    from fitdoctor.records import replace

    span = replace(first, end_line=last.end_line, end_column=last.end_column)
    return (Edit(span, f"({module.segment(rows)}, {module.segment(columns)})"),)


def refused_in_words(cause: Cause, failure: FailureFacts, frame: Frame) -> Iterator[Finding]:
    """Report the argument from text alone, as named in the message or the quoted line."""
    said = _REFUSED.search(failure.message)
    kind = (said["passed"] or said["made"]) if said is not None else ""
    older = keras_1_arguments("keras.Model" if kind in ("Model", "Functional") else f"keras.layers.{kind}")
    for old, new in older.items():
        if f"'{old}':" in failure.message or f" {old}=" in frame.text or f"({old}=" in frame.text:
            yield cause.finding(
                f"`{kind}` no longer has an argument `{old}`",
                subject=f"name {old}",
                location=frame.location,
                evidence=[
                    Evidence(
                        claim="Keras rejected the argument",
                        observed=old,
                        expected=new,
                        fact="failure.message",
                    )
                ],
                fixes=[fix(f"use `{new}`")],
                confidence=Confidence.CERTAIN,
            )
            return
