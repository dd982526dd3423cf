"""Turns a live exception into facts, without running anything again or changing the exception."""

from __future__ import annotations

import ast
import itertools
import linecache
import re
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType

from fitdoctor.facts import Code, FailureFacts, FailureSummary, Frame, HeldTensor, Unknown
from fitdoctor.failure.assemble import assemble, hides_another, passes_on, summary_of
from fitdoctor.failure.frames import frame_of, is_cell, is_library
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.running_notebook import columns_before, joined_line, notebook_path, notebook_source

_MOST_FRAMES = 600
"""For a runaway recursion, the first and last frames are enough."""
_MOST_EARLIER = 20

Positions = tuple[int | None, int | None, int | None, int | None]


def from_exception(exc: BaseException) -> FailureFacts:
    """Return the facts of an exception: its real message, its frames, and what it was raised from."""
    exc = _only_leaf(exc)
    readers = _Readers()
    earlier = tuple(_earlier(exc, readers))
    facts = replace(_facts(exc, readers, earlier), wrapped=_wrapped(exc), layers=_layers_before(exc))
    return replace(facts, held=_held(exc)) if speaks_of_symbolic(facts.message) else facts


def _wrapped(exc: BaseException, depth: int = 3) -> FailureFacts | None:
    """Return the exception that this one was raised from, if it adds information."""
    inner = _raised_from(exc)
    if inner is None or inner is exc or depth == 0 or not isinstance(inner, Exception):
        return None
    told = exc.__cause__ is not None or hides_another(message_of(exc))
    if not told and not passes_on(type(exc).__name__, message_of(exc), message_of(inner)):
        return None
    facts = replace(_facts(inner, _Readers()), wrapped=_wrapped(inner, depth - 1))
    return replace(facts, held=_held(inner)) if speaks_of_symbolic(facts.message) else facts


def speaks_of_symbolic(message: str) -> bool:
    """Whether a message is about a symbolic tensor used outside its graph."""
    return "is out of scope" in message or "SymbolicTensor" in message or "symbolic tf.Tensor" in message


def _held(exc: BaseException) -> tuple[HeldTensor, ...]:
    """Return the symbolic tensors reachable from the user's frames and modules, with the user's lines only."""
    from fitdoctor.failure.leaks import held_tensors, user_roots, with_user_lines

    try:
        return with_user_lines(held_tensors(user_roots(exc=exc)))
    # A boundary: the search visits user objects, and the failure must be reported in any case.
    except Exception:
        return ()


_REFUSED = re.compile(
    r"Input \d+ (?:with name '[^']*' )?of layer [\"'](?P<layer>[^\"']+)[\"'] is incompatible"
)


def _layers_before(exc: BaseException) -> tuple[str, ...]:
    """Return the layers before the one that rejected its input, from the model or tensor that the user's frame holds."""
    refused = _REFUSED.search(message_of(exc))
    if refused is None:
        return ()
    trace = exc.__traceback__
    users = []
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            users.append(trace.tb_frame)
        trace = trace.tb_next
    found = []
    for value in list(users[-1].f_locals.values()) if users else ():
        listed = getattr(value, "_layers", None) if type(value).__name__ == "Sequential" else None
        made = getattr(value, "_keras_history", None)
        if isinstance(listed, list) and listed and getattr(listed[-1], "name", "") == refused["layer"]:
            found.append([type(layer).__name__ for layer in reversed(listed[:-1])])
        elif made is not None and f"Full shape received: {tuple(value.shape)}" in message_of(exc):
            found.append([type(made.operation).__name__])
    return tuple(found[0]) if len(found) == 1 else ()


def _facts(exc: BaseException, readers: _Readers, earlier: tuple[FailureSummary, ...] = ()) -> FailureFacts:
    frames = tuple(_frames(exc.__traceback__, readers)) + _syntax_error_place(exc)
    facts = assemble(type(exc).__name__, message_of(exc), frames, earlier, from_text=False)
    return replace(
        facts,
        frames=tuple(_with_source_text(frame) for frame in facts.frames),
        definition=tuple(_with_source_text(frame) for frame in facts.definition),
        made_at=tuple(_with_source_text(frame) for frame in facts.made_at),
    )


def message_of(exc: BaseException) -> str:
    """Return the text of an exception, even if its `__str__` fails or shows the repr of its argument."""
    if isinstance(exc, KeyError) and len(exc.args) == 1 and isinstance(exc.args[0], str):
        text = exc.args[0]
        # A short key keeps its quotes, as Python prints it; a Keras message is not a key.
        return text if "\n" in text else repr(text)
    try:
        return str(exc)
    # The user's exception class may have any `__str__`.
    except Exception as error:
        return f"(message unavailable: {type(error).__name__})"


def _only_leaf(exc: BaseException) -> BaseException:
    """Unwrap an exception group with a single member."""
    for _ in range(_MOST_EARLIER):
        if not isinstance(exc, BaseExceptionGroup) or len(exc.exceptions) != 1:
            return exc
        exc = exc.exceptions[0]
    return exc


def _earlier(exc: BaseException, readers: _Readers) -> Iterator[FailureSummary]:
    seen = {id(exc)}
    current: BaseException | None = _raised_from(exc)
    while current is not None and id(current) not in seen and len(seen) <= _MOST_EARLIER:
        seen.add(id(current))
        yield summary_of(_facts(current, readers))
        current = _raised_from(current)


def _raised_from(exc: BaseException) -> BaseException | None:
    if exc.__cause__ is not None:
        return exc.__cause__
    # Keras filters its tracebacks, which hides the exception it was handling.
    hidden = exc.__suppress_context__ and not hides_another(message_of(exc))
    return None if hidden else exc.__context__


# --- frames -------------------------------------------------------------------------------------------------


def _frames(trace: TracebackType | None, readers: _Readers) -> Iterator[Frame]:
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    if len(entries) > _MOST_FRAMES:
        entries = entries[: _MOST_FRAMES // 3] + entries[-_MOST_FRAMES * 2 // 3 :]
    for entry in entries:
        yield _frame(entry, readers)


def _frame(entry: TracebackType, readers: _Readers) -> Frame:
    code = entry.tb_frame.f_code
    path, line = code.co_filename, entry.tb_lineno or code.co_firstlineno
    frame = frame_of(path, line, code.co_name, linecache.getline(path, line).strip())
    if frame.library:
        return frame
    return replace(_with_source_text(frame), code=readers.code_at(path, _positions(code, entry.tb_lasti)))


def call_under_way(frame: FrameType) -> Code | Unknown:
    """Return the call in progress in one of the user's live frames."""
    return _Readers().code_at(frame.f_code.co_filename, _positions(frame.f_code, frame.f_lasti))


def _positions(code: CodeType, instruction: int) -> Positions:
    if instruction < 0:
        return (None, None, None, None)
    found = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    return found or (None, None, None, None)


def _with_source_text(frame: Frame) -> Frame:
    if frame.text or frame.line < 1:
        return frame
    text = linecache.getline(frame.path, frame.line) if frame.cell is None else _cell_line(frame)
    return replace(frame, text=text.strip()) if text.strip() else frame


def _cell_line(frame: Frame) -> str:
    from fitdoctor.source.running_notebook import cells_run

    cells = cells_run()
    lines = cells[frame.cell - 1].split("\n") if frame.cell and frame.cell <= len(cells) else []
    return lines[frame.line - 1] if frame.line <= len(lines) else ""


def _syntax_error_place(exc: BaseException) -> tuple[Frame, ...]:
    """Return where the parser stopped, which no traceback frame shows."""
    if not isinstance(exc, SyntaxError) or not exc.filename or not exc.lineno:
        return ()
    return (frame_of(exc.filename, exc.lineno, "", (exc.text or "").strip()),)


# --- the call under way -------------------------------------------------------------------------------------


class _Readers:
    """The parsed sources of the frames' files, each read once."""

    def __init__(self) -> None:
        self._modules: dict[str, Module | Unknown] = {}

    def code_at(self, path: str, positions: Positions) -> Code | Unknown:
        """Return the expression that an instruction belongs to."""
        if None in positions:
            return Unknown("the interpreter recorded no positions")
        path, positions = in_notebook(path, positions)
        if path not in self._modules:
            self._modules[path] = _module_of(path)
        module = self._modules[path]
        if isinstance(module, Unknown):
            return module
        node = _node_at(module.tree, positions)
        return Unknown("no expression at that position") if node is None else module.code(node)


def in_notebook(path: str, positions: Positions) -> tuple[str, Positions]:
    """Translate a span in a cell to one in all cells joined; return others unchanged."""
    line, end_line = positions[0], positions[1]
    if not is_cell(path) or line is None or end_line is None:
        return path, positions
    joined = joined_line(path, line)
    if joined is None:
        return path, positions
    shift = columns_before(path)
    start, end = (None if column is None else column + shift for column in positions[2:])
    return notebook_path(), (joined, joined + end_line - line, start, end)


def _module_of(path: str) -> Module | Unknown:
    from fitdoctor.source.module import Module
    from fitdoctor.source.read import SourceError, source_from_text

    facts = notebook_source() if path == notebook_path() else None
    lines = linecache.getlines(path) if facts is None else []
    if facts is None and not lines:
        return Unknown("the source is not available")
    try:
        return Module(facts or source_from_text("".join(lines), path))
    except (SourceError, SyntaxError, RecursionError) as error:
        return Unknown(f"the source could not be read: {error}")


def _node_at(tree: ast.AST, positions: Positions) -> ast.expr | None:
    """Return the call at exactly these positions, else the smallest enclosing call that ends there."""
    line, end_line, column, end_column = positions
    best: ast.expr | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or (node.end_lineno, node.end_col_offset) != (end_line, end_column):
            continue
        start = (node.lineno, node.col_offset)
        if start == (line, column) and isinstance(node, ast.Call):
            return node
        # Python reports a multi-line method call as starting at its attribute.
        if start <= (line or 0, column or 0) and (best is None or start > (best.lineno, best.col_offset)):
            best = node
    return best
