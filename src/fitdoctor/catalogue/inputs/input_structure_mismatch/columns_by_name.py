"""A dict of columns for a model with one input: Keras 3 does not combine them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Location
from fitdoctor.edits import fix
from fitdoctor.facts import Code, DataFacts, FitFacts, Unknown

_SAID = re.compile(
    r"The structure of `inputs` doesn't match the expected structure\.?\s+Expected: (?P<expected>[\w./:-]+)\s+"
    r"Received: inputs=(?:OrderedDict\(\[)?[{(](?P<given>'[^\n]{0,4000})"
)
_NAME = re.compile(r"'(\w[^'\n]{0,100})'(?::|,) '?\w*Tensor")
_LABELS = frozenset("label labels target targets y class".split())


def columns_for_one_input(
    cause: Cause,
    message: str,
    fit_call: FitFacts | Unknown,
    data: DataFacts | Unknown,
    raised: Location | None,
) -> Iterator[Finding]:
    """Report a dict passed to a model with a single input, unless it includes the labels."""
    said = _SAID.search(message)
    names = _NAME.findall(said["given"]) if said is not None else []
    if said is None or len(names) < 2 or any(name.lower() in _LABELS for name in names):
        return
    known = data if isinstance(data, DataFacts) else None
    argument = _given(fit_call)
    yield cause.finding(
        f"`x` is a dict of {len(names)} columns ({listing(names, 3)}), but the model has one input",
        place(known.code if known and known.form == "dataset" else None, argument, raised),
        Evidence(
            "what the model receives", f"a dict of {len(names)} columns", "one array", fact="failure.message"
        ),
        fix("stack the columns into one array: `tf.stack(list(columns.values()), axis=-1)`"),
        subject="inputs of the model",
        confidence=Confidence.CERTAIN,
    )


def _given(fit_call: FitFacts | Unknown) -> Code | None:
    code = fit_call.code if isinstance(fit_call, FitFacts) else None
    argument = code.argument("x", 0) if isinstance(code, Code) else None
    if argument is None or not isinstance(code, Code):
        return None
    return Code(argument.location, argument.text, spellings=code.spellings, import_at=code.import_at)
