"""Asks a second, traced run of the program which line first made the data bad, where the source alone cannot tell."""

from __future__ import annotations

import ast
import builtins
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fitdoctor.catalogue.inputs.column_lists import column_list, columns_behind
from fitdoctor.diagnosis import Diagnosis, Evidence, Finding, Location, Origin
from fitdoctor.engine_inputs import Call
from fitdoctor.facts import ArrayFacts, DataFacts, Unknown
from fitdoctor.failure.frames import cell_number, is_cell
from fitdoctor.records import dataclass, replace
from fitdoctor.runner.data_origin_edits import fixes_at, prepared_alike
from fitdoctor.runner.first_bad_line import Question
from fitdoctor.runner.session import Options, Started, write_options
from fitdoctor.source.callees import callee
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project
from fitdoctor.source.read import cell_starts
from fitdoctor.source.running_notebook import cells_run

TASK = "task.json"
ANSWERS = "answers.json"
QUICK, ALWAYS = "quick", "always"
"""When to run a program a second time: if that is quick, or always."""
QUICK_CPU, QUICK_SECONDS = 15.0, 120.0
"""Processor and clock seconds until the call that count as quick; a third of the former is TensorFlow's start."""
LEAST_SECONDS = 30.0
"""How long a second run may take at least; else three times as long as the first one took until then."""
_TALKS = re.compile(
    r"\b(?:input\(|stdin|gfile|gs://|s3://|TFRecordWriter|create_file_writer|to_parquet|to_hdf|h5py|imwrite|write_file|VideoWriter|TF_CONFIG|wandb|mlflow)"
)
"""What a program that must not run twice would say: it reads input, or writes past Python."""
_MOST_TEXT = 44
_MOST_CLASSES = 100
"""Labels with a larger number than that are measured, not counted."""
_OF_VALUES = ("non-finite", "objects", "fractions", "empty", "range", "rows", "own-scale", "scales")

_ALWAYS_OF_DATA = ("non-finite", "fractions", "objects", "empty", "own-scale", "scales")
"""Aspects that no change of the model makes right: what was seen decides, wherever the source seemed to point."""


@dataclass(frozen=True)
class Task:
    """A call of Keras in the program, and what is asked about it."""

    path: str
    line: int
    method: str
    number: int
    """The calls there up to and with this one."""
    questions: tuple[Question, ...]


def started_here() -> Started:
    """How to run the cells of this notebook again, in another process."""
    folder = os.getcwd()
    options = Options(folder=folder, shown_as=os.path.join(folder, "notebook.ipynb"), locate=QUICK)
    return Started(options, dict(os.environ), time.time(), live=True)


@dataclass(frozen=True, eq=False)
class SecondRun:
    """Runs the program again as it was started."""

    started: Started
    cpu: float
    """How long the program took to come to the call, in the processor's seconds."""
    seconds: float
    """The same by the clock."""

    @property
    def is_due(self) -> bool:
        """Whether the program came to the call quickly enough to run again, unless the user asked for it."""
        always = self.started.options.locate == ALWAYS
        return always or self.cpu < QUICK_CPU and self.seconds < QUICK_SECONDS

    def origins(
        self, diagnosis: Diagnosis, call: Call, place: tuple[str, int, str], number: int, project: Project
    ) -> tuple[Origin, ...]:
        """Return where the data of a call's findings became bad; nothing where that is certain or cannot be told.

        Args:
            diagnosis: the findings.
            call: the call of Keras that they are about.
            place: its file, line and method.
            number: how many calls there were at that place, up to and with this one.
            project: the user's source.
        """
        if not self.is_due:
            return ()
        asked = [each for finding in diagnosis.findings for each in _asked(finding, call, project)]
        if not asked or not self._may_run(project):
            return ()
        task = Task(*place, number, tuple(question for _finding, question in asked))
        answers = self._run(task)
        if answers is None:
            return ()
        found: dict[int, Origin] = {}
        for (finding, question), answer in zip(asked, answers, strict=True):
            origin = _origin(finding, question, answer, call, project)
            if origin is not None:
                found.setdefault(id(finding), origin)
        return tuple(found.values())

    def _may_run(self, project: Project) -> bool:
        if "TF_CONFIG" in self.started.environment or self.started.options.cluster:
            return False
        return not any(_TALKS.search(module.text) for module in project.modules)

    def _run(self, task: Task) -> list[Any] | None:
        """Return the answers of the second run, None where it has none."""
        from fitdoctor.json_codec import to_plain
        from fitdoctor.runner.supervise import BOOTSTRAP, interpreter_options

        limit = LEAST_SECONDS + 3 * self.seconds
        with tempfile.TemporaryDirectory(prefix="fitdoctor-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            options = replace(
                self.started.options,
                second=True,
                pipes=(),
                tell="",
                keep_files=False,
                locate="",
                parent=os.getpid(),
            )
            if self.started.live:
                options = replace(options, script=_write_cells(folder), past_failures=True)
            write_options(folder, options)
            (folder / TASK).write_text(json.dumps(to_plain(task)), "utf-8")
            environment = {
                **self.started.environment,
                "TMPDIR": name,
                "MPLCONFIGDIR": name,
                "PYTHONDONTWRITEBYTECODE": "1",
                # The first run may hold all of the memory there.
                "CUDA_VISIBLE_DEVICES": "-1",
            }
            command = [sys.executable, *interpreter_options(sys.orig_argv), str(BOOTSTRAP), name]
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(
                command,
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                env=environment,
                cwd=self.started.options.folder or None,
                start_new_session=True,
            )
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with contextlib.suppress(OSError):
                    if hasattr(os, "killpg"):
                        os.killpg(process.pid, signal.SIGKILL)
                    else:
                        process.kill()
                process.wait()
            try:
                answers = json.loads((folder / ANSWERS).read_text("utf-8"))
            except (OSError, ValueError):
                return None
        return answers if isinstance(answers, list) else None


def _write_cells(folder: Path) -> str:
    """Write the cells that were run so far as a notebook, and return its path."""
    cells = [{"cell_type": "code", "source": cell} for cell in cells_run()]
    path = folder / "cells.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}), "utf-8")
    return str(path)


# --- what to ask --------------------------------------------------------------------------------------------------


def _asked(finding: Finding, call: Call, project: Project) -> Iterator[tuple[Finding, Question]]:
    """Yield what a second run could tell about a finding whose location the source leaves open."""
    from fitdoctor.catalogue import catalogue

    cause = catalogue().get(finding.id)
    if cause is None or not cause.aspect:
        return
    certain = not is_open(finding, call, project, cause.aspect) and not is_counted(finding, project)
    if _adds_to_count(finding, project):
        return
    if certain and _expected(finding) is None:
        return
    for data, array in _arrays(finding, call, cause.aspect):
        aspect = _aspect(cause.aspect, array)
        wanted = _wanted(array, aspect)
        if finding.id == "FIT208" and aspect == "range" and wanted is not None and wanted[1] > _MOST_CLASSES:
            aspect = "scale"  # pixels, not class numbers
        if aspect == "scales" and any(fix.edits for fix in finding.fixes):
            continue  # the source shows what is missing, and where
        if aspect in ("split", "scales"):
            theirs = (data.y if array in data.y else data.x).index(array)
            ours = next(
                (each.y if array in data.y else each.x for each in call.data if each.role == "training"), ()
            )
            other = ours[theirs] if theirs < len(ours) else None
            spans = [_wanted(each, "range") for each in (array, other) if each is not None]
            wanted = other.path if other is not None else None
            if aspect == "scales":
                wanted = [wanted, *spans] if len(spans) == 2 and all(spans) else None
        if wanted is not None:
            yield finding, Question(array.path, aspect, wanted, last=array in data.y)


def _arrays(finding: Finding, call: Call, aspect: str) -> list[tuple[DataFacts, ArrayFacts]]:
    """Return the arrays that a finding is about: those that it names, else the features or the labels."""
    every = [(data, array) for data in call.data for array in (*data.x, *data.y, *data.sample_weight)]
    if aspect == "rows":
        return every
    words = set(re.findall(r"`([^`]+)`", " ".join((finding.message, finding.subject))))
    words.update(re.findall(r"argument (\S+) of", finding.subject))
    named = [pair for pair in every if pair[1].path in words]
    if named:
        return named
    role = "validation" if "validation" in finding.subject else "training"
    if finding.id == "FIT214":
        # The third element of a dataset is wrong where the tuple is made, whatever its values are.
        return [pair for pair in every if pair[0].form == "arrays" and pair[1] in pair[0].sample_weight]
    labels = finding.id.startswith("FIT2") or "label" in finding.subject
    return [
        (data, array)
        for data, array in every
        if data.role == role and array in (data.y if labels else data.x)
    ]


def _aspect(aspect: str, array: ArrayFacts) -> str:
    """Return the aspect that is wrong about an array: ids that are not fractions are negative, for example."""
    numbers = array.statistics
    if isinstance(numbers, Unknown):
        return aspect
    if aspect == "own-scale" and not numbers.own_scale:
        return "scales"
    return "range" if aspect == "fractions" and numbers.integral else aspect


def _wanted(array: ArrayFacts, aspect: str) -> Any:
    """Return the aspect of an array as JSON holds it; None if it is unknown."""
    shape, numbers = array.shape, array.statistics
    if aspect == "own-scale":
        return None if isinstance(numbers, Unknown) else bool(numbers.own_scale) or None
    if aspect in ("non-finite", "objects", "fractions", "empty", "list"):
        return True
    if aspect == "dtype":
        return None if isinstance(array.dtype, Unknown) else array.dtype
    if aspect in ("range", "scale"):
        known = not isinstance(numbers, Unknown) and numbers.minimum is not None
        return [float(numbers.minimum), float(numbers.maximum)] if known else None  # type: ignore[union-attr,arg-type]
    if isinstance(shape, Unknown):
        return None
    if aspect == "rank":
        return len(shape)
    part = shape[1:] if aspect == "shape" else shape[:1]
    if any(size is None for size in part):
        return None
    return list(part) if aspect == "shape" else part[0]


def is_open(finding: Finding, call: Call, project: Project, aspect: str) -> bool:
    """Whether the source leaves open where data became bad.

    The location is then the call of `fit`, a name, an indexing, the call of a user's function, or a function that
    works on what it is given. Values, unlike shapes, may be bad before any operation on them.
    """
    place = finding.location
    if place is None:
        return False
    if _in_call(place, call):
        return True
    found = expression_at(project, place)
    if found is None:
        return False
    module, node = found
    if isinstance(node, (ast.Name, ast.Subscript, ast.Attribute, ast.IfExp)):
        return True
    if isinstance(node, ast.Call) and (_is_users(module, node) or _is_unpacked(module, node)):
        return True
    if aspect in _OF_VALUES and any(True for _ in _operands(module, node)):
        return True
    function = module.scope(node).node
    if not isinstance(function, FUNCTIONS):
        return False
    parameters = module.function(function).parameters
    return any(isinstance(name, ast.Name) and name.id in parameters for name in ast.walk(node))


def _is_users(module: Module, call: ast.Call) -> bool:
    """Whether a call is one of a user's function, or of a variable that holds some function."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return (
        callee(module, call) is not None
        or bool(name)
        and module.resolve(call.func) in ("", name)
        and not hasattr(builtins, name)
    )


def _is_unpacked(module: Module, node: ast.Call) -> bool:
    """Whether a call gives several values, as methods that load data do."""
    parent = module.parent(node)
    return isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Tuple, ast.List))


def _adds_to_count(finding: Finding, project: Project) -> bool:
    """Whether the repair is to add to the number at the location, such as the reserved ids of a vocabulary."""
    for edit in finding.fixes[0].edits if finding.fixes else ():
        found = expression_at(project, edit.location)
        if found is None or finding.location is None or not _covers(finding.location, edit.location):
            continue
        if edit.replacement.startswith(f"{found[0].segment(found[1])} + "):
            return True
    return False


def is_counted(finding: Finding, project: Project) -> bool:
    """Whether the location sizes a layer by what the program counts (`len(NAMES)`): then the data is wrong, not the size."""
    found = expression_at(project, finding.location) if finding.location is not None else None
    module, node = found if found is not None else (None, None)
    if module is None or not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    sizes = [part for each in given for part in getattr(each, "elts", (each,))] or [node]
    ends = [origin(module, each).node for each in (*sizes, node)]
    return any(isinstance(end, ast.Call) and getattr(end.func, "id", "") == "len" for end in ends)


def _operands(module: Module, node: ast.expr) -> Iterator[ast.expr]:
    """Yield the variables that an operation works on, other than generators of random numbers."""
    given: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        given = [node.left, node.right]
    elif isinstance(node, ast.Call):
        given = list(node.args)
        if isinstance(node.func, ast.Attribute):
            given.append(node.func.value)
    for each in given:
        if isinstance(each, ast.Name):
            made = origin(module, each).node
            name = module.resolve(made.func) if isinstance(made, ast.Call) else ""
            imported = isinstance(made, ast.Name) and module.resolve(made) not in ("", made.id)
            if not imported and not isinstance(made, ast.Constant) and not name.startswith("numpy.random."):
                yield each
        elif isinstance(each, ast.Attribute):
            if not module.resolve(each):
                yield each
        elif isinstance(each, (ast.Subscript, ast.Call, ast.BinOp, ast.ListComp, ast.GeneratorExp)):
            yield each


def _in_call(place: Location, call: Call) -> bool:
    code = call.fit.code
    if isinstance(code, Unknown):
        return False
    whole = code.location
    return whole.path == place.path and whole.line <= place.line <= whole.end_line


def expression_at(project: Project, place: Location) -> tuple[Module, ast.expr] | None:
    """Return the expression at a location, or the value of the statement there."""
    module = project.module_at(place.path)
    if module is None:
        return None
    for node in ast.walk(module.tree):
        if isinstance(node, ast.expr) and (place.cell is not None or node.lineno == place.line):
            if module.location(node) == place:
                return module, node
    statement = _statement(module, place.line) if place.cell is None else None
    value = getattr(statement, "value", None)
    return (module, value) if isinstance(value, ast.expr) else None


# --- what was answered --------------------------------------------------------------------------------------------


def _origin(finding: Finding, question: Question, answer: Any, call: Call, project: Project) -> Origin | None:
    """Return the first bad expression, if it is on another line than the finding, and on the same path."""
    if answer is None or finding.location is None:
        return None
    blamed, node = _place(project, answer["blamed"]), _node_at(project, answer["blamed"])
    if blamed is not None and question.aspect == "shape":
        counted = _number_behind(project, blamed[0])
        blamed, node = (counted, None) if counted is not None else (blamed, node)
    if blamed is None:
        return None
    same = _spans(blamed[0], finding.location)
    if same and question.aspect not in _ALWAYS_OF_DATA:
        return None
    steps = [place for span in answer["steps"] if (place := _place(project, span)) is not None]
    passed = [place[0] for span in answer["passed"] if (place := _place(project, span)) is not None]
    on_path = (*passed, *(place for place, _text in steps))
    passed_by = _in_call(finding.location, call) or any(_covers(each, finding.location) for each in on_path)
    # Of two arguments with different numbers of rows, the finding is at one, and the other one may have lost some.
    if not passed_by and question.aspect not in ("rows", *_ALWAYS_OF_DATA):
        if not is_counted(finding, project) and not _had_expected(finding, answer):
            return None
    if question.aspect == "rows" and not _lost_rows(question, answer, call):
        if not (_in_call(finding.location, call) and _made_short(question, blamed[0], call, project)):
            return None
    hops = [(place, text) for place, text in (*steps, blamed) if not _in_call(place, call)]
    trail = " ← ".join([f"`{call.fit.method}`", *(f"`{text}` ({place})" for place, text in _distinct(hops))])
    found = expression_at(project, blamed[0])
    if node is not None and isinstance(node[1], ast.expr):
        found = node[0], node[1]
    evidence = Evidence(f"data path: {trail}")
    columns = _columns(finding, call) if question.aspect == "fractions" else set()
    together = column_list(*found, columns) if found is not None and columns else None
    if together is not None and (edits := together.without(columns)):
        listed = together.module.location(together.node)
        fixes = tuple(replace(fix, edits=edits) for fix in finding.fixes[:1])
        return Origin(finding.id, finding.subject, finding.location, listed, evidence, fixes)
    fixes = fixes_at(finding, *found, question.aspect, question.wanted) if found is not None else ()
    applied = [_node_at(project, span) for span in answer.get("applied", ())]
    if found is not None and len(applied) == 2:
        fixes = (prepared_alike(*found, *(each[1] for each in applied if each is not None)),)
    if same:
        known = [fix.edits for fix in finding.fixes]
        fixes = tuple(fix for fix in fixes if fix.edits not in known)
        if not fixes:
            return None
    return Origin(finding.id, finding.subject, finding.location, blamed[0], evidence, fixes)


def _columns(finding: Finding, call: Call) -> set[str]:
    """Return the columns of a table that the arrays may be which the first fix of a finding names."""
    paths = set(re.findall(r"`([^`]+)`", finding.fixes[0].title)) if finding.fixes else set()
    arrays = [array for data in call.data for array in data.x if array.path in paths]
    return {name for array in arrays for name in columns_behind(array)}


def _number_behind(project: Project, place: Location) -> tuple[Location, str] | None:
    """Return where the width of an array is computed that is made to be filled: `size` of `np.zeros((n, size))`."""
    from fitdoctor.source.written_numbers import written

    found = expression_at(project, place)
    shape = (
        found[1].args[0] if found is not None and isinstance(found[1], ast.Call) and found[1].args else None
    )
    if found is None or not isinstance(shape, ast.Tuple) or not isinstance(shape.elts[-1], ast.Name):
        return None
    number = written(project, found[0], shape.elts[-1], ())
    return (number.location, number.text) if number is not None and number.location is not None else None


def _expected(finding: Finding) -> list[int] | None:
    """Return the shape of a sample that the model expects; None if the finding is not about that."""
    for each in finding.evidence:
        sizes = re.fullmatch(r"\(None((?:, \d+)+)\)", each.expected)
        if each.fact == "data.x.shape" and sizes is not None:
            return [int(size) for size in re.findall(r"\d+", sizes[1])]
    return None


def _had_expected(finding: Finding, answer: Any) -> bool:
    """Whether the data had the shape that the model expects before the line: then the line is wrong, not the model."""
    expected = _expected(finding)
    return expected is not None and any(expected in (shape, shape[1:]) for shape in answer["before"] if shape)


def _lost_rows(question: Question, answer: Any, call: Call) -> bool:
    """Whether the line read as many rows as another argument has: it dropped or added some."""
    counts = {_wanted(array, "rows") for data in call.data for array in (*data.x, *data.y)}
    return any(rows in counts - {question.wanted} for rows in answer["before"])


def _made_short(question: Question, place: Location, call: Call, project: Project) -> bool:
    """Whether a function made an array with fewer rows than the other arguments have."""
    counts = {_wanted(array, "rows") for data in call.data for array in (*data.x, *data.y)} - {None}
    found = expression_at(project, place)
    inside = found is not None and isinstance(found[0].scope(found[1]).node, FUNCTIONS)
    return inside and question.wanted == min(counts, default=None)


def _place(project: Project, span: Any) -> tuple[Location, str] | None:
    """Return the location and the text of an expression; of a call in a multi-line chain, from its method's name on."""
    found = _node_at(project, span)
    if found is None:
        return None
    module, node = found
    text = " ".join(module.segment(node).split())
    shown = text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
    value = getattr(node, "value", None) if isinstance(node, ast.Assign) else None
    place = module.location(value or node)
    method = node.func if isinstance(node, ast.Call) else None
    if isinstance(method, ast.Attribute) and method.value.lineno < (method.end_lineno or 0):
        whole = module.location(method)
        place = replace(place, line=whole.end_line, column=whole.end_column - len(method.attr))
    return place, shown


def _node_at(project: Project, span: Any) -> tuple[Module, ast.expr | ast.stmt] | None:
    """Return an expression or statement, given by its file, first and last line and column."""
    path, line, column, end_line, end_column = span
    module, first = _module_at(project, path, line)
    if module is None:
        return None
    end = end_line - line + first
    for node in ast.walk(module.tree):
        if (
            isinstance(node, (ast.expr, ast.stmt))
            and (node.lineno, node.col_offset) == (first, column)
            and (node.end_lineno, node.end_col_offset) == (end, end_column)
        ):
            return module, node
    return None


def _module_at(project: Project, path: str, line: int) -> tuple[Module | None, int]:
    """Return the module that a file, or a cell of the notebook, is in, and the line there."""
    number = cell_number(path) if is_cell(path) else None
    if number is None:
        return project.module_at(path), line
    for module in project.modules:
        starts = cell_starts(module.facts.cells or ())
        if number <= len(starts):
            return module, starts[number - 1] + line - 1
    return None, line


def _statement(module: Module, line: int) -> ast.stmt | None:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return next(
        (
            node
            for node in ast.walk(module.tree)
            if isinstance(node, ast.stmt) and node.lineno == line and not isinstance(node, definitions)
        ),
        None,
    )


def _covers(place: Location, other: Location) -> bool:
    same = (place.path, place.cell) == (other.path, other.cell)
    return same and place.line <= other.end_line and other.line <= place.end_line


def _spans(place: Location, other: Location) -> bool:
    """Whether a location begins on one of the lines of another one."""
    same = (place.path, place.cell) == (other.path, other.cell)
    return same and place.line <= other.line <= place.end_line


def _distinct(hops: list[tuple[Location, str]]) -> list[tuple[Location, str]]:
    """Return one hop per line, the middle of a long path left out."""
    found = list({(place.path, place.cell, place.line): (place, text) for place, text in hops}.values())
    return found if len(found) <= 5 else [*found[:2], *found[-3:]]
