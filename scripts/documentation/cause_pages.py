"""The page of a cause, from its folder and from what its programs printed when they were run."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

from fitdoctor.catalogue import FAMILIES, Cause, catalogue, find
from fitdoctor.cli.discover import Found
from fitdoctor.cli.lint_files import Wishes, lint_text
from fitdoctor.config import Config
from fitdoctor.diagnosis import Moment
from fitdoctor.report import render
from scripts.documentation.programs import difference, program

PRINTED = Path(__file__).with_name("printed.json")

ABOUT = {
    "training": "Training runs, but goes wrong: the loss becomes NaN or does not change, or the data leaks.",
    "inputs": "The data does not match the input of the model: shape, dtype, structure or values.",
    "labels": "The labels do not match the loss or the output layer.",
    "model": "The model, its layers or the arguments of `compile` and `fit` are wrong.",
    "graph": "Tensors that leave the function in which TensorFlow traces them, and Python code that runs only once.",
    "variables": "Variables that are not trained, and gradients that do not exist.",
    "devices": "GPUs, strategies and clusters.",
    "pipeline": "`tf.data` pipelines, generators and loaders.",
    "memory": "Programs that run out of memory.",
    "environment": "Versions, backends and files that are incompatible.",
}
"""One sentence per family."""

_LIBRARY_FRAME = re.compile(r' *File "[^"]*/(?:site-packages|python3\.\d+)/')

FOUND_BY = {
    Moment.SOURCE: ("Without running", "`fitdoctor lint`"),
    Moment.BEFORE_FIT: (
        "When `fit` is called, before its first step",
        "`fitdoctor run`, `fitdoctor.check`, `fitdoctor.watch`",
    ),
    Moment.WHILE_TRAINING: ("While training, and at its end", "`fitdoctor run`, `fitdoctor.watch`"),
    Moment.AFTER_FAILURE: (
        "From the exception, also from a saved log",
        "`fitdoctor run`, `fitdoctor explain`, `%load_ext fitdoctor`",
    ),
}


@functools.cache
def printed() -> dict[str, dict[str, dict[str, str]]]:
    """Return what broken programs printed: by `ID/program`, then by the major version of Keras."""
    recorded: dict[str, dict[str, dict[str, str]]] = json.loads(PRINTED.read_text("utf-8"))
    return recorded


def index() -> str:
    """Return the list of all causes, by family."""
    lines = [
        "# Causes",
        "",
        f"fitdoctor knows {len(catalogue())} causes. Ids are permanent. `fitdoctor explain ID` prints a page in the "
        "terminal. If you have a message and no id, use [Find your error](../playground.md) or the "
        "[list of messages](../messages.md).",
        "",
    ]
    for digit, family in FAMILIES.items():
        causes = [cause for cause in catalogue().values() if cause.id[3] == digit]
        lines += [f"## {family.capitalize()}", "", ABOUT[family], ""]
        lines += ["| id | cause | severity | raises | found by |", "| --- | --- | --- | --- | --- |"]
        lines += [
            f"| [{cause.id}]({cause.id}.md) | [{cause.title}]({cause.id}.md) | {cause.severity.value} "
            f"| {_raises(cause)} | {_short_moments(cause)} |"
            for cause in causes
        ]
        lines.append("")
    return "\n".join(lines)


def page(cause: Cause) -> str:
    """Return the page of a cause as Markdown."""
    sections = _sections(cause)
    return "\n".join(
        [
            f"---\ntitle: {json.dumps(f'{cause.id} {cause.title}'.replace('`', ''), ensure_ascii=False)}\n---\n",
            f"# {cause.id}: {cause.title}",
            "",
            f"`{cause.slug}` · {cause.severity.value} · raises {_raises(cause)}",
            "",
            *_section("What happens", sections.get("What happens", "")),
            *_what_you_see(cause),
            *_section("Why", sections.get("Why", "")),
            *_section("Fix", sections.get("Fix", "")),
            *_programs(cause),
            *_how_it_is_found(cause),
            *_section("Known limits", sections.get("Known limits", "")),
            *_related(cause),
        ]
    )


def _sections(cause: Cause) -> dict[str, str]:
    """Return the prose of a cause by heading, with links to the causes it names."""

    def link(match: re.Match[str]) -> str:
        named = find(match[1])
        return match[0] if named is None or named is cause else f"[`{match[1]}`]({named.id}.md)"

    parts = re.split(r"^## (.+)$", cause.page.strip(), flags=re.MULTILINE)
    return {
        name.strip(): re.sub(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", link, text).strip()
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def _section(title: str, text: str) -> list[str]:
    return [f"## {title}", "", text, ""] if text else []


def _raises(cause: Cause) -> str:
    raises = (cause.raises,) if isinstance(cause.raises, str) else cause.raises or ()
    if cause.never_ends:
        return "nothing: it never ends"
    return " or ".join(f"`{name}`" for name in raises) or "nothing: training runs"


def _short_moments(cause: Cause) -> str:
    short = {
        Moment.SOURCE: "lint",
        Moment.BEFORE_FIT: "before fit",
        Moment.WHILE_TRAINING: "while training",
        Moment.AFTER_FAILURE: "after",
    }
    return ", ".join(short[moment] for moment in cause.moments if moment in short)


def _what_you_see(cause: Cause) -> list[str]:
    """Return the exceptions of the broken programs under both versions of Keras; a recorded text where none runs."""
    texts = sorted(cause.folder.glob("broken*.txt"))
    if texts:
        blocks = [fenced(text.read_text("utf-8").strip(), "text") for text in texts]
        return [
            "## What you see",
            "",
            "Recorded on another machine:",
            "",
            *"\n\n".join(blocks).split("\n"),
            "",
        ]
    runs = [printed().get(f"{cause.id}/{path.stem}", {}) for path in sorted(cause.folder.glob("broken*.py"))]
    tabs: list[str] = []
    for number, run in enumerate(runs):
        for keras, seen in sorted(run.items(), reverse=True):
            name = f"Keras {keras}" if number == 0 else f"Keras {keras}, another program"
            tabs += [f'=== "{name}"', "", *_indented(_exception(seen)), ""]
    if not tabs:
        return []
    return ["## What you see", "", *tabs]


def _exception(seen: dict[str, str]) -> str:
    """Return the last part of a traceback, and the whole below a fold."""
    message = plain(f"{seen['type']}: {seen['message']}" if seen["message"] else seen["type"])
    whole = plain(seen["text"])
    shown = without_library_frames(message)
    parts = [fenced(shown, "text")]
    if whole != shown:
        parts += ["", '??? note "The whole traceback"', "", *_indented(fenced(whole, "pytb"))]
    return "\n".join(parts)


def without_library_frames(message: str) -> str:
    """Return a message with `…` for the frames of libraries that it quotes."""
    kept: list[str] = []
    frame = -1  # the indentation of the frame that is being skipped
    for line in message.split("\n"):
        indentation = len(line) - len(line.lstrip())
        if _LIBRARY_FRAME.match(line):
            frame = indentation
            if not kept or kept[-1].strip() != "…":
                kept.append(f"{' ' * indentation}…")
        elif frame < 0 or line and indentation <= frame:
            frame = -1
            kept.append(line)
    return "\n".join(kept)


def plain(text: str) -> str:
    """Return the text without the colours of a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip()


def fenced(text: str, language: str) -> str:
    """Return a block of code; the fence is longer than any in the text."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
    return f"{fence}{language}\n{text}\n{fence}"


def _indented(text: str | list[str]) -> list[str]:
    lines = text.split("\n") if isinstance(text, str) else "\n".join(text).split("\n")
    return [f"    {line}" if line else "" for line in lines]


def _programs(cause: Cause) -> list[str]:
    """Return the change and both programs, for every pair."""
    lines: list[str] = []
    for number, path in enumerate(sorted(cause.folder.glob("broken*.py"))):
        broken, fixed = program(path), program(path.with_name(path.name.replace("broken", "fixed")))
        title = "The change" if number == 0 else "The change in another program"
        lines += [f"### {title}{_suffix(path)}", "", fenced(difference(broken, fixed), "diff"), ""]
        for name, text in (("Failing program", broken), ("Fixed program", fixed)):
            lines += [f'=== "{name}"', "", *_indented(fenced(text, "python")), ""]
    return lines


def _suffix(path: Path) -> str:
    rest = path.stem.removeprefix("broken").strip("_").replace("_", " ")
    return f" ({rest})" if rest else ""


def _how_it_is_found(cause: Cause) -> list[str]:
    lines = ["## How fitdoctor finds it", "", "| when | with |", "| --- | --- |"]
    lines += [f"| {when} | {tool} |" for when, tool in (FOUND_BY[m] for m in cause.moments if m in FOUND_BY)]
    lines.append("")
    broken = cause.folder / "broken.py"
    if Moment.SOURCE in cause.moments and broken.exists():
        report = lint_report(broken)
        if report:
            lines += ["What `fitdoctor lint` prints for the failing program:", "", fenced(report, "text"), ""]
    return lines


def lint_report(path: Path) -> str:
    """Return the text that `lint` prints for a program of the catalogue; "" if it finds nothing."""
    found = lint_text(program(path) + "\n", Found("train.py", Config()), Wishes(keras=3)).diagnosis
    return render(found, width=90, counts=False).rstrip() if found.findings else ""


@functools.cache
def _relations() -> dict[str, set[str]]:
    """Return the causes that each cause names on its page or explains, in both directions."""
    related: dict[str, set[str]] = {name: set() for name in catalogue()}
    for cause in catalogue().values():
        named = {found.id for word in re.findall(r"`([\w-]+)`", cause.page) if (found := find(word))}
        named |= {*re.findall(r"FIT\d{3}", cause.page), *cause.explains} & related.keys()
        for other in named - {cause.id}:
            related[cause.id].add(other)
            related[other].add(cause.id)
    return related


def _related(cause: Cause) -> list[str]:
    others = sorted(_relations()[cause.id])
    family = FAMILIES[cause.id[3]]
    lines = ["## Related causes", ""]
    lines += [f"- [{name}]({name}.md): {catalogue()[name].title}" for name in others]
    return [*lines, f"- [All causes of this family](index.md#{family})", ""]
