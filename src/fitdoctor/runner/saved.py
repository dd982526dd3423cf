"""run.json: a diagnosis with the facts and events behind it, to be re-rendered later."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fitdoctor.diagnosis import Diagnosis

KEPT_KINDS = ("call", "cluster", "silent", "failure", "end", "sources", "crash")


def default_path() -> Path:
    """Return where the last run is saved if the user names no file: not next to the program."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "fitdoctor" / "last-run.json"


def save(path: Path, diagnosis: Diagnosis, pieces: tuple[dict[str, Any], ...], seconds: float) -> None:
    """Write a run atomically.

    Raises:
        OSError: the file cannot be written.
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
    """Return the diagnosis of a saved run.

    Raises:
        ValueError: see `read`.
        OSError: it cannot be read.
    """
    return read(path.read_bytes(), str(path))


def read(raw: bytes, name: str) -> Diagnosis:
    """Return the diagnosis in a saved text; `name` is its file name in messages.

    Raises:
        ValueError: it is not a diagnosis, is truncated, or has another schema version.
    """
    try:
        return Diagnosis.from_json(json.loads(raw.decode("utf-8-sig")))
    except UnicodeDecodeError:
        said = " is not JSON: it contains binary data"
    except json.JSONDecodeError as error:
        said = f" is not JSON: line {error.lineno}: {error.msg}"
        if error.pos >= len(error.doc.rstrip()):
            said = f" is truncated: it ends in the middle of line {error.lineno}"
    except RecursionError:
        said = " is not a diagnosis: it is nested too deeply"
    except (ValueError, KeyError, TypeError) as error:
        said = f": {error}"
    raise ValueError(f"`{name}`{said}")
