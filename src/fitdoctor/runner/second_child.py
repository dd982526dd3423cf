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
from fitdoctor.json_codec import from_plain
from fitdoctor.records import dataclass
from fitdoctor.runner.first_bad_line import Question, Trail, origin
from fitdoctor.runner.hooks import HOMES
from fitdoctor.runner.noted_code import Site, Sites
from fitdoctor.runner.parted_data import divergence, unprepared
from fitdoctor.runner.programs import user_frame
from fitdoctor.runner.second_run import ANSWERS, TASK, Task
from fitdoctor.runner.value_history import History
from fitdoctor.source.running_notebook import named_by_cell
from fitdoctor.source.yielded_values import PARTS, split_path

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
    """Note values from here on, and end the process before it changes anything outside of its folder."""
    task = from_plain(Task, json.loads((folder / TASK).read_text("utf-8")))
    sys.addaudithook(partial(_guard, os.path.realpath(folder) + os.sep))
    history = History(Sites(), [question.aspect for question in task.questions], _give_up)
    history.begin()
    history.sites.note_imports()
    return Answering(task, history, folder)


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


@dataclass(eq=False)
class Answering:
    """Watches for the call of Keras that is asked about."""

    task: Task
    history: History
    folder: Path
    _calls: int = 0
    """Those made where the one in question is made."""
    _under_way: bool = False

    def imported(self, library: str) -> None:
        """Keras has been imported: from now on, a model that is saved ends the run, as HDF5 writes past Python."""
        for module, name in HOMES.items():
            model = getattr(sys.modules.get(module), name, None)
            for method in ("save", "save_weights", "export"):
                if hasattr(model, method):
                    setattr(model, method, lambda *_args, **_given: _give_up())

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
        """Answer, and end; earlier calls are made, unless they might write."""
        if self._under_way or method == "__init__":
            return original(model, *args, **kwargs)
        frame = user_frame(sys._getframe(1))
        here = named_by_cell(frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
        self._calls += (*here, method) == (self.task.path, self.task.line, self.task.method)
        if self._calls == self.task.number:
            self._answer(original, model, args, kwargs)
        if kwargs.get("callbacks"):
            _give_up()
        self._under_way = True
        try:
            return original(model, *args, **kwargs)
        finally:
            self._under_way = False

    def _answer(
        self, original: Callable[..., Any], model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Write the answers, and end."""
        try:
            bound = inspect.signature(original).bind_partial(model, *args, **kwargs).arguments
            answers = [
                self._one(index, question, bound) for index, question in enumerate(self.task.questions)
            ]
            (self.folder / ANSWERS).write_text(json.dumps(answers), "utf-8")
        # A border: without an answer the first run keeps its own.
        except Exception:
            _give_up()
        os._exit(0)

    def _one(self, index: int, question: Question, bound: dict[str, Any]) -> Any:
        value = _value_of(question.argument, bound)
        if question.aspect == "split":
            return self._told(
                divergence(self.history, value, _value_of(question.wanted, bound), index), index
            )
        if question.aspect == "scales":
            other, *spans = question.wanted
            found = unprepared(self.history, value, _value_of(other, bound), index, spans)
            return found and self._told(found.trail, index) | {
                "applied": [_span(each) for each in (found.applied, found.operand) if each is not None]
            }
        if is_data(value):
            had = self.history.seen(value).aspects[index]
            if not isinstance(had, dict) and not same_aspect(question.aspect, question.wanted, had):
                return None
        elif not is_dataset(value):
            return None
        return self._told(origin(self.history, value, index, question), index, question.aspect)

    def _told(self, trail: Trail | None, index: int, aspect: str = "") -> Any:
        """Return a trail as JSON holds it."""
        if trail is None:
            return None
        keys = {step.made.key for step in trail.steps}
        return {
            "steps": [_span(step.site) for step in trail.steps],
            "blamed": _span(trail.blamed),
            "passed": [
                _span(self.history.sites.sites[each]) for each in sorted(set(self.history.read_at(keys)))
            ],
            "before": [
                each.aspects[index]
                for step in trail.steps[-1:]
                for each in step.operands
                if aspect in ("rows", "rank", "shape")
            ],
        }


def _value_of(argument: str, bound: dict[str, Any]) -> Any:
    """Return an argument of `fit` or a part of it; of a generator or `PyDataset`, the part of its first batch."""
    name, keys = split_path(argument)
    value: Any = bound.get(name)
    if name in PARTS and (name not in bound or not _is_plain(bound.get("x"))):
        batch = _first_batch(bound.get("x"))
        if batch is not None:
            value = batch[PARTS.index(name)] if PARTS.index(name) < len(batch) else None
        elif is_dataset(bound.get("x")):
            return bound["x"]
    while keys and (is_data(value) or isinstance(value, dict)):
        value, keys = value[keys[0]], keys[1:]
    return value


def _is_plain(value: Any) -> bool:
    return is_data(value) or isinstance(value, dict)


def _first_batch(value: Any) -> Any:
    """Return what a generator yields first, or a `PyDataset` returns; the program ends here and does not miss it."""
    if hasattr(value, "__next__"):
        batch = next(value)
    elif hasattr(value, "__getitem__") and hasattr(value, "__len__") and not is_dataset(value):
        batch = value[0]
    else:
        return None
    return batch if isinstance(batch, tuple) else (batch,)


def _span(site: Site) -> list[Any]:
    node = site.node
    path, line = named_by_cell(site.path, node.lineno)
    last = (node.end_lineno or node.lineno) - node.lineno + line
    return [path, line, node.col_offset, last, node.end_col_offset]
