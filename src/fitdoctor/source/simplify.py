"""Rewrites an edit into what a person would write: no `(1 + x) - 1`, no cast of a cast, no needless parentheses."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from fitdoctor.diagnosis import Applicability, Edit, Fix, Location
from fitdoctor.facts import SourceFacts
from fitdoctor.records import dataclass, replace
from fitdoctor.source.places import Places
from fitdoctor.source.read import SourceError, parse

ReadLine = Callable[[Location], str | None]
"""Returns the text of a location's first line, or None."""
Span = tuple[int, int]
_Hunk = tuple[int, int, str]
"""Replaces the characters from the first to the second offset of the old text."""

_MOST_STEPS = 20
_MOST_LINES = 20_000


def simplified(fix: Fix, read_line: ReadLine) -> Fix:
    """Return the fix with every edited expression in its simplest form.

    Args:
        fix: the fix; its edits are replaced only where something can be simplified.
        read_line: returns lines of the source as it is now.
    """
    groups: dict[tuple[str, int | None], list[Edit]] = {}
    for edit in fix.edits:
        groups.setdefault((edit.location.path, edit.location.cell), []).append(edit)
    edits: list[Edit] = []
    for group in groups.values():
        text = _text_of(group[0].location, read_line)
        edits += group if text is None else _without_idle_imports(group, simplified_edits(text, group))
    if edits == list(fix.edits):
        return fix
    return replace(
        fix, edits=tuple(edits), applicability=fix.applicability if edits else Applicability.DISPLAY
    )


def _without_idle_imports(before: Sequence[Edit], after: list[Edit]) -> list[Edit]:
    """Leave out imports that the edits needed before they were simplified."""
    return [
        edit
        for edit in after
        if (name := _imported_name(edit)) is None
        or not any(_mentions(other, name) for other in before if other != edit)
        or any(_mentions(other, name) for other in after if other != edit)
    ]


def _imported_name(edit: Edit) -> str | None:
    """Return the name that an inserted import binds; None for other edits."""
    words = edit.replacement.split()
    starts = words[:1] in (["import"], ["from"]) and edit.replacement.count("\n") == 1
    return words[-1] if starts and edit.replacement.endswith("\n") else None


def _mentions(edit: Edit, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", edit.replacement) is not None


def simplified_edits(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """Return edits of one text with the same effect in fewer words; the same edits where there is nothing to simplify."""
    places = Places(SourceFacts("", text))
    try:
        hunks = sorted({_hunk(places, edit) for edit in edits})
        simpler = _simplified_hunks(text, hunks)
    except (ValueError, SourceError, RecursionError):
        return list(edits)
    if simpler == hunks:
        return list(edits)
    trimmed = [_trimmed(text, hunk) for hunk in simpler]
    changes = [hunk for hunk in trimmed if text[hunk[0] : hunk[1]] != hunk[2]]
    return [_edit(places, edits[0].location, hunk) for hunk in changes]


def _text_of(location: Location, read_line: ReadLine) -> str | None:
    lines: list[str] = []
    while len(lines) < _MOST_LINES:
        line = read_line(Location(location.path, len(lines) + 1, cell=location.cell))
        if line is None:
            break
        lines.append(line)
    return "\n".join(lines) if lines else None


def _hunk(places: Places, edit: Edit) -> _Hunk:
    place = edit.location
    count = len(places.lines)
    if not 1 <= place.line <= place.end_line <= count + 1:
        raise ValueError("outside the text")
    start = places.offset(place.line, place.column - 1) if place.line <= count else _end(places)
    end = places.offset(place.end_line, place.end_column - 1) if place.end_line <= count else _end(places)
    return start, end, edit.replacement


def _end(places: Places) -> int:
    return places.offset(len(places.lines), len(places.lines[-1]))


def _edit(places: Places, model: Location, hunk: _Hunk) -> Edit:
    start, end, replacement = hunk
    span = places.between(start, end)
    return Edit(replace(span, path=model.path, cell=model.cell), replacement)


def _trimmed(text: str, hunk: _Hunk) -> _Hunk:
    """Remove from a hunk what it does not change, in whole words."""
    start, end, replacement = hunk
    old = text[start:end]
    front = 0
    while front < min(len(old), len(replacement)) and old[front] == replacement[front]:
        front += 1
    while front and _within_word(old, front):
        front -= 1
    back = 0
    while back < min(len(old), len(replacement)) - front and old[-1 - back] == replacement[-1 - back]:
        back += 1
    while back and (_within_word(old, len(old) - back) or _within_word(replacement, len(replacement) - back)):
        back -= 1
    return start + front, end - back, replacement[front : len(replacement) - back]


def _within_word(text: str, position: int) -> bool:
    pair = text[position - 1 : position + 1]
    return len(pair) == 2 and all(letter.isalnum() or letter == "_" for letter in pair)


# --- the loop -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Written:
    """The text with the hunks applied, and which parts of it they wrote."""

    text: str
    regions: tuple[Span, ...]
    replaced: tuple[str, ...]
    """The text that was there before; the user's own style is left alone."""

    def touches(self, span: Span) -> bool:
        """Whether a hunk wrote something inside the span, or removed something from it."""
        return any(start <= span[1] and span[0] <= end for start, end in self.regions)

    def wrote(self, position: int) -> bool:
        """Whether a hunk wrote the character."""
        return any(start <= position < end for start, end in self.regions)


def _written(text: str, hunks: Sequence[_Hunk]) -> _Written:
    parts: list[str] = []
    regions: list[Span] = []
    position = length = 0
    replaced = tuple(text[start:end] for start, end, _replacement in hunks)
    for start, end, replacement in hunks:
        if start < position:
            raise ValueError("edits overlap")
        parts += [text[position:start], replacement]
        length += start - position
        regions.append((length, length + len(replacement)))
        length += len(replacement)
        position = end
    return _Written("".join([*parts, text[position:]]), tuple(regions), replaced)


def _simplified_hunks(text: str, hunks: list[_Hunk]) -> list[_Hunk]:
    for _step in range(_MOST_STEPS):
        written = _written(text, hunks)
        if not any(start < end for start, end in written.regions) and not _assigns_itself(written):
            return hunks
        rewrite = _next_rewrite(written)
        if rewrite is None:
            return hunks
        hunks = _merged(hunks, written, rewrite)
    return hunks


def _assigns_itself(written: _Written) -> bool:
    """Whether a line from which something was removed may now say `x = x`."""
    for start, _end in written.regions:
        line = written.text[written.text.rfind("\n", 0, start) + 1 :].split("\n", 1)[0]
        left, equals, right = line.partition("=")
        if equals and left.strip() == right.split("#")[0].strip():
            return True
    return False


def _merged(hunks: list[_Hunk], written: _Written, rewrite: _Hunk) -> list[_Hunk]:
    """Apply a rewrite of the new text, as hunks of the old one."""
    start, end, replacement = rewrite
    before: list[_Hunk] = []
    after: list[_Hunk] = []
    inside: list[tuple[_Hunk, Span]] = []
    for hunk, region in zip(hunks, written.regions, strict=True):
        if region[1] < start or (region[1] == start and region[0] < region[1]):
            before.append(hunk)
        elif region[0] > end or (region[0] == end and region[0] < region[1]):
            after.append(hunk)
        else:
            inside.append((hunk, region))
    # How far the new text has moved against the old one, in front of the rewrite and behind it.
    moved = sum(len(text) - (stop - begin) for begin, stop, text in before)
    grown = moved + sum(len(text) - (stop - begin) for (begin, stop, text), _region in inside)
    low = min([start, *(region[0] for _hunk, region in inside)])
    high = max([end, *(region[1] for _hunk, region in inside)])
    whole = written.text[low:start] + replacement + written.text[end:high]
    return [*before, (low - moved, high - grown, whole), *after]


def _next_rewrite(written: _Written) -> _Hunk | None:
    """Return the next simplification that keeps the meaning of the text; None if there is none."""
    try:
        tree = parse(SourceFacts("", written.text))
    except SourceError:
        return None
    places = Places(SourceFacts("", written.text))
    found = _Rewriter(written, tree, places)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and written.touches(places.span(node)):
            rewrite = found.of_expression(node)
            if rewrite is not None:
                return rewrite
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and written.touches(places.span(node)):
            rewrite = found.of_assignment(node)
            if rewrite is not None:
                return rewrite
    return None


@dataclass(frozen=True)
class _Rewriter:
    """Finds what can be written more simply in a text."""

    written: _Written
    tree: ast.Module
    places: Places

    def segment(self, node: ast.AST) -> str:
        start, end = self.places.span(node)
        return self.written.text[start:end]

    def of_expression(self, node: ast.expr) -> _Hunk | None:
        written_by_user = any(self.segment(node) in old for old in self.written.replaced)
        for rule in () if written_by_user else RULES:
            simpler = rule(node, self.segment)
            if simpler is not None:
                return self._put(node, simpler)
        return self._without_parentheses(node)

    def _put(self, node: ast.expr, simpler: str) -> _Hunk:
        start, end = self.places.span(node)
        text = self.written.text
        bare = text[:start] + simpler + text[end:]
        if _same_meaning(bare, f"{text[:start]}({simpler}){text[end:]}"):
            return start, end, simpler
        return start, end, f"({simpler})"

    def _without_parentheses(self, node: ast.expr) -> _Hunk | None:
        """Drop parentheses that an edit wrote, or that enclose nothing but what it wrote."""
        start, end = self.places.span(node)
        text = self.written.text
        if text[start - 1 : start] != "(" or text[end : end + 1] != ")" or "\n" in text[start:end]:
            return None
        # Behind a name or another bracket they are those of a call.
        if start > 1 and (text[start - 2].isalnum() or text[start - 2] in "_)]}\"'"):
            return None
        ours = self.written.wrote(start - 1) or any(
            first <= start and end <= last for first, last in self.written.regions
        )
        if not ours or isinstance(node, ast.Tuple | ast.GeneratorExp | ast.NamedExpr | ast.Yield | ast.Await):
            return None
        bare = text[: start - 1] + text[start:end] + text[end + 1 :]
        if not _same_meaning(bare, text):
            return None
        return start - 1, end + 1, text[start:end]

    def of_assignment(self, node: ast.Assign) -> _Hunk | None:
        """Delete a line that now says `x = x`."""
        if len(node.targets) != 1 or self.segment(node.targets[0]) != self.segment(node.value):
            return None
        start, end = self.places.span(node)
        text = self.written.text
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end
        behind = text[end:line_end].strip()
        if text[line_start:start].strip() or behind and not behind.startswith("#"):
            return None
        for parent in ast.walk(self.tree):
            for name in ("body", "orelse", "finalbody"):
                # A file, or the cell of a notebook, may be empty.
                if getattr(parent, name, None) == [node] and not isinstance(parent, ast.Module):
                    return start, end, "pass"
        return line_start, min(line_end + 1, len(text)), ""


def _same_meaning(first: str, second: str) -> bool:
    try:
        trees = [parse(SourceFacts("", text)) for text in (first, second)]
    except SourceError:
        return False
    return ast.dump(trees[0]) == ast.dump(trees[1])


# --- the rules ----------------------------------------------------------------------------------------------------

Segment = Callable[[ast.AST], str]
Rule = Callable[[ast.expr, Segment], str | None]
"""Returns a simpler text with the same value, or None."""


def _added_and_taken_away(node: ast.expr, segment: Segment) -> str | None:
    """`(1 + x) - 1` is `x`, `(x + 3) - 1` is `x + 2`, and `1 + a + b - 1` is `a + b`."""
    terms = _terms(node)
    numbers = [sign * number for sign, term in terms if (number := _whole(term)) is not None]
    others = [(sign, term) for sign, term in terms if _whole(term) is None]
    if len(numbers) != 2 or _whole(terms[-1][1]) is None or not others or others[0][0] < 0:
        return None
    if len(others) == 1 and _may_be_boolean(others[0][1]):
        return None
    first, *rest = others
    text = segment(first[1]) if len(others) == 1 and sum(numbers) == 0 else _operand(first[1], segment)
    for sign, term in rest:
        text += f" {'-' if sign < 0 else '+'} {_operand(term, segment)}"
    shift = sum(numbers)
    return text if shift == 0 else f"{text} {'-' if shift < 0 else '+'} {abs(shift)}"


def _terms(node: ast.expr) -> list[tuple[int, ast.expr]]:
    """Return the terms of a sum from left to right, each with its sign."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return [*_terms(node.left), (1 if isinstance(node.op, ast.Add) else -1, node.right)]
    return [(1, node)]


def _primary(node: ast.expr, segment: Segment) -> str:
    """Return an expression that `.` or `[` can follow, in parentheses if needed."""
    alone = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.List)
    return segment(node) if alone else f"({segment(node)})"


def _operand(node: ast.expr, segment: Segment) -> str:
    """Return an operand of `+`, in parentheses if needed."""
    tight = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.List)
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv | ast.Mod)
    return segment(node) if isinstance(node, tight) or product else f"({segment(node)})"


def _whole(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _whole(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _may_be_boolean(node: ast.expr) -> bool:
    """Whether the value may be a bool, which only the addition turns into a number."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)
    if isinstance(node, ast.Call):
        name = _called(node)
        booleans = name.startswith(("is", "logical_", "greater", "less", "equal", "not_equal", "all", "any"))
        return booleans or name == "astype" and "bool" in ast.dump(node)
    return isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp)


_CONVERTS = frozenset(
    {"array", "asarray", "cast", "constant", "convert_to_tensor", "int", "float", "list", "tuple", "sorted"}
)
_MAKES_ARRAY = frozenset(
    {"array", "asarray", "stack", "concatenate", "vstack", "hstack", "zeros", "ones", "arange", "expand_dims"}
)


def _converted_twice(node: ast.expr, segment: Segment) -> str | None:
    """`np.array(np.array(x))`, `tf.cast(tf.cast(x, t), t)`, `x.astype(t).astype(t)`."""
    if not isinstance(node, ast.Call):
        return None
    inner = node.args[0] if node.args else None
    if isinstance(inner, ast.Call) and _called(node) in _CONVERTS and _same(node.func, inner.func):
        if _rest(node) == _rest(inner):
            return segment(inner)
    if isinstance(inner, ast.Call) and _called(node) in ("array", "asarray") and not _rest(node):
        if _called(inner) in _MAKES_ARRAY and _same(_owner(node), _owner(inner)):
            return segment(inner)
    owner = _owner(node)
    if isinstance(owner, ast.Call) and _called(node) == _called(owner) == "astype":
        if [ast.dump(each) for each in node.args] == [ast.dump(each) for each in owner.args]:
            return segment(owner) if not node.keywords and not owner.keywords else None
    return None


def _reshaped_twice(node: ast.expr, segment: Segment) -> str | None:
    """`x.reshape(a).reshape(b)` is `x.reshape(b)`; an axis of length 1 that is moved can be placed directly."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    owner, inner = _owner(node), node.args[0] if node.args else None
    if isinstance(owner, ast.Call) and _called(node) == _called(owner) == "reshape" and not owner.keywords:
        first = _owner(owner)
        if first is not None and not _is_library(first):
            return _primary(first, segment) + segment(node)[len(segment(owner)) :]
    if isinstance(inner, ast.Call) and _called(node) == _called(inner) == "reshape" and not inner.keywords:
        if len(node.args) == len(inner.args) == 2 and _same(node.func, inner.func):
            return f"{segment(node.func)}({segment(inner.args[0])}, {segment(node.args[1])})"
    if isinstance(inner, ast.Call) and _called(node) == "moveaxis" and len(node.args) == 3:
        return _reshaped_and_moved(inner, _whole(node.args[1]), _whole(node.args[2]), segment)
    return None


def _reshaped_by_function(node: ast.expr, segment: Segment) -> str | None:
    """`np.reshape(x.astype(t), (-1, 1))` is `x.astype(t).reshape(-1, 1)`."""
    if not isinstance(node, ast.Call) or _called(node) != "reshape" or node.keywords or len(node.args) != 2:
        return None
    owner, array, shape = _owner(node), node.args[0], node.args[1]
    if not isinstance(owner, ast.Name) or owner.id not in ("np", "numpy") or not isinstance(array, ast.Call):
        return None
    if _called(array) not in ("astype", "to_numpy") and not (
        _same(owner, _owner(array)) and _called(array) in _MAKES_ARRAY
    ):
        return None
    sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    return f"{segment(array)}.reshape({', '.join(segment(size) for size in sizes)})"


def _reshaped_and_moved(
    inner: ast.Call, source: int | None, target: int | None, segment: Segment
) -> str | None:
    if _called(inner) != "reshape" or inner.keywords or source is None or target is None:
        return None
    owner = _owner(inner)
    if owner is None or _is_library(owner) or len(inner.args) < 2:
        return None
    sizes = list(inner.args)
    if not -len(sizes) <= source < len(sizes) or not -len(sizes) <= target < len(sizes):
        return None
    if any(isinstance(size, ast.Starred) for size in sizes) or _whole(sizes[source]) != 1:
        return None
    position = target % len(sizes)
    moved = sizes.pop(source)
    sizes.insert(position, moved)
    return f"{_primary(owner, segment)}.reshape({', '.join(segment(size) for size in sizes)})"


def _undone(node: ast.expr, segment: Segment) -> str | None:
    """`x.T.T`, `data.batch(8).unbatch()`, `np.argmax(to_categorical(y), axis=-1)`."""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        inner = node.value
        return segment(inner.value) if isinstance(inner, ast.Attribute) and inner.attr == "T" else None
    if not isinstance(node, ast.Call):
        return None
    owner = _owner(node)
    if _called(node) == "unbatch" and not node.args and isinstance(owner, ast.Call):
        first = _owner(owner)
        if _called(owner) == "batch" and len(owner.args) == 1 and not owner.keywords and first is not None:
            return segment(first)
    if _called(node) == "argmax" and _of_last_axis(node) and node.args:
        rows = node.args[0]
        if isinstance(rows, ast.Call) and _called(rows) == "to_categorical" and rows.args:
            return segment(rows.args[0])
    return None


def _of_last_axis(node: ast.Call) -> bool:
    given = [keyword.value for keyword in node.keywords if keyword.arg == "axis"] or node.args[1:2]
    return len(given) == 1 and _whole(given[0]) in (-1, 1)


def _indexed_and_expanded(node: ast.expr, segment: Segment) -> str | None:
    """`np.expand_dims(x[..., 0], -1)` is `x[..., 0:1]`."""
    inner: ast.expr | None = None
    if isinstance(node, ast.Call) and _called(node) == "expand_dims" and node.args:
        given = [keyword.value for keyword in node.keywords if keyword.arg == "axis"] or node.args[1:2]
        inner = node.args[0] if len(given) == 1 and _whole(given[0]) == -1 else None
    elif isinstance(node, ast.Subscript) and _is_new_last_axis(node.slice):
        inner = node.value
    if not isinstance(inner, ast.Subscript) or not isinstance(inner.slice, ast.Tuple):
        return None
    parts = inner.slice.elts
    index = _whole(parts[1]) if len(parts) == 2 and _is_ellipsis(parts[0]) else None
    if index is None:
        return None
    end = "" if index == -1 else str(index + 1)
    return f"{_primary(inner.value, segment)}[..., {index}:{end}]"


def _is_new_last_axis(node: ast.expr) -> bool:
    if not isinstance(node, ast.Tuple) or len(node.elts) != 2 or not _is_ellipsis(node.elts[0]):
        return False
    last = node.elts[1]
    return isinstance(last, ast.Constant) and last.value is None or "newaxis" in ast.dump(last)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _owner(node: ast.Call) -> ast.expr | None:
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _is_library(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "numpy", "tf", "tensorflow", "keras", "ops", "K")


def _same(first: ast.expr | None, second: ast.expr | None) -> bool:
    return first is not None and second is not None and ast.dump(first) == ast.dump(second)


def _rest(node: ast.Call) -> list[str]:
    """Return the arguments after the first."""
    return [*map(ast.dump, node.args[1:]), *sorted(map(ast.dump, node.keywords))]


RULES: tuple[Rule, ...] = (
    _added_and_taken_away,
    _converted_twice,
    _reshaped_twice,
    _reshaped_by_function,
    _undone,
    _indexed_and_expanded,
)
"""Each returns a simpler text for an expression, with the same value."""
