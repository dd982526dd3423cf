"""The entry of FIT902 in the catalogue, which its finders share."""

from __future__ import annotations

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Severity

CAUSE = Cause(
    id="FIT902",
    slug="removed-in-keras-3",
    severity=Severity.ERROR,
    raises=(
        "ValueError",
        "TypeError",
        "AttributeError",
        "ImportError",
        "ModuleNotFoundError",
        "KeyError",
        "NotImplementedError",
    ),
    explains=("FIT106", "FIT302", "FIT309"),
)
