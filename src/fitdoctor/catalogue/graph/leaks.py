"""Symbolic tensors that leak out of their trace, as source, running program and failure show: created, stored, used."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.kept_reads import Read, fatal_reads, is_ever_read
from fitdoctor.catalogue.graph.kept_tensors import Kept, kept_tensors
from fitdoctor.catalogue.graph.own_graphs import switched_off
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame, HeldTensor, ModelFacts, TrainingFacts
from fitdoctor.failure.failed_line import function_at, module_of, stands_at
from fitdoctor.failure.patterns import named_tensor
from fitdoctor.failure.traced_code import is_out_of_scope, made_line, raised_in_trace, wants_a_value
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of, traced_evidence

_PARTS = re.compile(
    r"(?:^|_)(?P<part>while(?:_\d+)?_(?:body|cond)|cond(?:_\d+)?_(?:true|false)|branch\w*)_\d+|"
    r"^Dataset_(?P<loop>scan|reduce|take_while)_"
)
"""Graph names of loops and branches; AutoGraph converts a loop over a dataset to a `scan` of the dataset."""
_PUT_AWAY = re.compile(r"\.append\(|\.extend\(|\w\[[^\]]+\]\s*=[^=]")
_BARE_NAME = re.compile(
    r"(?<![\w.])(?!self\b)\w+(?:\[[^\]]*\])?\.numpy\(\)|\w\[[^\]]+\]\)"
    r"|\b(?:tf|np|K|keras|ops|sum|float|sorted)\b[\w.]*\(\[?(?!self\b)[A-Za-z_]\w*[,)\]]"
)
"""A read through a plain name or container item rather than an attribute."""
_EACH = re.compile(r"\bfor \w+ in [\w.]+")
_ATTRIBUTE = re.compile(r"(?<![\w.])(?!(?:tf|np|K|keras|ops)\.)[A-Za-z_]\w*\.[A-Za-z_]\w*\b(?![.(\[])")
"""A direct read of an object attribute."""
_OWN_GRAPH = re.compile(r"^<?tensorflow\.python\.framework\.ops\.Graph|Graph object at")


def graph_part(failure: FailureFacts) -> str:
    """Return where in the graph the tensor was created: `loop`, `branch`, `graph` (a `tf.Graph`) or `function`."""
    if _OWN_GRAPH.search(failure.made_in):
        return "graph"
    found = _PARTS.search(failure.made_in)
    if found is None:
        return "function"
    return "loop" if found["loop"] or found["part"].startswith("while") else "branch"


@dataclass(frozen=True, eq=False)
class Leak:
    """What is known about a tensor that outlives the trace that created it."""

    kept: Kept | None = None
    """The source line that stores it, if one matches."""
    reads: tuple[Read, ...] = ()
    """The reads in the source that find it out of scope."""
    held: HeldTensor | None = None
    """The object that still references it, if the program was available."""
    failure: FailureFacts | None = None
    """The failure of a read, if there was one."""

    @property
    def used(self) -> Frame | None:
        """The line that failed."""
        return self.failure.last_user_frame if self.failure is not None else None

    @property
    def made(self) -> Frame | None:
        """The line that created the tensor."""
        made = made_line(self.failure) if self.failure is not None else None
        return made or (self.held.made_at[-1] if self.held is not None and self.held.made_at else None)

    @property
    def holder(self) -> str:
        """How to reach the object that stores it."""
        path = self.held.path.partition("[")[0] if self.held is not None else ""
        return self.kept.place if self.kept is not None else path

    @property
    def on_attribute(self) -> bool:
        """Return whether an attribute stores it, rather than a container, a global or a cache."""
        if self.kept is not None:
            return self.kept.holder == "attribute"
        if self.held is not None:
            return not self.held.path.endswith("]") and "." in self.held.path
        # Given only saved text, rely on the quoted lines.
        made = self.made.text if self.made is not None else ""
        used = self.used.text if self.used is not None else ""
        if _PUT_AWAY.search(made) or _EACH.search(used):
            return False
        return bool(_ATTRIBUTE.search(used)) or not _BARE_NAME.search(used)

    @property
    def location(self) -> Location | None:
        """Return the line to change: where the tensor is stored, else created, else used."""
        if self.kept is not None:
            return self.kept.module.location(self.kept.node)
        frame = self.made or self.used
        return frame.location if frame is not None else None

    def message(self) -> str:
        """Say which function stores a tensor where."""
        if self.kept is not None and self.kept.holder == "cache":
            who = name_of(self.kept.function)
            return f"{who} caches a symbolic tensor; the next trace receives a tensor of another graph"
        function = self.made.function if self.made is not None else ""
        maker = f"`{function}`" if function.isidentifier() else "a traced function"
        who = name_of(self.kept.function) if self.kept is not None else maker
        place = f" in `{self.holder}`" if self.holder else ""
        if self.failure is not None or self.reads or self.held is None:
            return f"{who} stores a symbolic tensor{place}, which is used outside its trace"
        several = f"{self.held.graphs} graphs" if self.held.graphs > 1 else "the whole traced graph"
        return f"{who} stores a symbolic tensor{place} that nothing reads; it keeps {several} in memory"

    def evidence(self) -> Iterator[Evidence]:
        """Yield the evidence in order: traced, created, stored, used."""
        kept, held, failure = self.kept, self.held, self.failure
        if kept is not None:
            yield traced_evidence(kept.function)
        if failure is not None and self.made is not None:
            named = named_tensor(failure.message)
            tensor = f" `{named.name}`" if named is not None else ""
            claim = f"the tensor{tensor} was created here"
            yield Evidence(claim, fact="failure.made_at", location=self.made.location)
        if kept is not None and kept.holder != "cache":
            yield Evidence(f"stored in `{kept.place}` here", location=kept.module.location(kept.node))
            if self.reads and failure is None:
                read = self.reads[0]
                yield Evidence(_READ_CLAIMS[read.how], location=read.module.location(read.node))
        elif failure is not None and held is not None:
            yield Evidence("still referenced when the program failed", f"`{held.path}`", fact="failure.held")
        if self.used is not None:
            claim = "used here, outside the trace that created it"
            yield Evidence(claim, fact="failure.frames", location=self.used.location)
        if failure is None and held is not None:
            graphs = f"{held.graphs} graphs" if held.graphs > 1 else f"the graph of `{held.graph}`"
            alive = f"`{held.path}` keeps {graphs} alive: {held.operations:,} operations"
            place = self.made.location if self.made is not None else None
            yield Evidence("still referenced after tracing", alive, fact="training.held", location=place)


_READ_CLAIMS = {
    "eager": "read here by eager Python code, outside any trace",
    "trace": "read here while another graph is traced",
    "again": "read here by the next trace, which receives the tensor of an earlier trace",
}


def declare_leaks(
    cause: Cause,
    on_attribute: bool,
    fixes: Callable[[Kept], list[Fix]],
    severity: Callable[[Leak], Severity] = lambda leak: Severity.ERROR,
) -> None:
    """Register the judges of a cause for tensors that are stored on attributes, or for all others."""

    def findings(leaks: Iterable[Leak]) -> Iterator[Finding]:
        for leak in leaks:
            if leak.on_attribute is not on_attribute:
                continue
            seen = leak.held is not None or leak.failure is not None and leak.kept is not None
            unread = leak.failure is None and not leak.reads and leak.held is not None
            many = leak.held is not None and leak.held.graphs >= _MANY_GRAPHS
            yield cause.finding(
                leak.message(),
                leak.location,
                *leak.evidence(),
                *(fixes(leak.kept) if leak.kept is not None and not unread else [fix(_ADVICE)]),
                # It is equal at all moments, so that findings merge.
                subject=f"tensor stored in {leak.holder}" if leak.holder else "stored tensor",
                confidence=Confidence.CERTAIN if seen else Confidence.LIKELY,
                severity=(Severity.WARNING if many else Severity.INFO) if unread else severity(leak),
            )

    @cause.in_source
    @mentions("def", "lambda")
    def from_source(module: Module) -> Iterator[Finding]:
        yield from findings(_read_later(kept_tensors(module)))

    @cause.before_fit
    def before_fit(project: Project, model: ModelFacts) -> Iterator[Finding]:
        if not model.run_eagerly:
            living = {model.class_name, *(layer.class_name for layer in model.every_layer())}
            living |= {loss.name for loss in model.losses}
            every = (kept for module in project.modules for kept in kept_tensors(module))
            yield from findings(_read_later(kept for kept in every if _name_of_part(kept) in living))

    @cause.while_training
    def after_tracing(training: TrainingFacts, project: Project) -> Iterator[Finding]:
        yield from findings(_still_held(training, project))

    @cause.after_failure
    def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
        leak = _leak_of(failure, project)
        yield from findings([leak] if leak is not None else [])


_ADVICE = "return the tensor to the code that needs it, or delete the line that stores it"
_MANY_GRAPHS = 20
"""Number of graphs kept alive by one object from which the memory use is worth a warning."""


def _name_of_part(kept: Kept) -> str:
    """Return the class or function of the model that stores the tensor."""
    owner = kept.module.class_of(kept.function.node)
    return owner.name if owner is not None else kept.function.name


def _read_later(stored: Iterable[Kept]) -> Iterator[Leak]:
    seen = set()
    for kept in stored:
        reads = fatal_reads(kept)
        # A list that several lines add to is one leak.
        same = (kept.place, *(read.node for read in reads))
        if reads and same not in seen:
            seen.add(same)
            yield Leak(kept, tuple(reads))


# --- in the running program ---------------------------------------------------------------------------------------


def _still_held(training: TrainingFacts, project: Project) -> Iterator[Leak]:
    """Find tensors that should not be referenced; one that is read within its own trace is fine."""
    kept = [each for module in project.modules for each in kept_tensors(module)]
    for held in training.held:
        match = next((each for each in kept if _is_that(each, held)), None)
        reads = fatal_reads(match) if match is not None else []
        known = match is not None or _may_leak(held, project)
        if reads or known and not is_ever_read(_name(held), project.modules):
            yield Leak(match, tuple(reads), held)


def _name(held: HeldTensor) -> str:
    return held.attribute.rpartition(".")[2]


def _is_that(kept: Kept, held: HeldTensor) -> bool:
    if kept.name != _name(held) or kept.owner is None:
        return kept.name == _name(held)
    heirs = [other for other in kept.module.classes if kept.owner in other.ancestry]
    return held.holder_class in {each.name for each in (*kept.owner.ancestry, *heirs)}


def _may_leak(held: HeldTensor, project: Project) -> bool:
    """Return whether traced code may have stored it in a way the source does not show: in an object or list argument."""
    frame = held.made_at[-1] if held.made_at else None
    module = module_of(project, frame)
    if frame is None or module is None:
        return False
    function = function_at(module, frame.line, frame.cell)
    if function is None or not function.runs_traced:
        return False
    return bool(held.holder_class) or any(_starts_empty(module, _name(held)) for module in project.modules)


def _starts_empty(module: Module, name: str) -> bool:
    """Return whether a global is created as an empty container, so that its contents were added later."""
    values = [each.value for each in module.assignments(name)]
    return bool(values) and all(
        value is not None
        and (
            module.segment(value) in ("[]", "{}")
            or module.called(value).startswith(("list", "dict", "set", "collections."))
        )
        for value in values
    )


# --- behind a failure ---------------------------------------------------------------------------------------------


def _leak_of(failure: FailureFacts, project: Project) -> Leak | None:
    """Return the leak behind a failure, or None if the failure is about something else."""
    if is_out_of_scope(failure):
        if graph_part(failure) != "function":
            return None
    elif not wants_a_value(failure) or raised_in_trace(failure, project) or _raised_by_keras(failure):
        return None
    if project and switched_off(project) is not None:
        return None
    return Leak(_likeliest(failure, project), (), _held(failure), failure)


def _raised_by_keras(failure: FailureFacts) -> bool:
    """Return whether Keras code needed the value, so that the user's line does not contain the tensor."""
    users = [index for index, frame in enumerate(failure.frames) if not frame.library]
    after = failure.frames[users[-1] + 1 :] if users else failure.frames
    return any("/keras/" in frame.path.replace("\\", "/") for frame in after)


def _likeliest(failure: FailureFacts, project: Project) -> Kept | None:
    if not project:
        return None
    best: tuple[int, Kept | None] = (0, None)
    attributes = {held.attribute for held in failure.held if not held.path.endswith("]")}
    for module in project.modules:
        for kept in kept_tensors(module, attributes):
            points = _points(kept, failure, project)
            if points > best[0]:
                best = (points, kept)
    return best[1]


def _points(kept: Kept, failure: FailureFacts, project: Project) -> int:
    """Score how well a stored tensor matches the failure."""
    points = 0
    used = failure.last_user_frame
    if used is not None and _mentions(kept, used, project):
        points += 4
    for frame in failure.made_at:
        if frame.library or module_of(project, frame) is not kept.module:
            continue
        if stands_at(kept.module.location(kept.function.node), frame.line, frame.cell):
            points = max(points, 2) if points < 4 else points
        if _made_the_value(kept, frame):
            points += 3
    for held in failure.held:
        if held.attribute == kept.name or held.path.partition("[")[0].rpartition(".")[2] == kept.name:
            points += 2
            break
    return points


def _mentions(kept: Kept, frame: Frame, project: Project) -> bool:
    """Return whether the failing line, or an assignment to one of its names, reads the holder of the tensor."""
    if re.search(rf"\b{re.escape(kept.name)}\b", frame.text):
        return True
    module = module_of(project, frame)
    if module is None:
        return False
    return any(
        stands_at(module.location(module.statement(read.node)), line, frame.cell)
        for read in fatal_reads(kept)
        if read.module is module
        for line in _lines_behind(frame, project)
    )


def _lines_behind(frame: Frame, project: Project) -> Iterator[int]:
    """Return the failing line and the lines that assign the names it reads."""
    yield frame.line
    module = module_of(project, frame)
    if module is None:
        return
    for names in module.reads.values():
        for name in names:
            if stands_at(module.location(name), frame.line, frame.cell):
                for assignment in module.assignments(name.id, name):
                    yield module.location(assignment.target).line


def _made_the_value(kept: Kept, frame: Frame) -> bool:
    """Return whether the creation line is that of the stored value, or of the name that is stored."""
    if stands_at(kept.module.location(kept.value), frame.line, frame.cell):
        return True
    if not isinstance(kept.value, ast.Name):
        return False
    return any(
        stands_at(kept.module.location(kept.module.statement(assignment.target)), frame.line, frame.cell)
        for assignment in kept.module.assignments(kept.value.id, kept.value)
        if not isinstance(assignment.target, ast.arg)
    )


def _held(failure: FailureFacts) -> HeldTensor | None:
    """Return the still referenced tensor that the failing line uses."""
    used = failure.last_user_frame
    text = used.text if used is not None else ""
    named = named_tensor(failure.message)
    for held in failure.held:
        if named is not None and f"'{named.name}'" in held.tensor:
            return held
    for held in failure.held:
        if re.search(rf"\b{re.escape(held.attribute)}\b", text):
            return held
    return failure.held[0] if len(failure.held) == 1 else None
