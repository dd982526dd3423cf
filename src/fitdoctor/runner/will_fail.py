"""The exception that stops a program before a failing step, catchable as the exception that `fit` would raise."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable
from typing import Any

from fitdoctor.diagnosis import Diagnosis, Finding


class FitWillFail(Exception):
    """`fit` was not started, because it is proven that it would raise.

    The raised object is also an instance of the exception that `fit` would have raised, so a program that handles that
    exception handles this one.
    """

    __module__ = "fitdoctor"

    def __init__(self, message: str, diagnosis: Diagnosis | None = None) -> None:
        Exception.__init__(self, message)
        self.text = message
        self.diagnosis = diagnosis if diagnosis is not None else Diagnosis()
        """What was found."""

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        kinds = tuple(base.__name__ for base in type(self).__bases__ if base is not FitWillFail)
        return _made, (kinds if type(self) is not FitWillFail else (), self.text, self.diagnosis)


def will_fail(diagnosis: Diagnosis) -> FitWillFail:
    """Return the exception for a diagnosis whose first certain error is the reason to stop."""
    reasons = [finding for finding in diagnosis.findings if finding.stops]
    return _made(_raised_by(reasons[:1]), brief(reasons or diagnosis.findings), diagnosis)


def brief(findings: Iterable[Finding]) -> str:
    """Return findings in one line each, the first with its fix."""
    lines = []
    for number, finding in enumerate(findings):
        where = f" ({finding.location})" if finding.location else ""
        lines.append(f"{finding.id} {finding.slug}: {finding.message}{where}")
        if number == 0 and finding.fixes:
            lines.append(f"  help: {finding.fixes[0].title}")
    return "\n".join(lines)


def _raised_by(findings: Iterable[Finding]) -> tuple[str, ...]:
    from fitdoctor.catalogue import catalogue

    names: list[str] = []
    for finding in findings:
        cause = catalogue().get(finding.id)
        raises = cause.raises if cause is not None else None
        names.extend((raises,) if isinstance(raises, str) else raises or ())
    return tuple(dict.fromkeys(names))


def _made(kinds: tuple[str, ...], message: str, diagnosis: Diagnosis) -> FitWillFail:
    bases = [base for base in map(_exception_named, kinds) if base is not None]
    error = _class_of(tuple(bases))(message, diagnosis)
    for base in bases:
        if hasattr(base, "op"):  # TensorFlow's errors carry their operation; here there is none
            base.__init__(error, None, None, message)
    return error


def _class_of(bases: tuple[type[Exception], ...]) -> type[FitWillFail]:
    if not bases:
        return FitWillFail
    try:
        made: type[FitWillFail] = type(
            "FitWillFail", (FitWillFail, *bases), {"__module__": "fitdoctor", "__doc__": FitWillFail.__doc__}
        )
    except TypeError:  # bases that cannot be had together
        return _class_of(bases[:-1])
    return made


def _exception_named(name: str) -> type[Exception] | None:
    """Return the class, if the program has already loaded it."""
    found = getattr(builtins, name, None)
    if found is None:
        errors = sys.modules.get("tensorflow.python.framework.errors_impl")
        found = vars(errors).get(name) if errors is not None else None
    return found if isinstance(found, type) and issubclass(found, Exception) else None
