"""Findings about the parts of a batch: more than `fit` reads, or inputs that are not grouped."""

from __future__ import annotations

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.batch_edits import grouped, last_step, mapped, structuring
from fitdoctor.catalogue.knowledge.data.pipeline_steps import words
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import DataFacts, FitFacts, Unknown
from fitdoctor.source.project import Project


def too_many(cause: Cause, data: DataFacts, fit_call: FitFacts, size: int) -> Finding:
    """Return the finding for an element with more than inputs, labels and weights."""
    end = last_step(data)
    return cause.finding(
        f"each element of the {words(data)} has {size} parts, but `fit` reads only inputs, labels and weights",
        place(end, fit_call.code),
        Evidence("parts per element", str(size), "1, 2 or 3", fact="data.element_size"),
        unsafe(
            "keep only inputs, labels and weights",
            mapped(data, end, ".map(lambda x, y, weight, *rest: (x, y, weight))"),
        ),
        subject=f"{data.role} {data.form}",
        confidence=Confidence.CERTAIN,
    )


def ungrouped(
    cause: Cause, data: DataFacts, fit_call: FitFacts, inputs: int, size: int, project: Project | Unknown
) -> Finding:
    """Return the finding for inputs at the same level as the labels, so that only the first counts as input."""
    weighted = size == inputs + 2
    source = structuring(data, size, project)
    names = [f"x{index + 1}" for index in range(inputs)]
    rest = ["y", "weight"] if weighted else ["y"]
    call = f".map(lambda {', '.join([*names, *rest])}: (({', '.join(names)}), {', '.join(rest)}))"
    edits = grouped(project, source, inputs) or mapped(data, last_step(data), call)
    title = f"group the inputs: `(({', '.join(names)}), {', '.join(rest)})`"
    return cause.finding(
        f"each element of the {words(data)} has {size} separate parts, so only the first is an input, "
        f"but the model has {inputs} inputs",
        place(source, last_step(data), fit_call.code),
        Evidence(
            "structure of an element",
            data.element,
            f"a tuple whose first part contains the {inputs} inputs",
            fact="data.element",
        ),
        fix(title, edits),
        subject=f"{data.role} {data.form}",
        confidence=Confidence.LIKELY if isinstance(data.trial.forward, Unknown) else Confidence.CERTAIN,
    )
