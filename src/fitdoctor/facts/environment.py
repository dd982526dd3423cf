"""Versions, devices, settings and memory of the machine."""

from __future__ import annotations

from fitdoctor.facts.unknown import Unknown
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Conflict:
    """Two installed things that do not go together, and who says so."""

    first: str
    """`tensorflow 2.17.0`."""
    second: str
    problem: str
    remedy: str
    source: str
    """Where that is said: a package's metadata, release notes."""


@dataclass(frozen=True)
class MemoryLimit:
    """One bound on memory."""

    name: str
    """What sets it: `this machine`, `the container`, `RLIMIT_AS`, or a device such as `GPU:0`."""
    total: int
    """In bytes, with what the machine may swap out."""
    free: int
    """What is left of it now."""


@dataclass(frozen=True)
class EnvironmentFacts:
    """Versions, devices and settings, read without importing TensorFlow."""

    python: str = ""
    packages: tuple[tuple[str, str], ...] = ()
    """Installed versions by distribution name."""
    keras_of_tf: str = ""
    """What `tf.keras` is: `keras 3`, `tf_keras`, or ""."""
    backend: str = ""
    backend_set_by: str = ""
    legacy_keras: bool = False
    devices: tuple[str, ...] | Unknown = Unknown()
    soft_placement: bool | Unknown = Unknown()
    cluster_config: str = ""
    """TF_CONFIG as it stands."""
    conflicts: tuple[Conflict, ...] | Unknown = Unknown()
    problems: tuple[str, ...] = ()
    """Settings that cannot be read: a broken `keras.json`."""
    stand_ins: tuple[tuple[str, str], ...] = ()
    """Packages that were imported from something else, a file or folder of the same name: name and place."""
    memory: tuple[MemoryLimit, ...] = ()
    """Every bound on the memory that tensors live in, the tightest first: of the GPUs where there are any."""

    def version(self, package: str) -> str | None:
        """The installed version of a package."""
        return dict(self.packages).get(package)

    def release(self, package: str) -> tuple[int, ...]:
        """The numbers of that version, to be compared; empty when it is not installed."""
        return tuple(int(part) for part in (self.version(package) or "").split(".")[:3] if part.isdigit())
