"""Versions, devices, settings and memory of the machine."""

from __future__ import annotations

from fitdoctor.facts.unknown import Unknown
from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Conflict:
    """Two installed versions that are incompatible, and the source of that claim."""

    first: str
    """`tensorflow 2.17.0`."""
    second: str
    problem: str
    remedy: str
    source: str
    """The source: a package's metadata, or release notes."""


@dataclass(frozen=True)
class MemoryLimit:
    """A limit on memory."""

    name: str
    """What sets it: `this machine`, `the container`, `RLIMIT_AS`, or a device such as `GPU:0`."""
    total: int
    """In bytes, including swap."""
    free: int
    """The bytes that are free now."""


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
    cluster_config: str = ""
    """The current value of TF_CONFIG."""
    conflicts: tuple[Conflict, ...] | Unknown = Unknown()
    problems: tuple[str, ...] = ()
    """Settings that cannot be read: a broken `keras.json`."""
    stand_ins: tuple[tuple[str, str], ...] = ()
    """Packages hidden by a file or folder of the same name: name and path."""
    memory: tuple[MemoryLimit, ...] = ()
    """Every limit on the memory for tensors, the tightest first; those of the GPUs if there are any."""

    def version(self, package: str) -> str | None:
        """Return the installed version of a package."""
        return dict(self.packages).get(package)

    def release(self, package: str) -> tuple[int, ...]:
        """Return the numbers of the installed version, for comparison; () if it is not installed."""
        return tuple(int(part) for part in (self.version(package) or "").split(".")[:3] if part.isdigit())
