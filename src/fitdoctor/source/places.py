"""Locations of nodes in the user's text: characters, cells, parentheses, and where an import can be inserted."""

from __future__ import annotations

import ast
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from fitdoctor.diagnosis import Location
from fitdoctor.facts import Argument, Code, SourceFacts
from fitdoctor.records import replace
from fitdoctor.source.read import cell_starts

if TYPE_CHECKING:
    from fitdoctor.source.module import Module

_KERAS_PARTS = (
    "layers ops losses metrics optimizers callbacks utils backend models regularizers initializers".split()
)
Span = tuple[int, int]


class Places:
    """Converts positions of `ast` (lines and UTF-8 bytes) into characters of the text."""

    def __init__(self, facts: SourceFacts) -> None:
        self._facts = facts
        self.lines = facts.text.split("\n")
        self._ascii = facts.text.isascii()
        self._cells = None if facts.cells is None else cell_starts(facts.cells)

    @cached_property
    def _offsets(self) -> list[int]:
        """The character offset at which each line starts."""
        offsets, offset = [], 0
        for line in self.lines:
            offsets.append(offset)
            offset += len(line) + 1
        return offsets

    def column(self, line: int, byte: int) -> int:
        """The character column (from 0) of a byte column."""
        if self._ascii or not 1 <= line <= len(self.lines):
            return byte
        text = self.lines[line - 1]
        if text.isascii():
            return byte
        return len(text.encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore"))

    def span(self, node: ast.AST) -> Span:
        """Return the start and end of a node as character offsets of the text."""
        line, end_line = _line(node), _end_line(node)
        start = self.offset(line, self.column(line, getattr(node, "col_offset", 0)))
        end = self.offset(end_line, self.column(end_line, getattr(node, "end_col_offset", None) or 0))
        return start, max(start, end)

    def offset(self, line: int, column: int) -> int:
        """The offset in the text of a line (from 1) and a character column (from 0)."""
        line = min(max(line, 1), len(self.lines))
        # Python 3.11 misplaces nodes inside some f-strings: keep them on their line.
        return self._offsets[line - 1] + min(column, len(self.lines[line - 1]))

    def between(self, start: int, end: int) -> Location:
        """The location of a span of offsets."""
        line, column = self._at(start)
        end_line, end_column = self._at(end)
        return self._located(line, column, end_line, end_column)

    def _at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._offsets, offset)
        return line, offset - self._offsets[line - 1]

    def of(self, node: ast.AST) -> Location:
        """The location of a node."""
        if not hasattr(node, "lineno"):
            return (
                self._located(1, 0, 1, 0)
                if not hasattr(node, "body")
                else self.between(0, len(self._facts.text))
            )
        line, end_line = _line(node), _end_line(node)
        return self._located(
            line,
            self.column(line, getattr(node, "col_offset", 0)),
            end_line,
            self.column(end_line, getattr(node, "end_col_offset", None) or 0),
        )

    def _located(self, line: int, column: int, end_line: int, end_column: int) -> Location:
        cell = None
        if self._cells:
            cell = bisect_right(self._cells, line)
            shift = self._cells[cell - 1] - 1
            line, end_line = line - shift, end_line - shift
        return Location(self._facts.path, line, column + 1, end_line, end_column + 1, cell)

    def of_line(self, line: int) -> Location:
        """Return the zero-width location at the start of a line of the text."""
        return self._located(line, 0, line, 0)

    def same_cell(self, line: int, other: int) -> bool:
        """Whether both lines exist and belong to the same cell."""
        if other > len(self.lines):
            return False
        return not self._cells or bisect_right(self._cells, line) == bisect_right(self._cells, other)

    # --- parentheses ----------------------------------------------------------------------------------------------

    def skip(self, position: int, also: str = "") -> int:
        """Return the first offset from `position` that is not space, comment, line continuation or one of `also`."""
        text = self._facts.text
        while position < len(text):
            character = text[position]
            if character == "#":
                position = text.find("\n", position)
                if position < 0:
                    return len(text)
            elif character not in " \t\n\f\\" and character not in also:
                break
            position += 1
        return position

    def parentheses(self, call: ast.Call) -> Span | None:
        """The offsets right after a call's opening and right before its closing parenthesis."""
        text = self._facts.text
        _, after_function = self.span(call.func)
        opening = self.skip(after_function, also=")")
        _, end = self.span(call)
        if opening >= end or text[opening] != "(" or text[end - 1] != ")":
            return None
        return opening + 1, end - 1

    def parenthesised(self, start: int, end: int, floor: int, ceiling: int) -> Span:
        """Return the span widened by the parentheses around it, within floor and ceiling."""
        text = self._facts.text
        while True:
            close = self.skip(end)
            if close >= ceiling or text[close] != ")":
                return start, end
            opening = start - 1
            while opening >= floor and text[opening] in " \t\n\f":
                opening -= 1
            if opening < floor or text[opening] != "(":
                return start, end
            start, end = opening, close + 1


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)


def _end_line(node: ast.AST) -> int:
    return getattr(node, "end_lineno", None) or _line(node)


# --- Code ---------------------------------------------------------------------------------------------------------


def code_of(module: Module, node: ast.AST) -> Code:
    """Return a piece of the source with everything that edits need to know about it."""
    places = module.places
    start, end = places.span(node)
    code = Code(
        location=places.of(node),
        text=module.text[start:end],
        spellings=module.spellings,
        import_at=module.import_at,
    )
    if isinstance(node, ast.Call):
        code = _with_call(module, node, code)
    statement = _line_statement(module, node)
    if statement is None:
        return code
    around = module.function_of(statement)
    return replace(
        code,
        function=around.qualname if around is not None else "",
        statement=_statement_span(module, statement),
        indent=_indent(module, statement),
        target=_target(module, node),
    )


def _with_call(module: Module, node: ast.Call, code: Code) -> Code:
    places = module.places
    inner = places.parentheses(node)
    name = module.resolve(node.func)
    if inner is None:
        return replace(code, name=name)
    return replace(
        code,
        name=name,
        arguments=_arguments(module, node, inner),
        open_paren_end=places.between(inner[0], inner[0]),
        close_paren=places.between(inner[1], inner[1]),
    )


def _arguments(module: Module, node: ast.Call, inner: Span) -> tuple[Argument, ...]:
    places, text = module.places, module.text
    found: list[tuple[Span, Span, str]] = []
    for value in node.args:
        start, end = places.span(value)
        # A lone generator's span is the call's own parentheses.
        if isinstance(value, ast.GeneratorExp) and start < inner[0]:
            start, end = inner
        found.append(((start, end), (start, end), "*" if isinstance(value, ast.Starred) else ""))
    for keyword in node.keywords:
        found.append((places.span(keyword.value), places.span(keyword), keyword.arg or "**"))
    found.sort()
    arguments, floor = [], inner[0]
    for span, whole, name in found:
        wide = whole if name.strip("*") else places.parenthesised(*whole, floor, inner[1])
        floor = wide[1]
        arguments.append(
            Argument(name, text[span[0] : span[1]], places.between(*span), places.between(*wide))
        )
    return tuple(arguments)


def _line_statement(module: Module, node: ast.AST) -> ast.stmt | None:
    """Return the statement that lines can be inserted around; an `elif` belongs to its `if`."""
    statement = module.statement(node) if isinstance(node, ast.stmt) or module.parent(node) else None
    while isinstance(statement, ast.If):
        parent = module.parent(statement)
        if not (isinstance(parent, ast.If) and parent.orelse == [statement]):
            break
        start, _ = module.places.span(statement)
        if not module.text.startswith("elif", start):
            break
        statement = parent
    return statement


def _statement_span(module: Module, statement: ast.stmt) -> Location | None:
    """Return the span of the statement; None if no line can be inserted before it."""
    places = module.places
    start, end = places.span(statement)
    if (
        isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and statement.decorator_list
    ):
        first = statement.decorator_list[0].lineno
        start = places.offset(first, len(_indent(module, statement)))
    line = module.text[module.text.rfind("\n", 0, start) + 1 : start]
    if line.strip() and not line.rstrip().endswith(";"):
        return None  # the body of `if x: y` on one line
    if _head_of_line(line):
        return None
    return places.between(start, end + len(comment_behind(module.text, end)))


def comment_behind(text: str, end: int) -> str:
    """Return the comment after a statement on its last line, which belongs to the statement."""
    line_end = text.find("\n", end)
    rest = text[end : len(text) if line_end < 0 else line_end].rstrip()
    return rest if rest.lstrip().startswith("#") else ""


def _head_of_line(before: str) -> bool:
    """Whether the text before a statement on its line opens a block: `for x in y: a(); b()`."""
    return before.lstrip().startswith(
        ("if ", "for ", "while ", "with ", "else:", "elif ", "try:", "def ", "class ", "finally:", "except")
    )


def _indent(module: Module, statement: ast.stmt) -> str:
    line = module.places.lines[statement.lineno - 1] if statement.lineno <= len(module.places.lines) else ""
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def _target(module: Module, node: ast.AST) -> str:
    """Return what the statement (or a walrus, or `with … as`) assigns exactly this piece to."""
    parent = module.parent(node)
    target: ast.AST | None = None
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
    elif isinstance(parent, (ast.AnnAssign, ast.NamedExpr)) and parent.value is node:
        target = parent.target
    elif isinstance(parent, ast.withitem) and parent.context_expr is node:
        target = parent.optional_vars
    if isinstance(target, (ast.Name, ast.Attribute)):
        return module.segment(target)
    return ""


# --- imports ------------------------------------------------------------------------------------------------------


def spellings_of(module: Module) -> tuple[tuple[str, str], ...]:
    """Return how the file names libraries and what it imports from them, canonical names first."""
    found: dict[str, str] = {}
    for local, nodes in module.index.module.bindings.items():
        for node in nodes:
            if isinstance(node, ast.alias) and node.name != "*":
                name = module.imported(node)
                if name and not name.startswith("."):
                    found.setdefault(name, local)
                above = module.parent(node)
                if isinstance(above, ast.ImportFrom) and (above.module or "").startswith("tensorflow.keras"):
                    # What a further import of Keras has to be taken from.
                    found.setdefault("tensorflow.keras", "keras")
    if "keras" not in found and "tensorflow" in found:
        found["keras"] = found["tensorflow"] + ".keras"
    if "keras" in found:
        for part in _KERAS_PARTS:
            found.setdefault(f"keras.{part}", f"{found['keras']}.{part}")
    return tuple(found.items())


def import_place(module: Module) -> Location | None:
    """Return the start of a line where an import can be inserted: after the imports at the top of the file."""
    head: ast.stmt | None = None
    following: ast.stmt | None = None
    for statement in module.tree.body:
        following = statement
        if _is_import(statement) or _is_docstring(statement) or _holds_imports(statement):
            head = statement
        elif not _prepares_imports(statement):
            break
    places = module.places
    if head is None:
        if following is None:
            return None
        return places.of_line(module.tree.body[0].lineno)
    last = head.end_lineno or head.lineno
    index = module.tree.body.index(head)
    after = module.tree.body[index + 1] if index + 1 < len(module.tree.body) else None
    if after is not None and after.lineno <= last:
        return None  # `import a; b()` on one line
    if places.same_cell(last, last + 1):
        return places.of_line(last + 1)
    return None if _is_docstring(head) else places.of_line(head.lineno)


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _holds_imports(statement: ast.stmt) -> bool:
    if not isinstance(statement, (ast.Try, ast.If)):
        return False
    return any(_is_import(inner) for inner in statement.body)


def _prepares_imports(statement: ast.stmt) -> bool:
    """Whether a statement between imports sets environment variables, warning filters or paths."""
    if isinstance(statement, ast.Pass):  # a blanked magic
        return True
    if isinstance(statement, ast.Assign):
        return isinstance(statement.targets[0], ast.Subscript) and isinstance(statement.value, ast.Constant)
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and all(isinstance(argument, ast.Constant) for argument in statement.value.args)
    )
