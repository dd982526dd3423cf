"""The index of messages: every text that was recorded in a run, with its cause."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

from fitdoctor.catalogue import catalogue
from fitdoctor.failure.messages import plain_text, read_message
from fitdoctor.failure.text import failures_in
from scripts.documentation.cause_pages import printed

CORPUS = Path(__file__).parents[2] / "tests/corpus"
LONGEST = 220
"""Characters of a message in the index: enough to recognise it."""
DIALECTS = {
    "bare": "",
    "wrapped": "in a layer",
    "autograph": "in user code",
    "graph": "graph execution error",
}


def page() -> str:
    """Return the index as Markdown, by type of exception."""
    rows: dict[str, dict[tuple[str, str], set[str]]] = {}
    for kind, message, cause, keras in recorded():
        if not shown(message):
            continue
        text, where = shown(message), DIALECTS.get(read_message(message, here=False).dialect, "")
        seen = (f"Keras {keras}" if keras else "recorded elsewhere") + (f", {where}" if where else "")
        rows.setdefault(kind, {}).setdefault((text, cause), set()).add(seen)
    lines = [
        "# Messages",
        "",
        "Each message below was printed by a program that was run, on TensorFlow 2.21 with Keras 3.15 or Keras 2. A few "
        "are *recorded elsewhere*, on machines with other versions or with a GPU. Numbers, shapes and names are from "
        "that program; yours differ. The link leads to the cause. Keras wraps the same message in different ways: "
        "*in a layer* begins with `Exception encountered when calling`, *in user code* with "
        "`in user code:`, and *graph execution error* with `Graph execution error:`.",
        "",
        "To find the cause of your own message, [paste it](playground.md).",
        "",
    ]
    for kind in sorted(rows):
        lines += [f"## {kind}", "", "| message | printed by | cause |", "| --- | --- | --- |"]
        for (text, cause), seen in sorted(_alike(rows[kind]).items()):
            cell = f"<code>{html.escape(text).replace('|', '&#124;').replace('`', '&#96;')}</code>"
            # Markdown would read these inside a <code> element, too.
            cell = re.sub(r"([*_\[\]\\])", lambda found: f"&#{ord(found[0])};", cell)
            title = catalogue()[cause].title
            lines.append(f"| {cell} | {'; '.join(sorted(seen))} | [{cause}](causes/{cause}.md) {title} |")
        lines.append("")
    return "\n".join(lines)


def recorded() -> Iterator[tuple[str, str, str, str]]:
    """Yield type, message, cause and Keras of every exception that was recorded; no Keras if on another machine."""
    for name, runs in printed().items():
        for keras, seen in runs.items():
            yield seen["type"], seen["message"], name.split("/")[0], keras
    for path in sorted((CORPUS / "tracebacks").glob("*.txt")):
        failures = [
            each for each in failures_in(path.read_text("utf-8")) if not each.type.endswith("Warning")
        ]
        manifest = json.loads((CORPUS / "manifest" / f"{path.stem}.json").read_text("utf-8"))
        for failure in failures[-1:]:
            yield failure.type, failure.raw_message, manifest["id"], "3"
    for cause in catalogue().values():
        for path in sorted(cause.folder.glob("broken*.txt")):
            for failure in failures_in(path.read_text("utf-8"))[-1:]:
                yield failure.type, failure.raw_message, cause.id, ""


def shown(message: str) -> str:
    """Return the beginning of what a message says, without its wrapping, on one line."""
    text = " ".join(plain_text(read_message(message, here=False).text or message).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(' ', 1)[0]} …"


def search_script() -> str:
    """Return a script for the search: titles of causes, and per message its cause, how often it occurred, and its words."""
    times: dict[tuple[str, str], int] = {}
    for kind, message, cause, _keras in recorded():
        found = re.findall(r"[A-Za-z_]{3,}(?:=\d)?", f"{kind.rpartition('.')[2]} {shown(message)}")
        row = (cause, " ".join(sorted({word.lower() for word in found})))
        times[row] = times.get(row, 0) + 1
    messages = [(cause, count, words) for (cause, words), count in sorted(times.items())]
    titles = {cause.id: cause.title.replace("`", "") for cause in catalogue().values()}
    return f"window.recordedMessages = {json.dumps({'titles': titles, 'messages': messages})};\n"


def _alike(rows: dict[tuple[str, str], set[str]]) -> dict[tuple[str, str], set[str]]:
    """Return one row for messages of a cause that differ only in numbers and quoted names."""
    kept: dict[tuple[str, str], tuple[str, str]] = {}
    merged: dict[tuple[str, str], set[str]] = {}
    for (text, cause), seen in sorted(rows.items()):
        shape = re.sub(r"'[^']*'|\"[^\"]*\"|<[^>]*>|\([\d, None]*\)|\[[\d, None]*\]|\w*\d[\w.]*", "#", text)
        first = kept.setdefault((shape[:70], cause), (text, cause))
        merged.setdefault(first, set()).update(seen)
    return merged
