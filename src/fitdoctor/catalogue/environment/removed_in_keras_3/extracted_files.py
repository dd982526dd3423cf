"""Files that `get_file(extract=True)` has put elsewhere since Keras 3.6."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue.environment.removed_in_keras_3.entry import CAUSE
from fitdoctor.diagnosis import Edit, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.source.module import Module

NOT_THERE = re.compile(r"No such file or directory|Could not find directory|Is a directory|\bnot found\b")
"""What Python, TensorFlow and NumPy say of a path that is not there."""


def extracted_elsewhere(module: Module, failure: FailureFacts | None) -> Iterator[Finding]:
    """Find where the program looks beside the archive, whose path `get_file` returned."""
    if failure is None or module.keras != 3:
        return
    missing = failure.message.replace("\\", "/")
    for node, archive in _beside(module):
        made = _without_path(module, archive)
        if not isinstance(made, ast.Call) or not _extracts(module, made):
            continue
        stem = module.called(node) == "os.path.splitext"
        if not any(
            f"/{name.strip('/')}" in missing
            for name in _texts(made if stem else module.statement(node), stem)
        ):
            continue
        yield CAUSE.finding(
            "`get_file` extracts into a separate folder in Keras 3 and returns that folder, not the archive",
            module.location(node),
            Evidence("the archive is extracted here", location=module.location(made)),
            fix(
                "look for the extracted files inside the folder that `get_file` returns",
                () if stem else (Edit(module.location(node), module.segment(archive)),),
            ),
            subject="extracted files",
        )


def _beside(module: Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each expression for what is beside a path, and the path."""
    for site in module.calls_to("os.path.dirname", "os.path.splitext"):
        if len(site.node.args) == 1:
            yield site.node, site.node.args[0]
    for node in module.nodes(ast.Attribute):
        if node.attr == "parent":
            yield node, node.value


def _texts(node: ast.AST, stems: bool) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
            yield part.value.partition(".")[0] if stems else part.value


def _without_path(module: Module, expr: ast.expr) -> ast.expr:
    made = module.made_by(expr)
    if isinstance(made, ast.Call) and module.called(made) == "pathlib.Path" and len(made.args) == 1:
        return module.made_by(made.args[0])
    return made


def _extracts(module: Module, call: ast.Call) -> bool:
    """Return whether a call downloads an archive and extracts it."""
    if module.called(call) != "keras.utils.get_file":
        return False
    asked = {word.arg: word.value for word in call.keywords}
    return any(
        isinstance(value := asked.get(name), ast.Constant) and value.value is True
        for name in ("extract", "untar")
    )
