"""Which files a project's `.gitignore` files exclude, by git's rules."""

from __future__ import annotations

import re
from pathlib import Path

from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Rule:
    """One line of a `.gitignore`."""

    matches: re.Pattern[str]
    """On the path below the file's folder, with forward slashes."""
    negated: bool
    folders_only: bool


@dataclass(frozen=True)
class Rules:
    """The rules of one `.gitignore`, and of those in the folders above it."""

    folder: Path
    rules: tuple[Rule, ...]
    above: Rules | None = None

    def ignores(self, path: Path, is_folder: bool) -> bool:
        """Whether a path below the folder is ignored; the last rule of the nearest file decides."""
        layer: Rules | None = self
        while layer is not None:
            below = path.relative_to(layer.folder).as_posix()
            for rule in reversed(layer.rules):
                if (is_folder or not rule.folders_only) and rule.matches.fullmatch(below):
                    return not rule.negated
            layer = layer.above
        return False


def rules_above(folder: Path) -> Rules | None:
    """Return the rules that apply to a folder from the folders above it, up to the top of its repository."""
    chain = []
    for candidate in (folder, *folder.parents):
        chain.append(candidate)
        if (candidate / ".git").exists():
            break
    else:
        return None
    rules: Rules | None = None
    for candidate in reversed(chain[1:]):
        rules = rules_of(candidate, rules)
    return rules


def rules_of(folder: Path, above: Rules | None) -> Rules | None:
    """Return the rules of a folder's `.gitignore` on top of those above it."""
    try:
        text = (folder / ".gitignore").read_text("utf-8", errors="replace")
    except OSError:
        return above
    rules = tuple(rule for line in text.splitlines() if (rule := parse_rule(line)))
    return Rules(folder, rules, above) if rules else above


def parse_rule(line: str) -> Rule | None:
    """Return the rule of a line; None for comments, blank lines and invalid patterns."""
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\r\n"))
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    pattern = line[1:] if negated else line
    folders_only = pattern.endswith("/")
    pattern = pattern.rstrip("/")
    if not pattern:
        return None
    anchored = "/" in pattern
    expression = glob_expression(pattern.lstrip("/"))
    try:
        matches = re.compile(expression if anchored else f"(?:.*/)?{expression}", re.DOTALL)
    except re.error:
        return None
    return Rule(matches, negated, folders_only)


def glob_expression(pattern: str) -> str:
    """Return a glob as a regular expression: `*` stays within a folder, `**` crosses folders."""
    result = []
    index = 0
    while index < len(pattern):
        character = pattern[index]
        if pattern.startswith("**/", index) and (index == 0 or pattern[index - 1] == "/"):
            result.append("(?:.*/)?")
            index += 3
            continue
        if pattern[index:] == "**" and (index == 0 or pattern[index - 1] == "/"):
            result.append(".*")
            break
        if character == "*":
            result.append("[^/]*")
        elif character == "?":
            result.append("[^/]")
        elif character == "[" and (closing := pattern.find("]", index + 2)) > 0:
            inside = pattern[index + 1 : closing].replace("\\", "\\\\")
            result.append(f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]")
            index = closing
        elif character == "\\" and index + 1 < len(pattern):
            index += 1
            result.append(re.escape(pattern[index]))
        else:
            result.append(re.escape(character))
        index += 1
    return "".join(result)
