"""A `call` that reads a missing key of its inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Evidence, Finding
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts

_KEY = re.compile(r"['\"](?P<key>[^'\"]{1,80})['\"]: ['\"]?(?:tf\.Tensor|<tf|<KerasTensor|Tensor)")


def missing_key(cause: Cause, failure: FailureFacts) -> Iterator[Finding]:
    """Report an input key that a layer or model reads but does not receive."""
    frame = failure.last_user_frame
    asked = failure.message.strip().strip("'\"")
    if failure.type != "KeyError" or not failure.layer_class or frame is None or not asked:
        return
    for _name, text in failure.arguments[:1]:
        keys = [found["key"] for found in _KEY.finditer(text)]
        if not keys or asked in keys:
            return
        yield cause.finding(
            f"`{failure.layer_class}` reads the input `{asked}`, but receives {listing(keys)}",
            frame.location,
            Evidence("keys of the inputs", ", ".join(keys), asked, fact="failure.arguments"),
            fix(f"add an input `{asked}`, or read one of the existing keys"),
            subject="inputs of the model",
            confidence=Confidence.CERTAIN,
        )
