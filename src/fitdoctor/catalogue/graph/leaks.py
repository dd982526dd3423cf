"""A symbolic tensor that leaked out of its trace, reconstructed from the failure: created, stored and used where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue.graph.kept_reads import Read, fatal_reads
from fitdoctor.catalogue.graph.kept_tensors import Kept, kept_tensors
from fitdoctor.catalogue.graph.own_graphs import switched_off
from fitdoctor.diagnosis import Evidence, Location
from fitdoctor.facts import FailureFacts, Frame, HeldTensor, Unknown
from fitdoctor.failure.failed_line import module_of, stands_at
from fitdoctor.failure.patterns import named_tensor
from fitdoctor.failure.traced_code import is_out_of_scope, made_line, raised_in_trace, wants_a_value
from fitdoctor.records import dataclass
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
    """What is known about a tensor that was used outside the trace that created it."""

    kept: Kept | None
    """The source line that stored it, if one matches."""
    made: Frame | None
    used: Frame | None
    held: HeldTensor | None
    """The object that still references it, if the program was available."""
    tensor: str

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


def leak_of(failure: FailureFacts, project: Project | Unknown) -> Leak | None:
    """Return the leak behind a failure, or None if the failure is about something else."""
    if is_out_of_scope(failure):
        if graph_part(failure) != "function":
            return None
    elif not wants_a_value(failure) or raised_in_trace(failure, project) or _raised_by_keras(failure):
        return None
    if isinstance(project, Project) and switched_off(project) is not None:
        return None
    named = named_tensor(failure.message)
    tensor = named.name if named is not None else ""
    return Leak(
        _likeliest(failure, project), made_line(failure), failure.last_user_frame, _held(failure), tensor
    )


def _raised_by_keras(failure: FailureFacts) -> bool:
    """Return whether Keras code needed the value, so that the user's line does not contain the tensor."""
    users = [index for index, frame in enumerate(failure.frames) if not frame.library]
    after = failure.frames[users[-1] + 1 :] if users else failure.frames
    return any("/keras/" in frame.path.replace("\\", "/") for frame in after)


def _likeliest(failure: FailureFacts, project: Project | Unknown) -> Kept | None:
    if isinstance(project, Unknown):
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
        for read in fatal_reads(kept, project.modules)
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


# --- telling ------------------------------------------------------------------------------------------------------


def location_of(leak: Leak) -> Location | None:
    """Return the line to change: where the tensor is stored, else created, else used."""
    if leak.kept is not None:
        return leak.kept.module.location(leak.kept.node)
    for frame in (leak.made, leak.held.made_at[-1] if leak.held and leak.held.made_at else None, leak.used):
        if frame is not None:
            return frame.location
    return None


def leak_evidence(leak: Leak) -> list[Evidence]:
    """Return the evidence in order: traced, created, stored, used."""
    evidence = []
    if leak.kept is not None:
        evidence.append(traced_evidence(leak.kept.function))
    made = leak.made or (leak.held.made_at[-1] if leak.held is not None and leak.held.made_at else None)
    if made is not None:
        tensor = f" `{leak.tensor}`" if leak.tensor else ""
        evidence.append(
            Evidence(f"the tensor{tensor} was created here", fact="failure.made_at", location=made.location)
        )
    if leak.kept is not None:
        evidence.append(
            Evidence(
                f"stored in `{leak.kept.place}` here", location=leak.kept.module.location(leak.kept.node)
            )
        )
    elif leak.held is not None:
        evidence.append(
            Evidence("still referenced when the program failed", f"`{leak.held.path}`", fact="failure.held")
        )
    if leak.used is not None:
        evidence.append(
            Evidence(
                "used here, outside the trace that created it",
                fact="failure.frames",
                location=leak.used.location,
            )
        )
    return evidence


def read_evidence(kept: Kept, reads: list[Read]) -> list[Evidence]:
    """Return the same evidence from source alone."""
    evidence = [traced_evidence(kept.function)]
    if kept.holder != "cache":
        evidence.append(Evidence(f"stored in `{kept.place}` here", location=kept.module.location(kept.node)))
    if reads and kept.holder != "cache":
        evidence.append(
            Evidence(_READ_CLAIMS[reads[0].how], location=reads[0].module.location(reads[0].node))
        )
    return evidence


_READ_CLAIMS = {
    "eager": "read here by eager Python code, outside any trace",
    "trace": "read here while another graph is traced",
    "again": "read here by the next trace, which receives the tensor of an earlier trace",
}


def kept_message(kept: Kept) -> str:
    """Return the message for a stored tensor."""
    if kept.holder == "cache":
        return f"{name_of(kept.function)} caches a symbolic tensor; the next trace receives a tensor of another graph"
    return f"{name_of(kept.function)} stores a symbolic tensor in `{kept.place}`, which is used outside its trace"


def subject_of(kept: Kept) -> str:
    """Return a subject that is equal at all moments, so that findings merge."""
    return f"tensor stored in {kept.place}"
