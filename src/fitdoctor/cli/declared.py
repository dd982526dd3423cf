"""Options as data, read in a moment where they are plain: importing argparse takes longer than linting a small file.

Each option is declared once, in argparse's own words. `read` takes what it understands at a glance; `--help` and every
mistake go to a parser that is made from the same declarations, so that what is said about them is argparse's.
"""

from __future__ import annotations

from fitdoctor.report import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from fitdoctor.cli.options import Parser

    Declared = tuple[str, tuple[str, ...], dict[str, Any]]
    """The group ("" for none), the names, and what `add_argument` takes besides."""


class Given:
    """What was given: an attribute for each option, and `paths`."""

    def __init__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def read(words: Sequence[str], declared: Iterable[Declared]) -> Given | None:
    """The options, where every word is plainly one of them, its value or a path; None where argparse should look."""
    options = {name: (names, about) for _group, names, about in declared for name in names}
    values = {_attribute(names): _default(about) for names, about in options.values()}
    paths: list[str] = []
    left = iter(words)
    for word in left:
        if not word.startswith("-") or word == "-":
            paths.append(word)
            continue
        name, equals, value = word.partition("=")
        names, about = options.get(name, ((), {}))
        if not names or names == ("paths",):
            return None
        if about.get("action") == "store_true":
            if equals:
                return None
            values[_attribute(names)] = True
            continue
        text = value if equals else next(left, "-")
        if not equals and text.startswith("-"):
            return None
        known = _value(text, about)
        if known is None:
            return None
        attribute = _attribute(names)
        values[attribute] = [*values[attribute], known] if about.get("action") == "append" else known
    if paths:
        values["paths"] = paths
    return Given(values)


def _attribute(names: tuple[str, ...]) -> str:
    return names[-1].lstrip("-").replace("-", "_")


def _default(about: dict[str, Any]) -> Any:
    return about.get("default", False if about.get("action") == "store_true" else None)


def _value(text: str, about: dict[str, Any]) -> Any:
    """The value of an option; None when it is not one that it takes."""
    value: Any = text
    if "type" in about:
        try:
            value = about["type"](text)
        except ValueError:
            return None
    return value if value in about.get("choices", (value,)) else None


def add_to(parser: Parser, declared: Iterable[Declared]) -> None:
    """Declare the options to argparse."""
    groups: dict[str, Any] = {"": parser}
    for group, names, about in declared:
        if group not in groups:
            groups[group] = parser.add_argument_group(group)
        groups[group].add_argument(*names, **about)


OUTPUT: tuple[Declared, ...] = (
    (
        "output",
        ("--output-format",),
        {
            "choices": FORMATS,
            "default": "text",
            "metavar": "FORMAT",
            "help": ", ".join(FORMATS),
        },
    ),
    ("output", ("--output-file",), {"metavar": "FILE", "help": "write the report there"}),
    (
        "output",
        ("--color",),
        {"choices": ("auto", "always", "never"), "default": "auto", "help": "default: auto"},
    ),
    ("output", ("-v", "--verbose"), {"action": "store_true", "help": "every finding in full"}),
)
"""How a report is given out."""
