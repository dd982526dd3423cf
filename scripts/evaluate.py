"""Measure fitdoctor on the corpus: right cause first, right line, a fix that runs, silence on the rest."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from fitdoctor.diagnosis import Applicability, Diagnosis, Finding, Severity  # noqa: E402
from fitdoctor.edits import apply_edits  # noqa: E402
from tests.support.diagnosed import explain, lint, marked, run_plain, run_watched  # noqa: E402
from tests.support.fork_server import ForkServer  # noqa: E402

CORPUS = ROOT / "tests/corpus"


def programs(kind: str, args: argparse.Namespace) -> list[Path]:
    if args.catalogue:
        name = {"failing": "broken.py", "fixed": "fixed.py"}.get(kind)
        found = sorted((ROOT / "src/fitdoctor/catalogue").glob(f"*/*/{name}")) if name else []
    else:
        found = sorted((CORPUS / kind).glob("*.py"))
    wanted = [word.upper() for word in args.ids.split(",") if word]
    chosen = []
    for path in found:
        mark = (
            marked(
                (
                    path.with_name("broken.py") if args.catalogue else CORPUS / "failing" / path.name
                ).read_text()
            )
            if kind != "working"
            else None
        )
        if kind != "working" and wanted and not (mark and any(mark.id.startswith(w) for w in wanted)):
            continue
        if args.match and not any(word in str(path) for word in args.match.split(",")):
            continue
        chosen.append(path)
    return chosen


def name_of(path: Path) -> str:
    return f"{path.parts[-2]}/{path.name}" if path.name in ("broken.py", "fixed.py") else path.name


def described(finding: Finding | None) -> str:
    if finding is None:
        return "-"
    line = finding.location.line if finding.location else None
    return f"{finding.id}:{line} {finding.severity.value[0]}/{finding.confidence.value[0]}/{finding.moment.value[0]}"


def look(path: Path, moment: str, server: ForkServer) -> Diagnosis:
    if moment == "lint":
        return lint(path)
    if moment == "text":
        saved = CORPUS / "tracebacks" / f"{path.stem}.txt"
        text = saved.read_text(errors="replace") if saved.exists() else ""
        if path.name == "broken.py":
            text = run_plain(server, path).stderr
        return explain(text, path)
    diagnosis, _ended = run_watched(server, path, timeout=40)
    return diagnosis


def failing(path: Path, moment: str, server: ForkServer, args: argparse.Namespace) -> str:
    mark = marked(path.read_text())
    assert mark is not None
    diagnosis = look(path, moment, server)
    first = diagnosis.primary
    line = first.location.line if first and first.location else None
    right = first is not None and first.id == mark.id
    verdict = (
        "ok" if right and line in mark.accepted else "LINE" if right else "MISS" if first is None else "WRONG"
    )
    if right and args.fixes:
        verdict += " " + fix_verdict(path, first, server)
    detail = f"{mark.id}:{','.join(map(str, mark.accepted))}"
    print(f"{verdict:12} {name_of(path):55} want {detail:18} got {described(first)}", flush=True)
    if args.verbose or diagnosis.crashes:
        show(diagnosis)
    return verdict


def fix_verdict(path: Path, finding: Finding, server: ForkServer) -> str:
    """Apply the first fix with edits and run the result."""
    for fix in finding.fixes:
        if fix.applicability is Applicability.DISPLAY or not fix.edits:
            continue
        folder = Path(tempfile.mkdtemp())
        copy = folder / path.name
        try:
            copy.write_text(apply_edits(path.read_text(), fix.edits))
            diagnosis, ended = run_watched(server, copy, timeout=40)
        except ValueError as error:
            return f"FIX-BAD {error}"
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if ended.status == 0 and not diagnosis.at_least(Severity.WARNING):
            return "fixed"
        left = ", ".join(f.id for f in diagnosis.at_least(Severity.WARNING))
        return f"FIX-FAILS({ended.status} {left})"
    return "nofix"


def silent(path: Path, moment: str, server: ForkServer, args: argparse.Namespace) -> str:
    diagnosis = look(path, moment, server)
    loud = diagnosis.at_least(Severity.WARNING)
    verdict = "ALARM" if loud or diagnosis.unexplained else "info" if diagnosis.findings else "ok"
    if verdict != "ok" or args.verbose or diagnosis.crashes:
        print(f"{verdict:12} {name_of(path):55} {', '.join(map(described, diagnosis.findings))}", flush=True)
        show(diagnosis)
    return verdict


def show(diagnosis: Diagnosis) -> None:
    for finding in diagnosis.findings:
        print(f"       {described(finding)} {finding.message}")
        for fix in finding.fixes:
            print(f"           fix[{fix.applicability.value},{len(fix.edits)}] {fix.title}")
    for crash in diagnosis.crashes:
        print(f"       CRASH {crash.where}: {crash.error}")
    for left in diagnosis.unexplained:
        print(f"       UNEXPLAINED {left.type}: {left.message[:150]!r} at {left.location}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", default="", help="beginnings of ids, such as FIT1,FIT203")
    parser.add_argument("--only", default="failing,fixed,working")
    parser.add_argument("--moment", default="run", choices=("run", "lint", "text"))
    parser.add_argument("--match", default="", help="words in the file name")
    parser.add_argument(
        "--catalogue", action="store_true", help="the catalogue's own pairs instead of the corpus"
    )
    parser.add_argument("--fixes", action="store_true", help="apply the first fix and run the result")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    server = ForkServer()
    for kind in args.only.split(","):
        verdicts: Counter[str] = Counter()
        for path in programs(kind, args):
            judge = failing if kind == "failing" else silent
            try:
                verdicts[judge(path, args.moment, server, args)] += 1
            except Exception as error:  # a crash of ours must not hide the other programs
                verdicts["CRASH"] += 1
                print(f"CRASH        {name_of(path):55} {type(error).__name__}: {error}", flush=True)
        print(f"== {kind} ({args.moment}): {json.dumps(dict(verdicts.most_common()))}", flush=True)
    server.close()


if __name__ == "__main__":
    main()
