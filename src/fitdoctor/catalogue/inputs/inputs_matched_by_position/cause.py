"""Dict of inputs that Keras matches by position.

## What happens

`Model({"bid": …, "rank": …}, …)` receives data with the keys `bid`, `log_bid` and `rank`. Keras warns about the
structure and then matches the values by position, in the sorted order of the keys: the input `rank` receives
`log_bid`. If the shapes agree, `fit` learns from the wrong columns. If they do not, the error names an unrelated
input. The same happens to an `OrderedDict`, which `make_csv_dataset` yields: its values are matched in its own order, not
by their keys.

## Why

Keras 3 (seen in 3.15) compares the flattened structures and uses as many values as there are inputs. A model built
from a list of named inputs selects the values by name and ignores the rest.

## Fix

Pass only the keys that the model has, in a plain `dict`, or build the model from a list of its inputs.

## Known limits

A key that sorts after all the others shifts nothing and is not reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.data_places import decided_near, shaping_step
from fitdoctor.catalogue.knowledge.data.data_trail import node_of
from fitdoctor.catalogue.knowledge.data.shapes import proven
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, EnvironmentFacts, FailureFacts, ModelFacts, Unknown
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT116",
    slug="inputs-matched-by-position",
    severity=Severity.WARNING,
    explains=("FIT101", "FIT102", "FIT104", "FIT109", "FIT110", "FIT113", "FIT115"),
)

LAST_WITH_IT = (3, 15, 1)
"""Later versions of Keras match by name."""


@CAUSE.before_fit
def from_data(
    model: ModelFacts, data: DataFacts, environment: EnvironmentFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report an extra key that sorts before an input of the model, or an OrderedDict in another order."""
    if data.role == "training" and data.problem is None:
        yield from _findings(model, data, environment, project, failed=proven(data))


def _findings(
    model: ModelFacts,
    data: DataFacts,
    environment: EnvironmentFacts | Unknown,
    project: Project,
    failed: bool,
) -> Iterator[Finding]:
    if isinstance(model.inputs, Unknown) or model.input_structure != "dict" or data.x_structure != "dict":
        return
    if model.keras != 3 or _matches_by_name(environment):
        return
    names = {spec.name for spec in model.inputs}
    extra = [array for array in data.x if array.key not in names]
    given = list(data.x_order) or sorted(array.key for array in data.x)
    wanted = [spec.name for spec in model.inputs] if data.x_order else sorted(names)
    if not names <= set(given):
        return
    shifted = [(want, got) for want, got in zip(wanted, given, strict=False) if want != got]
    if not shifted:
        return
    first = extra[0] if extra else data.x[0]
    reason = (
        f"the extra key {listing(array.key for array in extra)} shifts the inputs"
        if extra
        else "`x` is an `OrderedDict`, which Keras matches by position"
    )
    yield CAUSE.certain(
        f"{reason}: " + ", ".join(f"`{want}` receives `{got}`" for want, got in shifted[:4]),
        _line(first, data),
        Evidence(
            "keys of `x` compared with the model inputs",
            ", ".join(map(repr, given)),
            ", ".join(map(repr, wanted)),
            fact="data.x",
            location=place(first.code),
        ),
        _left_out(extra, names, data, project) if extra else _plain_dict(data),
        subject="keys of x",
        severity=Severity.ERROR if failed else Severity.WARNING,
    )


def _line(extra: ArrayFacts, data: DataFacts) -> Location | None:
    """Return where the key is added: a pipeline stage, `x["key"] = …`, or the dict passed to fit."""
    step, decided = shaping_step(data), decided_near(extra)
    # An expression that is not assigned to a name is written in the dict.
    put_in = decided is not None and (extra.key in decided.text or not decided.target)
    keyed = decided if put_in else None
    return place(step.code if step else None, keyed, extra.use, extra.code)


def _matches_by_name(environment: EnvironmentFacts | Unknown) -> bool:
    return isinstance(environment, EnvironmentFacts) and environment.release("keras") > LAST_WITH_IT


def _plain_dict(data: DataFacts) -> Fix:
    """Convert the OrderedDict to a dict, which Keras sorts as it sorts the inputs."""
    title = "convert it to a plain dict"
    step, use = shaping_step(data), data.x[0].use
    if data.form == "dataset" and step is not None and data.element_size in (2, 3):
        names = ("x", "y", "weight")[: data.element_size]
        others = ", ".join(names[1:])
        return unsafe(title, wrap(step.code, f"{{}}.map(lambda {', '.join(names)}: (dict(x), {others}))"))
    return (
        unsafe(title, wrap(use, "dict({})"))
        if data.form == "arrays" and isinstance(use, Code)
        else fix(title)
    )


def _left_out(extra: list[ArrayFacts], names: set[str], data: DataFacts, project: Project) -> Fix:
    title = f"remove the key {listing(array.key for array in extra)} from `x`"
    wanted = f"({', '.join(repr(name) for name in sorted(names))}{',' if len(names) == 1 else ''})"
    first = extra[0]
    step = shaping_step(data)
    if data.form == "dataset" and step is not None and data.element_size == 2:
        mapped = f"{{}}.map(lambda x, y: ({{key: x[key] for key in {wanted}}}, y))"
        return unsafe(title, wrap(step.code, mapped))
    if not isinstance(first.use, Code) or first.container != "numpy.ndarray":
        return fix(title)
    picked = f"{{key: {{}}[key] for key in {wanted}}}"
    if not first.use.text.isidentifier():
        picked = f"{{key: value for key, value in {{}}.items() if key in {wanted}}}"
    return unsafe(title, _without(first, project) or wrap(first.use, picked))


def _without(array: ArrayFacts, project: Project) -> tuple[Edit, ...]:
    """Return the literal dict without the item."""
    found = node_of(project, array.code)
    written = found[0].parent(found[1]) if found is not None else None
    if found is None or not isinstance(written, ast.Dict) or len(written.keys) < 2 or None in written.keys:
        return ()
    module, node = found
    position = written.values.index(node)  # type: ignore[arg-type]
    places = [module.location(key) for key in written.keys if key is not None]
    if position + 1 < len(places):
        return (Edit(places[position].through(places[position + 1].start), ""),)
    before = module.location(written.values[position - 1]).end
    return (Edit(before.through(module.location(node)), ""),)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts,
    model: ModelFacts | Unknown,
    data: DataFacts | Unknown,
    environment: EnvironmentFacts | Unknown,
    project: Project,
) -> Iterator[Finding]:
    """Report an error about inputs that were matched by position."""
    if failure.type not in ("ValueError", "TypeError", "InvalidArgumentError"):
        return
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts) and data.role == "training":
        yield from _findings(model, data, environment, project, failed=True)
