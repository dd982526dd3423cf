"""The second run of a program: traced up to its first call of Keras, where it answers and ends; it changes nothing."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fitdoctor.collect.aspects import is_data, is_dataset, same_aspect
from fitdoctor.plain import from_plain
from fitdoctor.records import dataclass
from fitdoctor.runner.line_tracer import LineTracer
from fitdoctor.runner.programs import user_frame
from fitdoctor.runner.second_run import ANSWERS, TASK, Question, Task
from fitdoctor.source.given_out import split_path

GAVE_UP = 3
_WRITES = os.O_TRUNC | os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
_NEVER = frozenset(
    """builtins.input ftplib.connect http.client.connect imaplib.open os.exec os.fork os.forkpty os.kill os.killpg
    os.posix_spawn os.spawn os.system poplib.connect shutil.move smtplib.connect socket.connect
    socket.sendmsg socket.sendto sqlite3.connect telnetlib.Telnet.open urllib.Request
    webbrowser.open""".split()
)
_QUERIES = ("uname", "lscpu", "ldconfig")
"""Commands that libraries ask about the machine when they are imported."""
_CHANGES = frozenset(
    """os.chmod os.chown os.link os.mkdir os.remove os.rename os.rmdir os.symlink os.truncate os.utime
    shutil.copyfile shutil.copytree shutil.rmtree""".split()
)


def begin_second_run(folder: Path) -> Answering:
    """Trace from here on, and end the process before it changes anything outside of its folder."""
    task = from_plain(Task, json.loads((folder / TASK).read_text("utf-8")))
    sys.addaudithook(partial(_guard, os.path.realpath(folder) + os.sep))
    questions = task.questions
    aspects = tuple(question.aspect for question in questions)
    tracer = LineTracer(aspects, _give_up, lists=any(question.lists for question in questions))
    tracer.start()
    return Answering(task, tracer, folder)


def _give_up() -> None:
    os._exit(GAVE_UP)


def _guard(folder: str, event: str, arguments: tuple[Any, ...]) -> None:
    """For `sys.addaudithook`: end the process where the program would write, delete, connect or start something."""
    if event == "open":
        path, _mode, flags = arguments
        if isinstance(flags, int) and flags & _WRITES and not _is_harmless(path, folder):
            _give_up()
    elif event in _NEVER:
        _give_up()
    elif event == "subprocess.Popen":
        words = arguments[1]
        first = words[0] if isinstance(words, (list, tuple)) and words else ""
        if os.path.basename(os.fsdecode(first)) not in _QUERIES:
            _give_up()
    elif event in _CHANGES:
        path = arguments[1] if event in ("shutil.copyfile", "shutil.copytree") else arguments[0]
        exists = event == "os.mkdir" and not isinstance(path, int) and os.path.isdir(path)
        if not exists and not _is_harmless(path, folder):
            _give_up()


def _is_harmless(path: Any, folder: str) -> bool:
    if isinstance(path, int):
        return True  # opened, and judged, before
    real = os.path.realpath(os.fsdecode(path))
    return real.startswith((folder, "/dev/", "/proc/"))


@dataclass(frozen=True, eq=False)
class Answering:
    """Watches for the first call of Keras."""

    task: Task
    tracer: LineTracer
    folder: Path

    def imported(self, library: str) -> None:
        """Keras has been imported."""

    def crashed(self, where: str, error: Exception) -> None:
        """End: an answer from a broken run is worth nothing."""
        _give_up()

    def call(
        self,
        original: Callable[..., Any],
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Answer, and end: nothing is trained in a second run."""
        self._answer(original, method, model, args, kwargs)

    def _answer(
        self,
        original: Callable[..., Any],
        method: str,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        """Write the answers, and end."""
        sys.settrace(None)
        try:
            frame = user_frame(sys._getframe(2))
            here = (frame.f_code.co_filename, frame.f_lineno, method) if frame is not None else None
            if here != (self.task.path, self.task.line, self.task.method):
                _give_up()
            bound = inspect.signature(original).bind_partial(model, *args, **kwargs).arguments
            self.tracer.given(frame, list(bound.values())[1:])
            answers = [
                self._one(index, question, bound) for index, question in enumerate(self.task.questions)
            ]
            (self.folder / ANSWERS).write_text(json.dumps(answers), "utf-8")
        # A border: without an answer the first run keeps its own.
        except Exception:
            _give_up()
        os._exit(0)

    def _one(self, index: int, question: Question, bound: dict[str, Any]) -> Any:
        name, keys = split_path(question.argument)
        value: Any = bound.get(name)
        while is_data(value) or isinstance(value, dict):
            if not keys:
                break
            value, keys = value[keys[0]], keys[1:]
        if is_dataset(value):
            wanted = question.wanted
        elif is_data(value):
            wanted = self.tracer.aspects(value)[index]
            if _told(wanted) != question.wanted:
                return None
        else:
            return None
        wanted = tuple(wanted) if isinstance(wanted, list) else wanted

        def has(aspects: Any) -> bool:
            return aspects is not None and same_aspect(question.aspect, wanted, aspects[index])

        chain = self.tracer.steps.origin(self.tracer.key(value), has, last=question.last)
        if not chain:
            return None
        return {
            "steps": [[step.path, step.line] for step in chain],
            "passed": [list(place) for place in self.tracer.steps.places(chain)],
            "before": [_told(each.aspect[index]) for each in chain[-1].operands if each.aspect is not None],
        }


def _told(aspect: Any) -> Any:
    """An aspect as JSON gives it back."""
    return list(aspect) if isinstance(aspect, tuple) else aspect
