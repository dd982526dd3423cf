"""A `call` that reads a missing key of its inputs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import module_of
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

_KEY = re.compile(r"['\"](?P<key>[^'\"]{1,80})['\"]: ['\"]?(?:tf\.Tensor|<tf|<KerasTensor|Tensor)")


def missing_key(cause: Cause, failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report an input key that a layer or model reads but does not receive."""
    frame = failure.last_user_frame
    asked = failure.message.strip().strip("'\"")
    if failure.type != "KeyError" or not failure.layer_class or frame is None or not asked:
        return
    for _name, text in failure.arguments[:1]:
        keys = [found["key"] for found in _KEY.finditer(text)]
        if not keys or asked in keys:
            return
        module = module_of(project, frame)
        read = _reads(module, asked, frame.line, frame.cell) if module is not None else None
        where = module.location(read.slice) if module is not None and read is not None else frame.location
        yield cause.finding(
            f"`{failure.layer_class}` reads the input `{asked}`, but receives {listing(keys)}",
            where,
            Evidence("keys of the inputs", ", ".join(keys), asked, fact="failure.arguments"),
            _renamed(asked, keys, Edit(where, f'"{_close(asked, keys)}"') if read is not None else None),
            subject="inputs of the model",
            confidence=Confidence.CERTAIN,
        )


def _reads(module: Module, key: str, line: int, cell: int | None) -> ast.Subscript | None:
    """Return the only `inputs["key"]` of a line."""
    found = [
        node
        for node in module.nodes(ast.Subscript)
        if isinstance(node.slice, ast.Constant)
        and node.slice.value == key
        and module.location(node).line <= line <= module.location(node).end_line
        and module.location(node).cell == cell
    ]
    return found[0] if len(found) == 1 else None


def _close(key: str, keys: list[str]) -> str:
    import difflib

    return next(iter(difflib.get_close_matches(key, keys, 1)), "")


def _renamed(key: str, keys: list[str], edit: Edit | None) -> Fix:
    close = _close(key, keys)
    if not close:
        return fix(f"add an input `{key}`, or read one of the existing keys")
    return fix(f"read `{close}`", (edit,) if edit is not None else ())
