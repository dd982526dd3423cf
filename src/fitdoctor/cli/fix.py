"""`fitdoctor fix`: repairs that are proven by running the repaired program."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

from fitdoctor.cli import UsageError
from fitdoctor.cli.options import (
    Parser,
    add_cause_options,
    add_output_options,
    give_out,
    settings,
    wants_color,
)
from fitdoctor.diagnosis import Finding, Fix
from fitdoctor.records import replace
from fitdoctor.repair.candidates import Candidate
from fitdoctor.repair.copies import Copies
from fitdoctor.repair.file_restore import FileRestore
from fitdoctor.repair.files import UserFile
from fitdoctor.repair.proof import Seen, Wishes
from fitdoctor.repair.search import Search

DESCRIPTION = """\
Find what is wrong with a training program, try repairs on a copy, and show the diff of those that are proven:
the repaired program ran, and the cause was gone. Every fit is cut to two steps, unless these show nothing wrong.
The program runs in its own folder, with its arguments, once per repair.
Nothing is written without `--write`."""


def main(argv: list[str]) -> int:
    """Repair a program.

    Returns:
        0 if every error found is repaired and verified, else 1.
    """
    parser = make_parser()
    ours, program = _split(parser, argv)
    options = parser.parse_args(ours)
    if not program or program == ["-m"]:
        raise UsageError("name a script or a notebook to fix, or `-m MODULE` (see `fitdoctor fix --help`)")
    if options.timeout <= 0:
        raise UsageError("`--timeout` must be more than 0 seconds")
    _refuse_unwritable(options.output_file)
    wishes = _wishes(options, program)
    with _ending_in_order():
        return _fix(options, wishes)


def _split(parser: Parser, argv: list[str]) -> tuple[list[str], list[str]]:
    """Split the arguments into our options and the program with its arguments."""
    ours, program = parser.split(argv)
    word = argv[len(ours)] if program else "-m"
    if word in ("--", "-m"):
        return ours, program
    if program[1:2] == ["--"]:
        return ours, [word, *program[2:]]
    # `fix train.py --write`: it would reach the program, and nothing would be written. Programs have options
    # such as `--config`, `--timeout` and `--verbose` of their own.
    misplaced = next((other for other in program[1:] if other in ("--write", "--unsafe")), None)
    if misplaced is not None:
        raise UsageError(
            f"options after `{word}` go to the program: write `fitdoctor fix {misplaced} {word}`, "
            f"or `fitdoctor fix -- {word} {misplaced}` if the program takes `{misplaced}`"
        )
    return ours, program


def make_parser() -> Parser:
    """The options of `fix`."""
    parser = Parser("fix", DESCRIPTION, "[OPTIONS] SCRIPT | -m MODULE [ARGS…]")
    add = parser.add_argument
    add(
        "--write",
        action="store_true",
        help="write the repair; keeps a backup beside the file, unless git has it",
    )
    add("--unsafe", action="store_true", help="also try repairs that change what the model learns")
    add("--all", action="store_true", help="repair one finding after another until the program runs")
    add(
        "--timeout",
        type=float,
        default=120.0,
        metavar="SECONDS",
        help="time limit for one run of the program (default: 120)",
    )
    add_cause_options(parser)
    add("-q", "--quiet", action="store_true", help="no progress on standard error")
    add_output_options(parser)
    return parser


def _wishes(options: argparse.Namespace, program: list[str]) -> Wishes:
    from fitdoctor.cli.installed import keras_major
    from fitdoctor.repair.proof import Wishes

    module = program[1] if program[0] == "-m" else ""
    script = _file_of(module) if module else program[0]
    config = settings(options, script)
    if not module:
        _refuse_what_cannot_start(script)
    return Wishes(
        script=script,
        module=module,
        arguments=tuple(program[2 if module else 1 :]),
        timeout=options.timeout,
        select=config.select,
        ignore=config.ignore,
        keras=config.keras or keras_major(),
    )


def _file_of(module: str) -> str:
    """Return the file that `python -m` would run."""
    from fitdoctor.runner.preflight import CannotStart, file_of_module
    from fitdoctor.source.read import display_path

    try:
        return display_path(file_of_module(module))
    except CannotStart as error:
        raise UsageError(str(error)) from None


def _refuse_unwritable(path: str | None) -> None:
    """Raise before the program runs if the output cannot be written."""
    if path and (os.path.isdir(path) or not os.path.isdir(os.path.dirname(os.path.abspath(path)))):
        raise UsageError(f"cannot write `{path}`")


def _refuse_what_cannot_start(script: str) -> None:
    from fitdoctor.runner.preflight import CannotStart, check_script

    if script.endswith(".ipynb"):
        if not os.path.isfile(script):
            raise UsageError(f"there is no file `{script}`")
        return
    try:
        check_script(script)
    except CannotStart as error:
        raise UsageError(str(error)) from None


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM or a closed terminal unwind like Ctrl-C, so that copies and children are cleaned up."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    kept: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                kept[number] = signal.signal(number, leave)
    try:
        yield
    except KeyboardInterrupt:
        print("fitdoctor: interrupted; your files are as they were", file=sys.stderr)
        raise
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


# --- the work -----------------------------------------------------------------------------------------------------


def _fix(options: argparse.Namespace, wishes: Wishes) -> int:
    from fitdoctor.cli.fix_progress import progress
    from fitdoctor.repair import proof
    from fitdoctor.repair.copies import Copies, sweep
    from fitdoctor.repair.file_restore import FileRestore
    from fitdoctor.repair.files import CannotEdit, project_root
    from fitdoctor.repair.search import Search
    from fitdoctor.repair.warm_start import WarmStart
    from fitdoctor.runner.invocation import invocation

    started = time.time()
    sweep(os.path.dirname(os.path.realpath(wishes.script)))
    folders = [os.getcwd(), project_root(wishes.script)]
    with contextlib.ExitStack() as stack:
        copies, restore = stack.enter_context(Copies()), stack.enter_context(FileRestore(folders))
        tell = stack.enter_context(progress(options.quiet))
        warm = stack.enter_context(WarmStart(wishes.path_start, _source_of(wishes)))

        def prove(files: Mapping[str, UserFile], texts: Mapping[str, str], whole: bool) -> Seen:
            laid = copies.lay_out(wishes.script, files, texts, as_module=bool(wishes.module))
            start = warm.start if warm.process is not None else None
            return proof.run(wishes, laid, start, put_back=restore.put_back, whole=whole)

        search = Search(
            wishes.script, prove, tell, unsafe=options.unsafe, everything=options.all, keras=wishes.keras
        )
        try:
            search.go()
        except CannotEdit as error:
            raise UsageError(str(error)) from None
    what = invocation("fix", wishes.script, wishes.arguments, started, time.time() - started)
    search.first = replace(search.first, diagnosis=replace(search.first.diagnosis, invocation=what))
    written = _write(search) if options.write and search.changes else None
    _report(options, search, written, (*_of_files(copies, restore), *_remarks(wishes, search)))
    return 0 if search.clean and (written is not None or not options.write or not search.changes) else 1


def _source_of(wishes: Wishes) -> list[str]:
    """Return the text of the program and of its modules."""
    from fitdoctor.source.project import Project
    from fitdoctor.source.read import SourceError

    try:
        return [module.text for module in Project.around(wishes.script, wishes.keras).modules]
    except SourceError:
        return []


def _write(search: Search) -> list[tuple[str, str]] | None:
    """Return the files that were written, each with its backup; None if that failed."""
    from fitdoctor.repair.files import CannotEdit
    from fitdoctor.repair.writing import write

    try:
        return write(search.changes)
    except CannotEdit as error:
        print(f"fitdoctor: {error}", file=sys.stderr)
        return None


# --- telling ------------------------------------------------------------------------------------------------------


def _report(
    options: argparse.Namespace, search: Search, written: list[tuple[str, str]] | None, remarks: Iterable[str]
) -> None:
    if options.output_format != "text" or options.output_file:
        give_out(search.diagnosis(), options)
    else:
        if options.verbose:
            give_out(search.diagnosis(), options)
        sys.stdout.write(_text(search, wants_color(options.color, sys.stdout)))
        sys.stdout.flush()
    for line in (*remarks, _conclusion(options, search, written)):
        print(f"fitdoctor: {line}", file=sys.stderr)


def _text(search: Search, color: bool) -> str:
    """Return each chosen repair with its reasons, and the combined diff."""
    from fitdoctor.source.read import display_path

    lines: list[str] = []
    for each in search.mended:
        lines.append(_headline(each.finding))
        proved = "verified" if each.verified else "not verified"
        lines.append(f"  repair: {each.fix.title} ({_label(each.fix)}; {proved})")
        lines += [f"  {line}" for line in each.reasons]
    for found in search.last.diagnosis.at_least(_warning()):
        lines += [_headline(found), *(f"  by hand: {fix.title}" for fix in found.fixes if not fix.edits)]
    for failure in search.last.diagnosis.unexplained:
        place = f"{failure.location}: " if failure.location is not None else ""
        message = failure.message.strip().split("\n")[0]
        lines.append(f"{place}error: no known cause explains {failure.type}: {message}")
    if not search.last.ended_well and not lines:
        lines.append(f"error: the program {search.last.wrong}")
    parts = ["\n".join(lines) + "\n"] if lines else []
    parts += [_painted(change.diff(display_path(change.file.path)), color) for change in search.changes]
    return "\n".join(parts)


def _label(fix: Fix) -> str:
    """Return whether a repair may be applied without asking, in words."""
    from fitdoctor.diagnosis import Applicability

    return "safe" if fix.applicability is Applicability.SAFE else "unsafe: changes what the model learns"


def _headline(finding: Finding) -> str:
    place = f"{finding.location}: " if finding.location is not None else ""
    return f"{place}{finding.severity.value}[{finding.id}]: {finding.message}"


def _painted(diff: str, color: bool) -> str:
    if not color:
        return diff
    from io import StringIO

    from rich.console import Console
    from rich.syntax import Syntax

    console = Console(file=StringIO(), force_terminal=True, color_system="standard", width=_WIDEST)
    text = Syntax("", "diff", theme="ansi_dark", background_color="default").highlight(diff)
    text.rstrip()
    with console.capture() as captured:
        console.print(text, soft_wrap=True)
    return captured.get()


_WIDEST = 10_000
"""Columns; lines of a diff are never wrapped."""

_MOST_NAMED = 5


def _of_files(copies: Copies, restore: FileRestore) -> Iterator[str]:
    if copies.elsewhere:
        yield "the folder is not writable: the copies ran in a temporary folder, so `__file__` was different"
    if restore.restored:
        yield f"the program overwrites these files; they are restored: {_named(restore.restored)}"
    if restore.removed:
        yield f"removed what the program wrote after two training steps: {_named(restore.removed)}"
    if left := restore.left():
        yield f"new files, left in place: {_named(left)}"
    if restore.lost:
        yield f"changed by the program and not restored: {_named(restore.lost)}"


def _named(paths: Iterable[str]) -> str:
    from fitdoctor.source.read import display_path

    names = [f"`{display_path(path)}`" for path in paths]
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _remarks(wishes: Wishes, search: Search) -> Iterator[str]:
    for crash in search.last.diagnosis.crashes:
        yield f"internal error: {crash.where}: {crash.error}"
    script = search.last.diagnosis.script
    if script is not None and script.exception is not None and script.exception.type == "EOFError":
        yield "the program reads standard input, which is empty here; pass what it needs as arguments"
    if search.first.status == 2 and script is not None and script.exception is None:
        # As argparse, click and absl end a program whose arguments they refuse.
        given = " ".join(wishes.arguments) or "none"
        yield f"the program exited with status 2; does it need other arguments (given: {given})?"
    if search.first.timed_out and not (search.mended and search.last.ended_well):
        yield (
            f"the program did not finish within {wishes.timeout:g} s, so nothing can be proved; "
            "use `--timeout SECONDS` to allow more"
        )
    if not search.clean:
        for finding, candidate in _only_unsafe(search):
            yield f"unsafe repair, not tried: {finding.id}: {candidate.fix.title}"


def _only_unsafe(search: Search) -> list[tuple[Finding, Candidate]]:
    """Return the unsafe repairs, which were not requested, of what is still wrong."""
    wrong = {(found.id, found.subject) for found in search.last.diagnosis.at_least(_warning())}
    return [
        (finding, candidate)
        for finding, candidate in search.held_back
        if (finding.id, finding.subject) in wrong
    ]


def _conclusion(options: argparse.Namespace, search: Search, written: list[tuple[str, str]] | None) -> str:
    from fitdoctor.source.read import display_path

    if not search.mended:
        return _without_repair(search)
    count = len(search.mended)
    words = f"{count} {'repair' if count == 1 else 'repairs'}"
    if not search.clean:
        left = max(len(search.last.errors), 1)
        words = f"{count} of {count + left} repaired"
        if not search.last.ended_well:
            words += f"; the program now {search.last.wrong}"
        if not options.all:
            words += "; use `--all` to continue"
        elif _only_unsafe(search):
            words += "; use `--unsafe` to also try repairs that change what the model learns"
    if written is None:
        return f"{words}; nothing written" + ("" if options.write else "; use `--write` to apply")
    files = ", ".join(
        f"{display_path(path)}"
        + (f" (backup: {display_path(backup)})" if backup else " (the old version is in git)")
        for path, backup in written
    )
    return f"{words}; wrote {files}"


def _without_repair(search: Search) -> str:
    if not search.first.diagnosis.at_least(_warning()) and search.first.ended_well:
        return "no problems found"
    tried = f" ({len(search.refused)} tried)" if search.refused else ""
    unsafe = len(_only_unsafe(search))
    if unsafe:
        them = "an unsafe repair exists" if unsafe == 1 else f"{unsafe} unsafe repairs exist"
        return f"no safe repair found{tried}; {them}: use `--unsafe` to try repairs that change what the model learns"
    return f"no repair found{tried}"


def _warning() -> Any:
    from fitdoctor.diagnosis import Severity

    return Severity.WARNING
