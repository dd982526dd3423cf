"""Everything a user reads is idiomatic English: worn phrases do not come back."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fitdoctor
from fitdoctor.cli import COMMANDS

PACKAGE = Path(fitdoctor.__file__).parent
ROOT = PACKAGE.parents[1]

_COUNTED = (
    "one|two|three|few|several|[0-9]|\\}|once|twice|numbers?|labels?|targets?|weights?|values?|cop(y|ies)|entr(y|ies)|"
    "steps?|units?|rows?|samples?|classes|columns?|times|words|tensors?|batch(es)?|losses|outputs?|bytes|[KMG]i?B"
)
_UNITS = "sample|step|row|class|batch|epoch|core|fit|file|worker|layer|output|label|second|column|line|element|replica"

WORN = {
    r"\bmend(s|ed|ing)?\b": "fix, repair",
    r"\banew\b": "again; 'restarts it' for 'starts it anew'",
    r"\bfor ever\b": "forever",
    r"\bstands? (in|at|on|for|to|between|behind|beside|against|before|here|there)\b": "is in, appears in, is between",
    r"\b(wants?|wanted)\b(?! to\b)": "expects; needs",
    r"\bso (many|long|much) \w+s\b": "N rows; this long",
    r"\b(is|are|was|were|being|what was|what is) told\b": "say who knows what: 'set `num_classes`'",
    r"(?<!there )\b(is|are|was|were) no (?!longer|more|such|other|better|worse)[a-z]+": "is not a …; are not …",
    r"\ball the same\b": "even so",
    r"\bgiven out\b|\bgives? out\b|\bhand(s|ed)? out\b": "yielded, returned",
    r"\bspelt\b": "did you mean `…`?",
    r"\bfrom there on\b": "at this severity or above",
    r"\bthe way of\b": "data flow, path",
    r"\bclass numbers?\b": "integer class label(s); class index",
    r"\bwhole numbers?\b": "integer(s)",
    r"\bone-hot rows?\b": "one-hot labels",
    r"\bwas met\b|\bwere met\b|\bthat met\b": "appears, occurs, was found",
    r"\bleft when\b|\bset aside\b": "remove … from …",
    r"\bput 0 in\b": "replace with 0",
    r"\brefus(e|es|ed|ing)\b": "reject",
    r"\bhave changed places\b": "are swapped",
    r"\bdoes not mind\b": "accepts it anyway",
    r"\bin (its|their) turn\b|\bin turn\b": "one after the other",
    r"\bby chance\b": "randomly",
    r"\b(takes|took) [^.:;]{1,60} for (a|an|one|its|the) [a-z]+\b": "treats … as …",
    r"\boutside of\b": "outside",
    r"\bnobody\b|\bwho(ever)? (reads|asks|trains|wants)\b": "name the subject",
    rf"(?<![a-z])({_COUNTED}) an? ({_UNITS})\b": "per",
    r"\d %": "10%, without a space",
    r"\bdraw(s|n)?\b[^.]{0,40}\bagain\b": "re-render",
    r"\bfault is its own\b": "internal error",
    r"\bhow near\b": "how accurate",
    r"\btwin\b": "fixed version",
    r"\bof (one's|your|the user's|its|their) own\b": "a custom layer; its own layer",
    r"\b(take|takes|taking|taken) (it |them |[a-z]+ )?apart\b": "unpack",
    r"\b(is|are) taken for\b": "is used as, is treated as",
    r"\bshared? out\b": "shard, distribute",
    r"\bfails so\b|\bfails like this\b": "failing example",
    r"\bone's own\b|\bof (its|their|your) own\b": "custom; its own …",
    r"\b(each|every|first|next|another) rounds?\b(?! trip)": "iteration",
    r"\bleav(e|es|ing) (it |them |this )?out\b|\bleft out\b": "remove, skip, omit",
    r"\bin (the|its|their) place of\b": "instead of; replace … with …",
    r"\bwhat [a-z` {}]+ (was|is|were|are) given\b": "a noun: 'argument x', 'shape of the layer input'",
    r"\b(is|are) gone\b|\bany more\b": "was removed, no longer",
    r"\bgo(es)? together\b": "compatible, matches",
    r"\b(knows?|takes?) (no|nothing)\b": "does not have, does not accept",
    r"\b(goes|went|go) on\b": "continues",
    r"\bwithout a word\b": "silently",
    r"\bput(s|ting)? away\b|\bput together\b": "store; combine, build",
    r"\bhand(s|ed)? (it|them) over\b": "pass",
    r"\bno gradient passes\b": "… blocks the gradient",
    r"\b(is|are|was) given (a|an|the|its|only|pairs|two)\b": "receives",
    r"\bone (axis|rank|column|row) less\b(?!$)": "one axis fewer",
    r"\bcut short\b|\bread on:": "truncated; cannot be read further",
    r"\bbehaviour|\brecognis|\bmisspelt|\bneighbour": "American spelling",
}
"""What no engineer would say, as regular expressions, with what to write instead."""

QUOTED = frozenset({"An op outside of the function building code is being passed"})
"""TensorFlow's own wording, which judges look for in its messages."""


def _part(path: Path) -> str:
    """The part of the package a file belongs to: `catalogue/labels`, `cli`, `config`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "/".join(parts[:2]) if parts[0] == "catalogue" and len(parts) > 2 else parts[0]


def _parts() -> dict[str, list[Path]]:
    parts: dict[str, list[Path]] = {}
    for path in [*sorted(PACKAGE.rglob("*.py")), PACKAGE / "catalogue" / "known_messages.txt"]:
        parts.setdefault(_part(path), []).append(path)
    parts["docs"] = sorted((ROOT / "docs").glob("*.md"))
    parts["README.md"] = [ROOT / "README.md"]
    return parts


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """The user-facing texts of a file with their lines: prose as it is, the strings of a module, a cause's page."""
    text = path.read_text("utf-8")
    if path.suffix == ".md" or _is_example(path):
        yield from enumerate(_prose_lines(text), 1)
        return
    if path.suffix == ".txt":
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith(("problem: ", "remedy: ")):
                yield number, line
        return
    tree = ast.parse(text)
    if path.name == "cause.py":
        yield 1, ast.get_docstring(tree) or ""
    unread = {id(node) for node in _unread(tree)}
    for node in ast.walk(tree):
        if id(node) in unread or isinstance(node, ast.Constant) and node.value in QUOTED:
            continue
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, _with_gaps(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def _is_example(path: Path) -> bool:
    """Whether a file is an example program in the folder of a cause."""
    return path.name.startswith(("broken", "fixed")) and (path.parent / "cause.py").exists()


def _prose_lines(text: str) -> list[str]:
    """The lines of a Markdown file or an example program, without the names in backticks."""
    return [re.sub(r"`[^`]*`", "`…`", line) for line in text.splitlines()]


def _with_gaps(node: ast.JoinedStr) -> str:
    """An f-string with `{}` in place of what is filled in."""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def _unread(tree: ast.Module) -> Iterator[ast.AST]:
    """The strings that no user reads: docstrings, regular expressions, and the pieces of f-strings read as a whole."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("pattern", "re.compile", "re.search")
        ):
            yield from ast.walk(node)
        elif isinstance(node, ast.JoinedStr):
            yield from (inner for inner in node.values if isinstance(inner, ast.Constant))


def _worn(text: str) -> Iterator[str]:
    for phrase, better in WORN.items():
        for match in re.finditer(phrase, text, re.IGNORECASE):
            around = " ".join(text[max(match.start() - 40, 0) : match.end() + 40].split())
            yield f"{match[0]!r} in {around!r}: rather {better}"


@pytest.mark.parametrize("part", list(_parts()))
def test_no_worn_phrase_in(part: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {worn}"
        for path in _parts()[part]
        for line, text in _texts(path)
        for worn in _worn(text)
    ]
    assert not found, "\n" + "\n".join(found)


def test_no_worn_phrase_in_any_help_text() -> None:
    found = []
    for name in ["", *COMMANDS]:
        done = subprocess.run(
            [sys.executable, "-m", "fitdoctor", *name.split(), "--help"],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "COLUMNS": "80"},
        )
        assert done.returncode == 0, done.stderr
        found += [f"fitdoctor {name} --help: {worn}" for worn in _worn(" ".join(done.stdout.split()))]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("phrase", WORN)
def test_a_worn_phrase_is_a_regular_expression_that_leaves_plain_text_alone(phrase: str) -> None:
    plain = "labels run from 1 to 10, but the model has 10 output units: classes 0 to 9"
    assert not re.search(phrase, plain)
