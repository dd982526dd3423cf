"""A file of known findings, which are skipped so that only new ones count."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from fitdoctor.cli import UsageError
from fitdoctor.diagnosis import Diagnosis, Finding
from fitdoctor.records import replace

_VERSION = 1


def read_baseline(path: str) -> Counter[str]:
    """Return the fingerprints in a baseline, each with its count.

    Raises:
        UsageError: the file is missing, or is not a baseline.
    """
    try:
        document = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the baseline `{path}`: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"the baseline `{path}` is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("baseline_version") != _VERSION:
        raise UsageError(f"`{path}` is not a fitdoctor baseline of version {_VERSION}")
    entries = document.get("findings")
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("fingerprint"), str) for entry in entries
    ):
        raise UsageError(f"the baseline `{path}` lacks a `findings` list with fingerprints")
    return Counter(entry["fingerprint"] for entry in entries)


def write_baseline(path: str, diagnosis: Diagnosis) -> None:
    """Save the findings as known.

    Raises:
        UsageError: the file cannot be written.
    """
    from fitdoctor.cli.options import write_file

    # Id, path and message are for the people who read the file; the fingerprint alone is compared.
    entries = sorted(
        (_entry(finding) for finding in diagnosis.findings), key=lambda entry: sorted(entry.items())
    )
    write_file(path, json.dumps({"baseline_version": _VERSION, "findings": entries}, indent=2) + "\n")


def _entry(finding: Finding) -> dict[str, str]:
    return {
        "id": finding.id,
        "path": finding.location.path if finding.location else "",
        "message": finding.message,
        "fingerprint": finding.fingerprint,
    }


def without_known(diagnosis: Diagnosis, known: Counter[str]) -> Diagnosis:
    """Remove the findings of a baseline; a copied line counts as often as it is listed."""
    left = Counter(known)
    fresh = []
    for finding in diagnosis.findings:
        if left[finding.fingerprint] > 0:
            left[finding.fingerprint] -= 1
        else:
            fresh.append(finding)
    return replace(diagnosis, findings=tuple(fresh))
