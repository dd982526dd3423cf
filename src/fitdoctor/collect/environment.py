"""Collect versions, settings and devices that matter to fit, without importing TensorFlow."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fitdoctor.facts import EnvironmentFacts, MemoryLimit, Unknown
from fitdoctor.memory.available import limits

PACKAGES = (
    "tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos", "tensorflow-metal",
    "tf-nightly", "keras", "tf_keras", "keras-nightly", "keras-hub", "keras-nlp", "keras-cv", "keras-tuner", "numpy",
    "pandas", "scipy", "scikit-learn", "protobuf", "h5py", "ml-dtypes", "tensorboard", "tensorflow-hub",
    "tensorflow-probability", "tensorflow-addons", "tensorflow-text", "tensorflow-datasets", "transformers",
    "torch", "jax", "jaxlib", "pillow", "opencv-python", "typing-extensions", "tensorrt", "fitdoctor",
    "nvidia-cudnn-cu12", "nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12",
)  # fmt: skip


_VALUES = {
    "floatx": ("float16", "float32", "float64"),
    "image_data_format": ("channels_first", "channels_last"),
}
"""The values Keras accepts in its settings."""


def environment(with_conflicts: bool = False) -> EnvironmentFacts:
    """Read installed versions, environment variables and, if TensorFlow is running, its devices.

    Args:
        with_conflicts: also find package conflicts, which reads the metadata of all packages.
    """
    from fitdoctor.collect.versions import conflicts, versions_of

    packages = tuple(versions_of(PACKAGES).items())
    legacy = wants_legacy_keras()
    backend, set_by = _backend()
    return EnvironmentFacts(
        python=platform.python_version(),
        packages=packages,
        keras_of_tf=_keras_of_tf(dict(packages), legacy),
        backend=backend,
        backend_set_by=set_by,
        legacy_keras=legacy,
        devices=_devices(),
        cluster_config=os.environ.get("TF_CONFIG", ""),
        conflicts=conflicts(legacy_keras=legacy) if with_conflicts else Unknown("not collected"),
        problems=tuple(_problems()),
        stand_ins=tuple(_stand_ins()),
        memory=(*gpu_memory(), *limits()),
    )


def wants_legacy_keras() -> bool:
    """Whether the environment selects `tf_keras`."""
    return os.environ.get("TF_USE_LEGACY_KERAS", "").strip().lower() in ("1", "true")


def _keras_of_tf(packages: dict[str, str], legacy: bool) -> str:
    """Return what `tf.keras` is: Keras 3 since TensorFlow 2.16, unless legacy Keras is selected."""
    from fitdoctor.collect.versions import installed_version

    version = installed_version("tensorflow")
    if version is None:
        return ""
    parts = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    if len(parts) == 2 and tuple(parts) < (2, 16):
        return "keras 2"
    if legacy:
        return "tf_keras" if "tf_keras" in packages else "tf_keras, which is not installed"
    keras = packages.get("keras") or packages.get("keras-nightly")
    return f"keras {keras[:1]}" if keras else "keras, which is not installed"


def _backend() -> tuple[str, str]:
    loaded = sys.modules.get("keras.src.backend.config")
    if loaded is not None:
        name = getattr(loaded, "_BACKEND", "") or ""
        if name:
            return str(name), "the imported keras"
    if os.environ.get("KERAS_BACKEND"):
        return os.environ["KERAS_BACKEND"], "KERAS_BACKEND"
    configured = _settings().get("backend")
    if isinstance(configured, str) and configured:
        return configured, str(_keras_json())
    return "tensorflow", "default"


def _keras_json() -> Path:
    return Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras") / "keras.json"


def _settings() -> dict[str, Any]:
    try:
        settings: Any = json.loads(_keras_json().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _problems() -> Iterator[str]:
    path = _keras_json()
    try:
        settings: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return
    except ValueError as error:
        yield f"`{path}` is not valid JSON ({error}): Keras uses its defaults"
        return
    if not isinstance(settings, dict):
        yield f"`{path}` does not contain a JSON object: importing Keras fails"
        return
    for name, values in _VALUES.items():
        if name in settings and settings[name] not in values:
            yield f"`{path}` sets `{name}` to {settings[name]!r}, not one of {', '.join(values)}: importing Keras fails"


def _stand_ins() -> Iterator[tuple[str, str]]:
    """Yield modules that shadow a package: unlike the real one, they have no version."""
    for name in ("tensorflow", "keras", "tf_keras", "numpy", "pandas", "scipy", "sklearn"):
        module = sys.modules.get(name)
        if module is None or hasattr(module, "__version__"):
            continue
        place = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), "")
        if place:
            yield name, str(place)


def _context() -> Any:
    """Return the context of TensorFlow if the program has initialized it, without initializing it."""
    module = sys.modules.get("tensorflow.python.eager.context")
    context = getattr(module, "_context", None)
    return context if getattr(context, "_initialized", False) else None


def _devices() -> tuple[str, ...] | Unknown:
    context = _context()
    if context is None:
        return Unknown("TensorFlow has not started")
    try:
        return tuple(str(device.name) for device in context.list_logical_devices())
    # The runtime may raise anything.
    except Exception as error:
        return Unknown(f"listing the devices raised {type(error).__name__}")


def gpu_memory() -> tuple[MemoryLimit, ...]:
    """Return the memory of each GPU that TensorFlow uses, smallest first; empty without a GPU."""
    context = _context()
    if context is None:
        return ()
    try:
        return _gpu_memory(context)
    # The runtime may raise anything.
    except Exception:
        return ()


def _gpu_memory(context: Any) -> tuple[MemoryLimit, ...]:
    from tensorflow.python import pywrap_tfe

    devices = pywrap_tfe.TFE_ContextListDevices(context._handle)
    found = []
    try:
        for place in range(pywrap_tfe.TF_DeviceListCount(devices)):
            if pywrap_tfe.TF_DeviceListType(devices, place) == "GPU":
                name = str(pywrap_tfe.TF_DeviceListName(devices, place)).rpartition("device:")[2]
                total = int(pywrap_tfe.TF_DeviceListMemoryBytes(devices, place))
                used = int(context.get_memory_info(name)["current"])
                found.append(MemoryLimit(name, total, max(0, total - used)))
    finally:
        pywrap_tfe.TF_DeleteDeviceList(devices)
    return tuple(sorted(found, key=lambda limit: limit.free))
