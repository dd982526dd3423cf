"""Compare what fitdoctor says about every program of the corpus with the recorded verdicts.

`tests/corpus/verdicts.tsv` has one line per program: what `lint` says, what `explain` says about its recorded traceback, and
what `run` says. A verdict is the first finding of a failing program (`FIT203:15`), or every finding of a program that should
be silent (`-` for none). `make test` checks the first two columns; `make corpus` runs every program and checks all three.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from fitdoctor.diagnosis import Diagnosis, Finding  # noqa: E402
from tests.support.diagnosed import explain, lint, marked, run_watched  # noqa: E402
from tests.support.fork_server import ForkServer  # noqa: E402

CORPUS = ROOT / "tests/corpus"
VERDICTS = CORPUS / "verdicts.tsv"
COLUMNS = ("lint", "text", "run")
KINDS = ("failing", "fixed", "working")

Verdicts = dict[str, dict[str, str]]
"""By `kind/name.py`, then by column."""


def programs() -> list[Path]:
    """Every program of the corpus."""
    return [path for kind in KINDS for path in sorted((CORPUS / kind).glob("*.py"))]


def name_of(path: Path) -> str:
    """`failing/fit101_wide_table.py`."""
    return f"{path.parent.name}/{path.name}"


def verdict(path: Path, column: str, server: ForkServer | None = None) -> str:
    """What fitdoctor says about a program in one of its ways."""
    if column == "lint":
        return _said(path, lint(path))
    if column == "text":
        saved = CORPUS / "tracebacks" / f"{path.stem}.txt"
        if path.parent.name != "failing" or not saved.exists():
            return ""
        return _said(path, explain(saved.read_text("utf-8", errors="replace"), path))
    assert server is not None
    diagnosis, _ended = run_watched(server, path, timeout=120)
    return _said(path, diagnosis)


def _said(path: Path, diagnosis: Diagnosis) -> str:
    if diagnosis.crashes:
        return f"internal error: {diagnosis.crashes[0].where}"
    shown = diagnosis.findings[:1] if path.parent.name == "failing" else diagnosis.findings
    words = [_short(finding) for finding in shown]
    words += [f"unexplained {left.type}" for left in diagnosis.unexplained[: 0 if words else 1]]
    return " ".join(words) or "-"


def _short(finding: Finding) -> str:
    return f"{finding.id}:{finding.location.line}" if finding.location else finding.id


def read_verdicts() -> Verdicts:
    """The recorded verdicts."""
    lines = VERDICTS.read_text("utf-8").splitlines()[1:] if VERDICTS.exists() else []
    split = [line.split("\t") for line in lines]
    return {words[0]: dict(zip(COLUMNS, words[1:], strict=True)) for words in split}


def write_verdicts(verdicts: Verdicts) -> None:
    """Write the file, one line per program."""
    rows = [("program", *COLUMNS)]
    rows += [(name, *(said.get(column, "") for column in COLUMNS)) for name, said in sorted(verdicts.items())]
    VERDICTS.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")


def is_right(path: Path, said: str) -> bool:
    """Whether a verdict is what it should be: the marked cause and line, or silence."""
    mark = marked(path.read_text("utf-8")) if path.parent.name == "failing" else None
    if mark is None:
        return said in ("-", "")
    return said in [f"{mark.id}:{line}" for line in mark.accepted]


def changes(found: Verdicts, recorded: Verdicts) -> Iterator[tuple[str, str, str, str]]:
    """(program, column, recorded, found) of every verdict that differs."""
    for name, said in found.items():
        for column, now in said.items():
            before = recorded.get(name, {}).get(column, "not recorded")
            # A column that was never recorded has nothing to compare with.
            if now != before and (before or column != "run"):
                yield name, column, before, now


def main() -> int:
    """Judge the corpus; 1 if a verdict differs from the recorded one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="also run every program (about half an hour)")
    parser.add_argument(
        "--record", action="store_true", help="save the current verdicts as the recorded ones"
    )
    parser.add_argument("--match", default="", help="only programs with this in their name")
    options = parser.parse_args()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    columns = COLUMNS if options.run else COLUMNS[:2]
    server = ForkServer() if options.run else None
    recorded, found = read_verdicts(), {}
    for path in programs():
        if options.match in name_of(path):
            found[name_of(path)] = {column: verdict(path, column, server) for column in columns}
    if server is not None:
        server.close()
    changed = list(changes(found, recorded))
    for name, column, before, now in changed:
        now_right = is_right(CORPUS / name, now)
        kind = "better" if now_right else "worse" if is_right(CORPUS / name, before) else "other"
        print(f"{kind:6}  {column:4}  {name:60}  {before} -> {now}")
    right = {
        column: sum(is_right(CORPUS / name, said[column]) for name, said in found.items())
        for column in columns
    }
    print(
        f"{len(found)} programs; right: " + ", ".join(f"{column} {count}" for column, count in right.items())
    )
    if options.record:
        for name, said in found.items():
            recorded.setdefault(name, {}).update(said)
        write_verdicts({name: said for name, said in recorded.items() if (CORPUS / name).exists()})
        return 0
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
