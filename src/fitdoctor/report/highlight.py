"""Python source in colored pieces, using the lexer that rich depends on."""

from __future__ import annotations

import functools
from typing import Any

Token = tuple[str, str]
"""A kind (`k` keyword, `s` string, `n` number, `f` function or class name, `c` comment, "" for the rest), and its text."""

_LONGEST = 2000
"""Characters; a longer line is a literal of data, and stays plain."""


def tokens(line: str) -> list[Token]:
    """Split a line of source into pieces that join to the line."""
    if len(line) > _LONGEST:
        return [("", line)]
    from pygments.token import Token as Type

    kinds = (
        (Type.Keyword, "k"),
        (Type.Operator.Word, "k"),
        (Type.Literal.String, "s"),
        (Type.Literal.Number, "n"),
        (Type.Name.Function, "f"),
        (Type.Name.Class, "f"),
        (Type.Name.Decorator, "f"),
        (Type.Comment, "c"),
    )
    pieces = [
        (next((short for kind, short in kinds if found in kind), ""), text)
        for found, text in _lexer().get_tokens(line)
    ]
    # The lexer drops carriage returns and the like: then the columns would not hold.
    return pieces if "".join(text for _kind, text in pieces) == line else [("", line)]


@functools.cache
def _lexer() -> Any:
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False, ensurenl=False)
