"""run.json: a diagnosis with the facts and events that it rests on, to be drawn again later."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fitdoctor.diagnosis import Diagnosis

KEPT_KINDS = ("call", "failure", "end", "sources", "crash")


def default_path() -> Path:
    """Where the last run is kept when the user names no place: not beside the program."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "fitdoctor" / "last-run.json"


def save(path: Path, diagnosis: Diagnosis, pieces: tuple[dict[str, Any], ...], seconds: float) -> None:
    """Write a run whole or not at all.

    Raises:
        OSError: it cannot be written there.
    """
    plain = {
        **diagnosis.to_json(),
        "seconds": round(seconds, 3),
        "facts": [piece for piece in pieces if piece["kind"] == "call"],
        "events": [
            {name: value for name, value in piece.items() if name != "paths"}
            for piece in pieces
            if piece["kind"] in KEPT_KINDS and piece["kind"] not in ("call", "sources")
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    unfinished.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    os.replace(unfinished, path)


def load(path: Path) -> Diagnosis:
    """The diagnosis of a saved run.

    Raises:
        ValueError: it is not a saved run, is cut short, or of another version.
        OSError: it cannot be read.
    """
    return Diagnosis.from_json(load_plain(path))


def load_plain(path: Path) -> dict[str, Any]:
    """A saved run as it was written.

    Raises:
        ValueError: it is not JSON, or cut short.
        OSError: it cannot be read.
    """
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a saved run: not text") from None
    except json.JSONDecodeError as error:
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith("{") and error.pos >= len(text.rstrip()) - 1:
            raise ValueError(f"{path}: cut short: it ends in the middle (line {error.lineno})") from None
        raise ValueError(f"{path}: not JSON: {error.msg} in line {error.lineno}") from None
    if not isinstance(plain, dict):
        raise ValueError(f"{path}: not a saved run")
    return plain
