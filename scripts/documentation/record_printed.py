"""Record what the broken programs of the catalogue print, under Keras 3 and Keras 2: `printed.json`.

`python -m scripts.documentation.record_printed [ID…]` runs the programs of these causes (all by default).
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.failure.messages import plain_text, read_message
from scripts.documentation.programs import without_marker
from scripts.record_failure import neutral
from tests.keras_2.translation import for_keras_2
from tests.support.fork_server import Ended, ForkServer

PRINTED = Path(__file__).with_name("printed.json")
_SERVER_FRAME = re.compile(
    r'^ *File "/home/user/project/tests/support/fork_server\.py", line.*\n(?: {4,}.*\n|\n)?', re.MULTILINE
)
"""A program that is run as the main program has no such frames."""
HANGS_AFTER = 8.0
"""Seconds after which a program that never ends is ended."""


def main(ids: list[str]) -> None:
    """Record the programs of these causes; keep what is known of the others."""
    printed: dict[str, dict[str, object]] = json.loads(PRINTED.read_text("utf-8")) if PRINTED.exists() else {}
    servers = {"3": ForkServer(), "2": ForkServer({"TF_USE_LEGACY_KERAS": "1"})}
    try:
        for cause in catalogue().values():
            if ids and cause.id not in ids:
                continue
            for program in sorted(cause.folder.glob("broken*.py")):
                name = f"{cause.id}/{program.stem}"
                printed[name] = {
                    keras: found
                    for keras, server in servers.items()
                    if (found := record(cause, program, keras, server)) is not None
                }
                print(name, *printed[name], flush=True)
            save(printed)
    finally:
        for server in servers.values():
            server.close()


def save(printed: dict[str, dict[str, object]]) -> None:
    """Write all recorded texts, by cause."""
    text = json.dumps(dict(sorted(printed.items())), indent=1, ensure_ascii=False)
    PRINTED.write_text(text + "\n", encoding="utf-8")


def record(cause: Cause, program: Path, keras: str, server: ForkServer) -> dict[str, str] | None:
    """Return type, message and text of the exception that a program ends with; None if it does not raise."""
    source = without_marker(program.read_text("utf-8"))
    if keras == "2":
        translated = for_keras_2(source)
        if translated is None:
            return None
        source = translated
    with tempfile.TemporaryDirectory() as folder:
        ended = run(source, Path(folder), server, HANGS_AFTER if cause.never_ends else 90.0)
        if ended.exception is None:
            return None
        kind, message = (portable(part, folder) for part in ended.exception)
        text = portable(ended.stderr, folder)
    # A C++ library may have printed before: what people paste begins with the traceback.
    begin = text.rfind('\nTraceback (most recent call last):\n  File "/home/user/project/train.py"')
    text = text[begin + 1 :].rstrip() if begin >= 0 else text.rstrip()
    return {
        "type": kind,
        "dialect": read_message(message, here=False).dialect,
        "message": message,
        "text": text,
    }


def run(source: str, folder: Path, server: ForkServer, timeout: float) -> Ended:
    """Run a source text as `train.py` in a folder that holds nothing else."""
    (folder / "out").mkdir()
    (folder / "project").mkdir()
    program = folder / "project/train.py"
    program.write_text(source, encoding="utf-8")
    return server.run(program, folder / "out", mode="plain", cwd=program.parent, timeout=timeout)


def told_by(kind: str, message: str) -> str:
    """Return what is the same whenever a program raises: its first plain words, without names, numbers and folders."""
    text = plain_text(read_message(message, here=False).text)
    text = text.replace("allocator mklcpu", "allocator cpu")  # which of them depends on the processor
    plain = re.findall(r"""(?<!\S)[`'"(]?([A-Za-z]+)[`'").,:;]*(?!\S)""", text)
    return f"{kind}: {' '.join(plain)[:120]}"


def portable(text: str, folder: str) -> str:
    """Return the text as another machine would have printed it."""
    text = neutral(text.replace(f"{folder}/project", "/home/user/project"))
    return _SERVER_FRAME.sub("", text)


if __name__ == "__main__":
    main(sys.argv[1:])
