"""Suppression comments, and whether each of them is still needed."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterable

from fitdoctor.diagnosis import Finding, Location, Moment, Severity
from fitdoctor.records import dataclass
from fitdoctor.source.module import FunctionInfo, Module

_OURS = re.compile(r"(?i)#\s*fitdoctor\s*:\s*ignore(?![\w-])\s*(?:\[([^\]]*)\])?")
_NOQA = re.compile(r"(?i)#\s*noqa\s*:\s*([A-Z]+[0-9]*(?:[,\s]+[A-Z]+[0-9]+)*)")
_NOQA_OURS = re.compile(r"(?i)noqa\s*:[^\n]*\bFIT\d")
_CODE = re.compile(r"(?i)FIT\d+")


@dataclass(frozen=True)
class Suppression:
    """One comment."""

    names: tuple[str, ...]
    """Ids in upper case and slugs in lower case; empty for every cause."""
    location: Location
    """The comment's own place."""
    line: int
    """The line it applies to: its own, or the next one if it is alone. Counted as `location` counts."""

    def covers(self, finding: Finding) -> bool:
        """Whether it silences a finding."""
        place = finding.location
        if place is None or (place.path, place.cell) != (self.location.path, self.location.cell):
            return False
        # The comment of a multi-line call may be on its last line.
        if self.line not in (place.line, place.end_line):
            return False
        return not self.names or any(_means(name, finding) for name in self.names)


@dataclass(frozen=True)
class Unused:
    """A name in a comment that silences nothing."""

    name: str
    """"" for a comment that names no cause."""
    location: Location

    @property
    def message(self) -> str:
        """What to say about it."""
        return f"unused suppression: no {self.name or 'problem'} found on this line"


@dataclass(frozen=True)
class Outcome:
    """Findings after suppression."""

    kept: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    unused: tuple[Unused, ...]


def suppressions(module: Module) -> tuple[Suppression, ...]:
    """Every suppression comment of a file, in order."""
    text = module.text
    # Tokenizing costs more than parsing: files without such a comment do not pay for it.
    lowered = text.lower()
    if "fitdoctor" not in lowered and not ("noqa" in lowered and _NOQA_OURS.search(text)):
        return ()
    found = []
    for line, column, comment in _comments(text):
        names = _names(comment)
        if names is None:
            continue
        start = module.places.offset(line, column)
        location = module.places.between(start, start + len(comment))
        alone = not module.places.lines[line - 1][:column].strip()
        found.append(Suppression(names, location, location.line + 1 if alone else location.line))
    return tuple(_past_comments(module, found))


def suppress(module: Module, findings: Iterable[Finding]) -> Outcome:
    """Remove the findings of this file that a comment suppresses, and errors that the program itself expects."""
    comments = suppressions(module)
    kept: list[Finding] = []
    silenced: list[Finding] = []
    used: set[tuple[Suppression, str]] = set()
    for finding in findings:
        if is_expected(module, finding):
            continue
        covering = [comment for comment in comments if comment.covers(finding)]
        (silenced if covering else kept).append(finding)
        for comment in covering:
            used.update(
                (comment, name) for name in comment.names or ("",) if not name or _means(name, finding)
            )
    unused = [
        Unused(name, comment.location)
        for comment in comments
        for name in comment.names or ("",)
        if (comment, name) not in used
    ]
    return Outcome(tuple(kept), tuple(silenced), tuple(unused))


def is_expected(module: Module, finding: Finding) -> bool:
    """Whether an error shows in a block that is there to see it raised: `with pytest.raises(…):`."""
    if finding.severity is not Severity.ERROR or finding.moment is not Moment.SOURCE:
        return False
    # The line to change may stand before the block; the line that raises is told as evidence.
    told = (finding.location, *(evidence.location for evidence in finding.evidence))
    places = [place for place in told if place is not None and place.path == module.path]
    blocks: list[ast.With | ast.AsyncWith] = [*module.nodes(ast.With), *module.nodes(ast.AsyncWith)]
    for block in blocks if places else ():
        if any(_awaits_error(item.context_expr) for item in block.items):
            around = module.location(block)
            if any(_lies_in(place, around) for place in places):
                return True
    return "raises" in module.text.lower() and any(
        _is_called_to_fail(function)
        for function in module.functions
        if any(_lies_in(place, module.location(function.node)) for place in places[:1])
    )


def _is_called_to_fail(function: FunctionInfo) -> bool:
    """Whether every call of a function, up to the next one of its name, is in a block that expects the error."""
    module = function.module
    starts = [other.node.lineno for other in module.functions if other.name == function.name]
    until = min(
        (line for line in starts if line > function.node.lineno), default=len(module.places.lines) + 1
    )
    calls = [
        site.node
        for site in module.calls
        if isinstance(site.node.func, ast.Name)
        and site.node.func.id == function.name
        and function.node.lineno < site.node.lineno < until
    ]
    return bool(calls) and all(_expects_error(module, call) for call in calls)


def _expects_error(module: Module, call: ast.AST) -> bool:
    parent = module.parent(call)
    while parent is not None:
        if isinstance(parent, (ast.With, ast.AsyncWith)):
            if any(_awaits_error(item.context_expr) for item in parent.items):
                return True
        parent = module.parent(parent)
    return False


def _lies_in(place: Location, around: Location) -> bool:
    return place.cell == around.cell and around.line <= place.line <= around.end_line


def _awaits_error(expr: ast.expr) -> bool:
    called = expr.func if isinstance(expr, ast.Call) else None
    name = getattr(called, "attr", getattr(called, "id", ""))
    return name == "raises" or name.startswith(("assertRaises", "assert_raises"))


def _means(name: str, finding: Finding) -> bool:
    return name in (finding.id, finding.slug)


def _names(comment: str) -> tuple[str, ...] | None:
    """The names in a comment; None where it is none of ours."""
    ours = _OURS.search(comment)
    if ours is not None:
        listed = ours[1]
        if listed is None:
            return ()
        names = [name.strip() for name in listed.split(",") if name.strip()]
        # Empty brackets name nothing: they must not silence everything.
        return tuple(dict.fromkeys(_spelled(name) for name in names)) or None
    noqa = _NOQA.search(comment)
    if noqa is None:
        return None
    codes = noqa[1].replace(",", " ").split()
    return tuple(dict.fromkeys(code.upper() for code in codes if _CODE.fullmatch(code))) or None


def _spelled(name: str) -> str:
    return name.upper() if _CODE.fullmatch(name) else name.lower().replace("_", "-")


def _past_comments(module: Module, found: list[Suppression]) -> Iterable[Suppression]:
    """Apply a comment on its own line to the next line of code, past other comments."""
    for suppression in found:
        place, line = suppression.location, suppression.line
        if line != place.line:
            while module.line_text(line, place.cell).lstrip().startswith("#"):
                line += 1
        yield Suppression(suppression.names, place, line)


def _comments(text: str) -> Iterable[tuple[int, int, str]]:
    """Line, column (from 0) and text of each comment."""
    import tokenize

    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.start[1], token.string
    except (tokenize.TokenError, IndentationError, SyntaxError):
        # `ast` took the file, so what is left of it has no more comments to tell.
        return
