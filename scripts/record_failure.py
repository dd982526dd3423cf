"""Record how programs of the corpus fail, as manifest and traceback, with the paths of no machine in them."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from fitdoctor.failure.text import failures_in  # noqa: E402
from tests.support.diagnosed import marked  # noqa: E402

CORPUS = ROOT / "tests/corpus"
MESSAGE_KEPT = 300  # characters: the test compares the start of the message only


def beginning(message: str) -> str:
    """The first part of a message; it does not end within the name of a file."""
    kept = message[:MESSAGE_KEPT]
    return (
        kept.rpartition('File "')[0]
        if kept.rpartition('File "')[2].count('"') == 0 and 'File "' in kept
        else kept
    )


def neutral(text: str) -> str:
    """`text` as another machine would have printed it: whose home it was is nobody's business."""
    site = sysconfig.get_path("purelib")
    for path, instead in (
        (site, "/home/user/venv/lib/python3.11/site-packages"),
        (str(Path(site).resolve()), "/home/user/venv/lib/python3.11/site-packages"),
        (sysconfig.get_path("stdlib"), "/usr/lib/python3.11"),
        (str(CORPUS / "failing"), "/home/user/project"),
        (str(ROOT), "/home/user/project"),
    ):
        text = text.replace(path, instead)
    left = re.search(
        r'File "(?!/home/user/|/usr/lib/python|/tmp/__autograph_generated_file|<)(/[^"]+)"', text
    )
    if left:
        raise SystemExit(f"a path of this machine is left in the text: {left[1]}")
    return text


def record(program: Path, seconds: float) -> str:
    mark = marked(program.read_text(encoding="utf-8"))
    if mark is None:
        raise SystemExit(f"{program.name} marks no line with `# <- FITxxx`")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "1", "PYTHONUNBUFFERED": "1"}
    try:
        ended = subprocess.run(
            [sys.executable, program.name],
            cwd=program.parent,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        text, hangs = neutral(ended.stderr), False
    except subprocess.TimeoutExpired:
        text, hangs = "", True
    failures = [failure for failure in failures_in(text) if not failure.type.endswith("Warning")]
    failed = bool(failures) and not hangs
    manifest = {
        "id": mark.id,
        "raises": failures[-1].type if failed else None,
        "hangs": hangs,
        "message": beginning(failures[-1].raw_message) if failed else "",
        "traceback": failed,
    }
    written = CORPUS / "manifest" / f"{program.stem}.json"
    written.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if failed:
        (CORPUS / "tracebacks" / f"{program.stem}.txt").write_text(text, encoding="utf-8")
    return f"{program.stem}: {manifest['raises'] or ('hangs' if hangs else 'does not fail')}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="+", metavar="NAME", help="a program of tests/corpus/failing, without .py"
    )
    parser.add_argument(
        "--timeout", type=float, default=120.0, help="seconds until a program counts as hanging"
    )
    args = parser.parse_args()
    for name in args.names:
        print(record(CORPUS / "failing" / f"{name.removesuffix('.py')}.py", args.timeout))


if __name__ == "__main__":
    main()
