"""Regular expressions that are compiled when they are first used: most runs use few of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import compile as pattern
else:

    class pattern:
        """Behaves as the compiled pattern does."""

        def __init__(self, text, flags=0):
            self._asked = text, flags

        def __getattr__(self, name):
            import re

            compiled = re.compile(*self._asked)
            for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split", "pattern"):
                setattr(self, method, getattr(compiled, method))
            return getattr(compiled, name)


__all__ = ["pattern"]
