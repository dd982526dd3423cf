"""Findings with their evidence, location and fixes, as frozen plain data."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Any

from fitdoctor.data_statistics import ComponentReport, ScanStatistics
from fitdoctor.records import dataclass, field, replace

SCHEMA_VERSION = 1


class Severity(str, Enum):
    """How bad it is: `fit` raises, `fit` learns the wrong thing, or it is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Return its rank; 0 is the worst."""
        return ("error", "warning", "info").index(self.value)


class Confidence(str, Enum):
    """How sure it is. `CERTAIN` needs proof; only a certain error may stop a program."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"

    @property
    def rank(self) -> int:
        """Return its rank; 0 is the most certain."""
        return ("certain", "likely", "possible").index(self.value)


class Moment(str, Enum):
    """When a finding was made; more is known at each later moment."""

    SOURCE = "source"
    BEFORE_FIT = "before_fit"
    WHILE_TRAINING = "while_training"
    AFTER_FAILURE = "after_failure"
    IN_DATA = "in_data"
    """Found by `scan`, without a call of `fit`."""


class Applicability(str, Enum):
    """Whether a fix can be applied without asking."""

    SAFE = "safe"
    """Nobody can have intended the old behavior: the program could not run, and there is only one repair."""
    UNSAFE = "unsafe"
    """It changes what the model learns; the user decides."""
    DISPLAY = "display"
    """For display only; it cannot be applied."""


NOTEBOOK = "<notebook>"
"""The path of a notebook without a known file: it runs in this process, or left a traceback."""


@dataclass(frozen=True, order=True)
class Location:
    """A span of the user's source; lines and columns count from 1, in characters, the end is exclusive."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    """`line` by default."""
    end_column: int = 0
    """0 if unknown; the engine then uses the end of the line."""
    cell: int | None = None
    """The notebook cell that `line` is in; None in a plain file.

    Cells count from 1, in a notebook's file in their order there, in `NOTEBOOK` in the order of execution.
    """

    def __post_init__(self) -> None:
        if self.end_line == 0:
            object.__setattr__(self, "end_line", self.line)

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""  # unknown where a saved traceback was cut
        if self.path == NOTEBOOK:
            return f"cell In[{self.cell}]{line}"
        if self.cell is None and ("ipykernel_" in self.path or "ipython-input-" in self.path):
            # The temporary file of a cell, which does not say which cell it was.
            return f"a notebook cell{line}"
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.path}:{cell}{self.line}"

    @property
    def start(self) -> Location:
        """Return the empty span where it begins."""
        return Location(self.path, self.line, self.column, self.line, self.column, self.cell)

    @property
    def end(self) -> Location:
        """Return the empty span after it."""
        return Location(self.path, self.end_line, self.end_column, self.end_line, self.end_column, self.cell)

    def through(self, last: Location) -> Location:
        """Return the span from its beginning to the end of another."""
        return Location(self.path, self.line, self.column, last.end_line, last.end_column, self.cell)

    @property
    def lines(self) -> Location:
        """Return its whole lines, including indentation and the last line end."""
        return Location(self.path, self.line, 1, self.end_line + 1, 1, self.cell)

    @property
    def exact(self) -> str:
        """Return it with the column, in the form that editors accept."""
        in_editor = self.line and ", line " not in str(self)
        return f"{self}:{self.column}" if in_editor else str(self)


@dataclass(frozen=True)
class Evidence:
    """One observation that supports the finding, with the expected value if there is one."""

    claim: str
    observed: str = ""
    expected: str = ""
    fact: str = ""
    """The fact it comes from, such as `data.x.shape`; the engine adds it to what an exception says."""
    location: Location | None = None


@dataclass(frozen=True)
class Edit:
    """Replace the text at `location` (zero width: insert there)."""

    location: Location
    replacement: str


@dataclass(frozen=True)
class Fix:
    """A remedy: its title in the imperative and, if text edits can express it, the edits."""

    title: str
    applicability: Applicability = Applicability.DISPLAY
    edits: tuple[Edit, ...] = ()
    verified: bool = False
    """Whether the repaired program ran past the point of failure, in a separate process."""


@dataclass(frozen=True)
class Finding:
    """One cause found in a program."""

    id: str
    slug: str
    severity: Severity
    confidence: Confidence
    moment: Moment
    message: str
    subject: str = ""
    location: Location | None = None
    """The line to change; the line that raised is evidence."""
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    notes: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def stops(self) -> bool:
        """Return whether the finding may stop a program before its first step."""
        return self.severity is Severity.ERROR and self.confidence is Confidence.CERTAIN

    def with_fingerprint(self, line_text: str = "") -> Finding:
        """Return the finding with a fingerprint that still matches after its line has moved."""
        import hashlib

        path = self.location.path if self.location else ""
        text = "\n".join((self.id, path, self.subject, line_text.strip()))
        return replace(self, fingerprint=hashlib.sha256(text.encode()).hexdigest()[:16])


@dataclass(frozen=True)
class Origin:
    """Where a second run saw the data of a finding become bad."""

    id: str
    subject: str
    found_at: Location
    """The location of the finding without it."""
    location: Location
    trail: Evidence
    fixes: tuple[Fix, ...] = ()
    """Repairs at that place."""


@dataclass(frozen=True)
class Skipped:
    """A cause that could not be judged, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class Crash:
    """An internal error of a judge or collector, which is reported."""

    where: str
    error: str


def described(error: BaseException) -> str:
    """Return an exception of fitdoctor in one line, with the place that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {error}{place}"


@dataclass(frozen=True)
class Excerpt:
    """A line of source at the time of judging, for reports that are rendered later."""

    path: str
    line: int
    text: str
    cell: int | None = None


@dataclass(frozen=True)
class Raised:
    """The type and message of an exception."""

    type: str
    message: str


@dataclass(frozen=True)
class Script:
    """How the user's program ended."""

    exit_code: int | None = None
    signal: str | None = None
    exception: Raised | None = None


@dataclass(frozen=True)
class Unexplained:
    """What is known about a failure that no cause explains."""

    type: str
    message: str
    location: Location | None = None
    called: str = ""
    layer: str = ""
    arguments: tuple[str, ...] = ()
    note: str = ""
    """Why no more is known, if that can be said."""


@dataclass(frozen=True)
class WayStep:
    """A stage of the data flow from its source to the loss."""

    stage: str
    """`data`, `pipeline`, `batch`, `model` or `loss`."""
    what: str
    shape: str = ""
    dtype: str = ""
    device: str = ""
    location: Location | None = None
    """The line that defines it."""
    note: str = ""
    """What was rejected at this stage."""
    name: str = ""
    """The key by which `after` refers to it; tensors from the same stage share it."""
    after: tuple[str, ...] = ()
    """The names of the stages that feed it."""
    block: tuple[str, ...] = ()
    """For a layer: the nested models that contain it, outermost first."""


@dataclass(frozen=True)
class Way:
    """The data flow of one call of `fit`."""

    method: str
    location: Location | None
    steps: tuple[WayStep, ...]
    data: tuple[ComponentReport, ...] = ()
    """The statistics of the arrays that were passed."""


@dataclass(frozen=True)
class Training:
    """The epochs of one completed call of `fit`."""

    method: str
    location: Location | None
    history: tuple[tuple[str, tuple[float, ...]], ...]
    """The value of each metric at the end of each epoch."""


@dataclass(frozen=True)
class Invocation:
    """What was run, when, and with which versions."""

    command: str
    """The fitdoctor command: `run`, `fix` or `scan`."""
    program: str
    arguments: tuple[str, ...] = ()
    started: str = ""
    """In UTC, in ISO 8601: `2026-03-01T14:05:09Z`."""
    seconds: float | None = None
    versions: tuple[tuple[str, str], ...] = ()
    """Versions of installed packages, Python first."""


@dataclass(frozen=True)
class MemoryCourse:
    """The estimated memory of tensors over one training step, layer by layer."""

    method: str
    location: Location | None
    batch_size: int
    points: tuple[tuple[str, int], ...]
    """(stage, bytes): `forward`, `backward`, `update`."""
    free: int | None = None
    """Bytes free when `fit` was called, if known."""


@dataclass(frozen=True)
class Diagnosis:
    """The ranked findings about a program; the first is primary."""

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    crashes: tuple[Crash, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    script: Script | None = None
    ways: tuple[Way, ...] = ()
    memory: tuple[MemoryCourse, ...] = ()
    """The estimated memory over a step of the call that the report is about."""
    trainings: tuple[Training, ...] = ()
    scan: ScanStatistics | None = None
    invocation: Invocation | None = field(default=None, compare=False)
    tool_version: str = field(default="", compare=False)

    @property
    def primary(self) -> Finding | None:
        """Return the finding to read first."""
        return self.findings[0] if self.findings else None

    @property
    def ok(self) -> bool:
        """Return whether there are no errors and warnings."""
        return all(finding.severity is Severity.INFO for finding in self.findings)

    def at_least(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings of that severity or worse."""
        return tuple(found for found in self.findings if found.severity.rank <= severity.rank)

    def __repr__(self) -> str:
        from fitdoctor.report.text import counts

        words = [counts(self.findings)] if self.findings else []
        words += [f"{len(self.unexplained)} unexplained"] if self.unexplained else []
        first: Finding | Unexplained | None = self.primary or next(iter(self.unexplained), None)
        if first is None:
            return "<Diagnosis: no problems found>"
        name = first.id if isinstance(first, Finding) else first.type
        where = f" at {first.location}" if first.location else ""
        return f"<Diagnosis: {', '.join(words)}: {name}{where}>"

    def __str__(self) -> str:
        from fitdoctor.report import render
        from fitdoctor.report.paint import terminal_width

        return render(self, "text", width=terminal_width(sys.stdout), full=len(self.findings)).rstrip("\n")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what a notebook shows: a card, or text where HTML is not supported."""
        from fitdoctor.report.card import card

        return {"text/html": card(self), "text/plain": str(self)}

    def to_json(self) -> dict[str, Any]:
        """Return the published JSON form; see `docs/json.md`."""
        from fitdoctor.json_codec import to_plain

        plain: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "tool": {"name": "fitdoctor", "version": self.tool_version},
            "findings": to_plain(self.findings),
            "skipped": to_plain(self.skipped),
            "crashes": to_plain(self.crashes),
            "unexplained": to_plain(self.unexplained),
            "excerpts": to_plain(self.excerpts),
        }
        for name in ("script", "ways", "memory", "trainings", "scan", "invocation"):
            if getattr(self, name):
                plain[name] = to_plain(getattr(self, name))
        return plain

    @classmethod
    def from_json(cls, plain: Any) -> Diagnosis:
        """Read the published JSON form.

        Raises:
            ValueError: it is not a diagnosis, or of another schema version.
        """
        from fitdoctor.json_codec import from_plain

        if not isinstance(plain, dict) or "schema_version" not in plain:
            raise ValueError("not a fitdoctor diagnosis: no `schema_version`")
        if plain["schema_version"] != SCHEMA_VERSION:
            raise ValueError(
                f"schema version {plain['schema_version']!r} is not supported: "
                f"this fitdoctor reads version {SCHEMA_VERSION}"
            )
        fields = {
            name: plain.get(name, [])
            for name in (
                "findings",
                "skipped",
                "crashes",
                "unexplained",
                "excerpts",
                "ways",
                "memory",
                "trainings",
            )
        }
        fields |= {name: plain.get(name) for name in ("script", "scan", "invocation")}
        tool = plain.get("tool")
        version = tool.get("version", "") if isinstance(tool, dict) else ""
        return from_plain(cls, {**fields, "tool_version": version})
