"""Tensors that are still referenced after tracing: read out of scope later, or never read at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue.graph.kept_reads import Read, fatal_reads, is_ever_read
from fitdoctor.catalogue.graph.kept_tensors import Kept, kept_tensors
from fitdoctor.diagnosis import Evidence, Location, Severity
from fitdoctor.facts import Frame, HeldTensor, TrainingFacts
from fitdoctor.failure.failed_line import function_at, module_of
from fitdoctor.records import dataclass
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project
from fitdoctor.source.traced.symbolic import name_of

MANY_GRAPHS = 20
"""Number of graphs kept alive by one object from which the memory use is worth a warning."""


@dataclass(frozen=True, eq=False)
class StillHeld:
    """A symbolic tensor that is still referenced after its trace, and what the source shows about it."""

    held: HeldTensor
    kept: Kept | None
    """The line that stores it, if the source shows one."""
    reads: list[Read]
    """The reads that will find it out of scope; empty if nothing reads it."""

    @property
    def on_attribute(self) -> bool:
        """Return whether an attribute stores it, rather than a container or a plain name."""
        if self.kept is not None:
            return self.kept.holder == "attribute"
        return not self.held.path.endswith("]") and "." in self.held.path

    @property
    def location(self) -> Location | None:
        """The line that stores the tensor, otherwise the one that created it."""
        if self.kept is not None:
            return self.kept.module.location(self.kept.node)
        return self.held.made_at[-1].location if self.held.made_at else None

    @property
    def severity(self) -> Severity:
        """Info for memory that is kept for nothing, a warning for a lot of it."""
        return Severity.WARNING if self.held.graphs >= MANY_GRAPHS else Severity.INFO


def still_held(training: TrainingFacts, project: Project) -> Iterator[StillHeld]:
    """Find tensors that should not be referenced; one that is read within its own trace is fine."""
    kept = [each for module in project.modules for each in kept_tensors(module)]
    for held in training.held:
        match = next((each for each in kept if _is_that(each, held)), None)
        reads = fatal_reads(match, project.modules) if match is not None else []
        if reads:
            yield StillHeld(held, match, reads)
        elif not is_ever_read(_name(held), project.modules) and (
            match is not None or _may_leak(held, project)
        ):
            yield StillHeld(held, match, [])


def _name(held: HeldTensor) -> str:
    return held.attribute.rpartition(".")[2]


def _is_that(kept: Kept, held: HeldTensor) -> bool:
    if kept.name != _name(held):
        return False
    if kept.owner is None:
        return True
    related = {ancestor.name for ancestor in kept.module.ancestry(kept.owner)}
    return held.holder_class in related or any(
        kept.owner in other.module.ancestry(other)
        for other in kept.module.classes
        if other.name == held.holder_class
    )


def _may_leak(held: HeldTensor, project: Project) -> bool:
    """Return whether traced code may have stored it in a way the source does not show: in an object or list argument."""
    if not held.made_at or not _is_traced_line(held.made_at[-1], project):
        return False
    return bool(held.holder_class) or any(_starts_empty(module, _name(held)) for module in project.modules)


def _is_traced_line(frame: Frame, project: Project) -> bool:
    module = module_of(project, frame)
    function = function_at(module, frame.line, frame.cell) if module is not None else None
    return function is not None and function.traced is not None and not function.traced.eager


def _starts_empty(module: Module, name: str) -> bool:
    """Return whether a global is created as an empty container, so that its contents were added later."""
    made = module.index.module.bindings.get(name, [])
    values = [parent.value for node in made if isinstance(parent := module.parent(node), ast.Assign)]
    return bool(values) and all(
        isinstance(value, (ast.List, ast.Set))
        and not value.elts
        or isinstance(value, ast.Dict)
        and not value.keys
        or isinstance(value, ast.Call)
        and module.resolve(value.func).startswith(("list", "dict", "set", "collections."))
        for value in values
    )


def held_message(still: StillHeld) -> str:
    """Return the message for a tensor that nothing reads."""
    who = name_of(still.kept.function) if still.kept is not None else _maker(still.held)
    place = still.kept.place if still.kept is not None else still.held.path.partition("[")[0]
    several = f"{still.held.graphs} graphs" if still.held.graphs > 1 else "the whole traced graph"
    return f"{who} stores a symbolic tensor in `{place}` that nothing reads; it keeps {several} in memory"


def _maker(held: HeldTensor) -> str:
    function = held.made_at[-1].function if held.made_at else ""
    return f"`{function}`" if function.isidentifier() else "a traced function"


def held_evidence(still: StillHeld) -> Evidence:
    """Return the evidence from the running program."""
    held = still.held
    graphs = f"{held.graphs} graphs" if held.graphs > 1 else f"the graph of `{held.graph}`"
    return Evidence(
        "still referenced after tracing",
        f"`{held.path}` keeps {graphs} alive: {held.operations:,} operations",
        fact="training.held",
        location=held.made_at[-1].location if held.made_at else None,
    )
