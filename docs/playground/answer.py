"""The playground's side in Python: asks the commands of fitdoctor, as a shell would, and adds the card that shows it."""

import ast
import contextlib
import io
import json
import re
import sys

from fitdoctor.catalogue import find
from fitdoctor.cli import main
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.report.card import card

NAMES = {"program": "train.py", "notebook": "train.ipynb"}


def answer(text: str, kind: str = "") -> str:
    """Return the answer to a pasted text as JSON: its kind, the diagnosis of each command, and how it looks."""
    kind = kind or kind_of(text)
    cause = find(text) if len(text) < 80 else None
    if cause is not None:
        return json.dumps({"kind": "cause", "cause": cause.id, "parts": []})
    parts = []
    if kind in NAMES:
        parts.append(linted(text, NAMES[kind]))
    if kind in ("text", "notebook"):
        told = explained(text)
        # A notebook may have been saved without an error in its outputs.
        if kind == "text" or told["diagnosis"]["findings"] or told["diagnosis"]["unexplained"]:
            parts.append(told)
    return json.dumps({"kind": kind, "cause": "", "parts": parts})


def kind_of(text: str) -> str:
    """Return `notebook`, `program` or `text`."""
    if text.lstrip().startswith("{"):
        try:
            if "cells" in json.loads(text):
                return "notebook"
        except ValueError:
            pass
    if "Traceback (most recent call last)" in text or re.search(
        r"^\w*(Error|Exception)\b: ", text, re.MULTILINE
    ):
        return "text"
    if re.search(r"^\s*(import|from) \w[\w.]*( as \w+| import .+)?\s*$", text, re.MULTILINE):
        return "program"
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return "text"
    return "program" if any(isinstance(node, (ast.Assign, ast.Call)) for node in ast.walk(tree)) else "text"


def explained(text: str) -> dict:
    """Return what `fitdoctor explain` says about a text."""
    out, error = command(["explain", "-", "--output-format", "json"], text)
    return part("fitdoctor explain error.log", out, error)


def linted(text: str, name: str) -> dict:
    """Return what `fitdoctor lint` says about a program or notebook, with its safe repairs."""
    source = ["lint", "-", "--stdin-filename", name]
    out, error = command([*source, "--output-format", "json"], text)
    said = part(f"fitdoctor lint {name}", out, error)
    if said["diagnosis"]["findings"]:
        said["diff"] = command([*source, "--diff"], text)[0]
        if said["diff"]:
            said["fixed"] = command([*source, "--fix"], text)[0]
    return said


def part(name: str, out: str, error: str) -> dict:
    """Return the result of one command, with its card."""
    diagnosis = json.loads(out) if out.startswith("{") else Diagnosis().to_json()
    quiet = not (diagnosis["findings"] or diagnosis["unexplained"] or diagnosis["crashes"])
    return {
        "command": name,
        "diagnosis": diagnosis,
        "remarks": error,
        "html": "" if quiet else card(Diagnosis.from_json(diagnosis)),
        "diff": "",
        "fixed": "",
    }


def command(words: list[str], text: str) -> tuple[str, str]:
    """Return what a command of fitdoctor writes to standard output and standard error."""
    out, error = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogatepass")), "utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            main(words)
    finally:
        sys.stdin = before
    return tuple(stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, error))
