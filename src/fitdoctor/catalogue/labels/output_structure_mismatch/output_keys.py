"""Find and rename keys of losses, labels or metrics that match no output."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fitdoctor.catalogue.words import joined, listing
from fitdoctor.diagnosis import Edit, Fix, Location
from fitdoctor.edits import fix
from fitdoctor.facts import Code, Unknown
from fitdoctor.source.project import Project


def renamed_keys(
    where: Code | Unknown,
    unknown: list[str],
    missing: list[str],
    project: Project | Unknown | None = None,
    beside: Iterable[Code | Unknown] = (),
) -> tuple[Fix, ...]:
    """Rename the keys that match no output to the missing names, also in the dicts of `beside`."""
    if len(unknown) == 1 and len(missing) == 1:
        return (_rename(where, {unknown[0]: missing[0]}, project, beside),)
    close = {key: _like(key, missing) for key in unknown}
    names = {key: found for key, found in close.items() if found}
    if not names:
        return (fix("use the output names as keys"),)
    whole = len(names) == len(unknown) == len(set(names.values()))
    return (
        _rename(where if whole else Unknown("not every key resembles an output name"), names, None, beside),
    )


def key_line(code: Code | Unknown, keys: list[str]) -> Location | None:
    """Return the line of a multi-line dict that contains the first of the keys."""
    if isinstance(code, Unknown) or not keys:
        return None
    for number, line in enumerate(code.text.split("\n")):
        if number and re.match(rf"\s*(['\"]){re.escape(keys[0])}\1\s*:", line):
            return Location(code.location.path, code.location.line + number, cell=code.location.cell)
    return None


def key_words(keys: list[str]) -> str:
    """Return "key" or "keys", followed by the keys."""
    return f"key{'s' * (len(keys) > 1)} {listing(keys)}"


def _like(key: str, names: list[str]) -> str:
    """Return the name a key was probably meant for: a prefix, a suffix or a typo."""
    import difflib

    within = [
        name
        for name in names
        if any(long.startswith(short) or long.endswith(short) for long, short in ((key, name), (name, key)))
    ]
    close = within if len(within) == 1 else difflib.get_close_matches(key, names, 1)
    return close[0] if close else ""


def _rename(
    where: Code | Unknown,
    names: dict[str, str],
    project: Project | Unknown | None,
    beside: Iterable[Code | Unknown],
) -> Fix:
    from fitdoctor.catalogue.knowledge.data.batch_keys import renamed_in_batches

    edits = _in_text(where, names)
    if edits:
        others = [edit for code in beside for edit in _in_text(code, names)]
        edits = tuple(dict.fromkeys((*edits, *others)))
    renamed = joined([f"`{old}` to `{new}`" for old, new in names.items()])
    edits = edits or renamed_in_batches(project, names)
    return fix(f"rename the key{'s' * (len(names) > 1)} {renamed}", edits)


def _in_text(where: Code | Unknown, names: dict[str, str]) -> tuple[Edit, ...]:
    if isinstance(where, Unknown):
        return ()
    text = where.text
    for old, new in names.items():
        text = re.sub(
            rf"(?P<quote>[\"']){re.escape(old)}(?P=quote)(?=\s*:)", rf"\g<quote>{new}\g<quote>", text
        )
    return (Edit(where.location, text),) if text != where.text else ()
