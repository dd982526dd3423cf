"""A GPU that TensorFlow does not use.

## What happens

Training runs on the CPU, many times slower, and only the log tells: "Cannot dlopen some GPU libraries", "Could not load
dynamic library 'libcudnn.so.8'", "Skipping registering GPU devices". Or the GPU is seen and its libraries do not fit:
"Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.6.0", "Failed to get convolution algorithm. This is
probably because cuDNN failed to initialize", "DNN library is not found", "libdevice not found".

## Why

TensorFlow is compiled for one version of CUDA and cuDNN, and loads them when it starts. What is missing, or older, on the
machine switches the GPU off.

## Fix

Install them with TensorFlow: `pip install 'tensorflow[and-cuda]'` (Linux); on Windows use WSL 2, since TensorFlow 2.11
has no GPU support there. Then `fitdoctor env --devices` shows the GPU.

## Known limits

There is no GPU on the machine of the tests: this was not run here, and stands on recorded texts and on TensorFlow's
documentation. "Could not find cuda drivers on your machine" alone says that there is no GPU, and nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts
from fitdoctor.patterns import pattern

CAUSE = Cause(id="FIT906", slug="accelerator-not-seen", severity=Severity.WARNING)

_INSTALL = "install CUDA and cuDNN with TensorFlow: `pip install 'tensorflow[and-cuda]'`"
SAYINGS = (
    (pattern(r"Cannot dlopen some GPU libraries|Skipping registering\s+GPU devices"),
     "TensorFlow does not find its GPU libraries: it trains on the CPU", _INSTALL, Severity.WARNING),
    (pattern(r"Could not load dynamic library '(?P<name>lib(?:cud|cub|cuf|cur|cus)[\w.]+)'"),
     "a GPU library is not found: TensorFlow trains on the CPU", _INSTALL, Severity.WARNING),
    (pattern(r"(?P<name>lib(?:cud|cub|cuf|cur|cus)[\w.]+): cannot open shared object file"),
     "a GPU library is not found, and this TensorFlow does not start without it",
     "install a TensorFlow that starts without a GPU (2.1 or later), or " + _INSTALL, Severity.ERROR),
    (pattern(r"Loaded runtime CuDNN library: (?P<name>[\d.]+) but source was compiled with: [\d.]+"),
     "the installed cuDNN is not the one that TensorFlow was compiled with", _INSTALL, Severity.ERROR),
    (pattern(r"cuDNN failed to initialize|DNN library is not found|No algorithm worked!"
             r"|CUDNN_STATUS_(?:NOT_INITIALIZED|ALLOC_FAILED|INTERNAL_ERROR)"),
     "cuDNN cannot be used: it does not fit, or another program has taken the GPU's memory",
     "free the GPU, or let TensorFlow take memory as it needs it (`set_memory_growth`); else " + _INSTALL,
     Severity.ERROR),
    (pattern(r"without BLAS support|failed to create cublas handle|CUBLAS_STATUS_NOT_INITIALIZED"),
     "cuBLAS cannot be used: it does not fit, or another program has taken the GPU's memory",
     "free the GPU, or let TensorFlow take memory as it needs it (`set_memory_growth`); else " + _INSTALL,
     Severity.ERROR),
    (pattern(r"libdevice not found|Can't find libdevice directory|ptxas.{0,80}(?:not found|version too old)"),
     "the CUDA tools that compile for the GPU are not found",
     "set `XLA_FLAGS=--xla_gpu_cuda_data_dir=` to the CUDA folder, or " + _INSTALL, Severity.ERROR),
)  # fmt: skip
"""What the log says, what it means, what to do."""


@CAUSE.after_failure
def from_failure(failure: FailureFacts) -> Iterator[Finding]:
    """The words of TensorFlow's start and of its first operation on the GPU."""
    for expected, problem, remedy, severity in SAYINGS:
        said = expected.search(f"{failure.message}\n{failure.raw_message}")
        if said is None:
            continue
        name = said.groupdict().get("name") or ""
        yield CAUSE.finding(
            problem,
            subject="GPU",
            evidence=[
                Evidence(claim="what TensorFlow says", observed=name or said[0][:100], fact="failure.message")
            ],
            fixes=[fix(remedy)],
            confidence=Confidence.CERTAIN,
            severity=severity,
        )
        return
