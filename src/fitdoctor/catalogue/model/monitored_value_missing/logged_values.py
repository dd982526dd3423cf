"""Reads of `logs` in custom callbacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from fitdoctor.facts import FailureFacts
from fitdoctor.records import dataclass
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

_AT_EPOCHS = ("on_epoch_end", "on_train_end")
_AT_BATCHES = ("on_batch_end", "on_train_batch_end", "on_train_batch_begin", "on_batch_begin")
OF_NONE = re.compile(r"NoneType")


@dataclass(frozen=True, eq=False)
class LoggedRead:
    """`logs["name"]` or `logs.get("name")` in a method that Keras calls."""

    module: Module
    function: FunctionInfo
    node: ast.expr
    """The whole read expression."""
    key: ast.Constant

    @property
    def name(self) -> str:
        """The name of the value read."""
        return str(self.key.value)

    @property
    def with_validation(self) -> bool:
        """Whether `logs` may contain validation values."""
        return self.function.name in _AT_EPOCHS

    @property
    def raises(self) -> bool:
        """Whether the read of a missing value raises: a `KeyError`, or arithmetic with None."""
        if self._is_guarded:
            return False
        if isinstance(self.node, ast.Subscript):
            return True
        parent = self.module.parent(self.node)
        if isinstance(parent, ast.Compare):
            return not any(isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) for op in parent.ops)
        return isinstance(parent, ast.BinOp) and not isinstance(parent.op, ast.Mod)

    @property
    def _is_guarded(self) -> bool:
        """Whether the method checks first (it mentions the value elsewhere) or catches the exception."""
        body = list(ast.walk(self.function.node))
        named = [node for node in body if isinstance(node, ast.Constant) and node.value == self.name]
        return len(named) > 1 or any(isinstance(node, ast.Try) for node in body)


def logged_reads(module: Module) -> Iterator[LoggedRead]:
    """Yield the reads of `logs` in a file's callbacks."""
    for node in module.nodes(ast.Subscript):
        if isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant):
            yield from _read(module, node, node.value, node.slice)
    for call in module.method_calls("get"):
        function = call.node.func
        if len(call.node.args) == 1 and isinstance(function, ast.Attribute):
            key = call.node.args[0]
            if isinstance(key, ast.Constant):
                yield from _read(module, call.node, function.value, key)


def _read(module: Module, node: ast.expr, holder: ast.expr, key: ast.Constant) -> Iterator[LoggedRead]:
    function = module.function_of(node)
    if function is None or not isinstance(key.value, str) or not isinstance(holder, ast.Name):
        return
    owner = function.owner
    known = function.name in _AT_EPOCHS + _AT_BATCHES and owner is not None and owner.kind == "Callback"
    if known and function.parameters and function.parameters[-1] == holder.id:
        yield LoggedRead(module, function, node, key)


@lru_cache(maxsize=8)
def writes_logs(project: Project) -> bool:
    """Whether a callback of the program adds values to `logs`."""
    return any(
        isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "logs"
        for module in project.modules
        for node in module.nodes(ast.Subscript)
    ) or any("logs.update(" in module.text or "logs.setdefault(" in module.text for module in project.modules)


def failed_read(failure: FailureFacts, project: Project) -> LoggedRead | None:
    """Return the read that raised: a missing key, or arithmetic with None."""
    from fitdoctor.failure.failed_line import at_frame, module_of

    frame = failure.last_user_frame
    module = module_of(project, frame) if frame is not None else None
    if frame is None or module is None:
        return None
    if failure.type not in ("KeyError", "TypeError", "ValueError"):
        return None
    if failure.type != "KeyError" and not OF_NONE.search(failure.message):
        return None
    reads = [read for read in logged_reads(module) if read.function.name == frame.function]
    here = [read for read in reads if at_frame(module, read.node, frame)]
    if not here:
        # `acc = logs.get("acc")` on one line and `if acc > 0.9` on a later one.
        here = [read for read in reads if _is_used_at(module, read, frame.line)]
    if failure.type == "KeyError":
        here = [read for read in here if repr(read.name) in failure.message]
    return here[0] if len(here) == 1 else None


def _is_used_at(module: Module, read: LoggedRead, line: int) -> bool:
    statement = module.statement(read.node)
    if not isinstance(statement, ast.Assign) or statement.value is not read.node:
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return any(
        isinstance(node, ast.Name) and node.id in names and node.lineno == line
        for node in ast.walk(read.function.node)
    )
