"""Differences between the workers of a cluster that each run fine alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fitdoctor.catalogue import catalogue
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Fix, Location, Severity
from fitdoctor.facts.cluster import Member, cluster_of


def differences(members: Sequence[Member]) -> Iterator[tuple[Finding, tuple[str, ...]]]:
    """Yield a finding for every difference, with the workers that differ from the majority."""
    failed = any(member.diagnosis.script and member.diagnosis.script.exit_code for member in members)
    for read, cause, what, remedy in _ASPECTS:
        seen = {member.name: value for member in members if (value := read(member))}
        if len(seen) < 2 or len(set(seen.values())) < 2:
            continue
        usual = Counter(seen.values()).most_common(1)[0][0]
        other = tuple(name for name, value in seen.items() if value != usual)
        if any(_explained(member, cause) for member in members if member.name in other):
            continue
        evidence = [Evidence(f"{what} on {name}", value) for name, value in seen.items()]
        message = f"{what} is {seen[other[0]]}, but {usual} on the other workers"
        found = catalogue()[cause].finding(
            message,
            _place(members, cause),
            *evidence,
            Fix(remedy),
            subject=what,
            confidence=Confidence.LIKELY,
            severity=Severity.ERROR if failed else Severity.WARNING,
        )
        yield found.with_fingerprint(), other


def _place(members: Sequence[Member], cause: str) -> Location | None:
    """Return where a worker reported the cause."""
    for member in members:
        for finding in member.diagnosis.findings:
            if finding.id == cause and finding.location is not None:
                return finding.location
    return None


def _explained(member: Member, cause: str) -> bool:
    """Whether a worker has another known problem."""
    return any(
        found.severity is Severity.ERROR and (found.id != cause or found.confidence is Confidence.CERTAIN)
        for found in member.diagnosis.findings
    )


def _addresses(member: Member) -> str:
    cluster = cluster_of(member.config)
    return ", ".join(f"{name} {address}" for name, address in cluster.tasks) if cluster is not None else ""


def _version(package: str) -> Callable[[Member], str]:
    def read(member: Member) -> str:
        for call in member.calls:
            for name, version in (call.get("environment") or {}).get("packages", ()):
                if name.removesuffix("-cpu") == package:
                    return _minor(version)
        return ""

    return read


def _python(member: Member) -> str:
    told = ((call.get("environment") or {}).get("python") or "" for call in member.calls)
    return _minor(next((version for version in told if version), ""))


def _minor(version: str) -> str:
    """Drop the patch number, so that patch releases compare equal."""
    return ".".join(version.split(".")[:2])


def _arrays(part: str) -> Callable[[Member], str]:
    """Describe the data of the first `fit`: shapes without the batch axis, and dtypes."""

    def read(member: Member) -> str:
        for data in _training_data(member):
            told = [_array(array) for array in data.get(part, ())]
            return "; ".join(told) if all(told) else ""
        return ""

    return read


def _array(array: dict[str, Any]) -> str:
    shape, dtype = array.get("shape"), array.get("dtype")
    if not isinstance(shape, list) or not isinstance(dtype, str):
        return ""
    return f"({', '.join('None' if size is None else str(size) for size in shape[1:])}) {dtype}"


def _batch(member: Member) -> str:
    for data in _training_data(member):
        size = data.get("batch_size")
        if isinstance(size, int):
            return str(size)
        steps = [step for step in data.get("pipeline", ()) if step.get("operation") == "batch"]
        return str(dict(steps[-1].get("arguments", ())).get("batch_size", "")) if steps else ""
    return ""


def _training_data(member: Member) -> Iterator[dict[str, Any]]:
    for call in member.calls:
        if call.get("method") == "fit":
            yield from call.get("data", ())[:1]


_ASPECTS: tuple[tuple[Callable[[Member], str], str, str, str], ...] = (
    (
        _addresses,
        "FIT606",
        "the cluster in TF_CONFIG",
        "give every worker the same `cluster`: only `task` differs",
    ),
    *(
        (_version(package), "FIT901", f"the {name} version", "install the same version on every worker")
        for package, name in (
            ("tensorflow", "TensorFlow"),
            ("keras", "Keras"),
            ("tf_keras", "tf_keras"),
            ("numpy", "NumPy"),
        )
    ),
    (_python, "FIT901", "the Python version", "use the same Python version on every worker"),
    (_arrays("x"), "FIT101", "a sample of `x`", "give every worker data of the same shape and dtype"),
    (_arrays("y"), "FIT101", "a sample of `y`", "give every worker labels of the same shape and dtype"),
    (
        _batch,
        "FIT605",
        "the global batch size",
        "give every worker the same global batch size; each takes its share",
    ),
)
"""What is compared: a reader, the cause of a difference, a name, and the remedy."""
