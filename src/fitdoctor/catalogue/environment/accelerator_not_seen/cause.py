"""GPU that TensorFlow does not use.

## What happens

Training runs on the CPU, many times slower, and only the log shows it: "Cannot dlopen some GPU libraries", "Could not
load dynamic library 'libcudnn.so.8'", "Skipping registering GPU devices". Or TensorFlow finds the GPU, but the
installed libraries do not match: "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.6.0", "Failed
to get convolution algorithm. This is probably because cuDNN failed to initialize", "DNN library is not found",
"libdevice not found".

## Why

TensorFlow is compiled for one version of CUDA and cuDNN, and loads them at startup. If one of them is missing or too
old, TensorFlow does not use the GPU.

## Fix

On Linux, install them with TensorFlow: `pip install 'tensorflow[and-cuda]'`. On Windows, use WSL 2, because
TensorFlow 2.11 and later do not support GPUs on native Windows. Then check that `fitdoctor env --devices` shows the
GPU.

## Known limits

The test machine has no GPU, so this was not run here. It is based on recorded logs and on TensorFlow's documentation.
"Could not find cuda drivers on your machine" alone means that there is no GPU, which is not a problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts

CAUSE = Cause(id="FIT906", slug="accelerator-not-seen", severity=Severity.WARNING)

_INSTALL = "install CUDA and cuDNN with TensorFlow: `pip install 'tensorflow[and-cuda]'`"
SAYINGS = (
    (re.compile(r"Cannot dlopen some GPU libraries|Skipping registering\s+GPU devices"),
     "TensorFlow cannot find its GPU libraries, so it trains on the CPU", _INSTALL, Severity.WARNING),
    (re.compile(r"Could not load dynamic library '(?P<name>lib(?:cud|cub|cuf|cur|cus)[\w.]+)'"),
     "a GPU library is missing, so TensorFlow trains on the CPU", _INSTALL, Severity.WARNING),
    (re.compile(r"(?P<name>lib(?:cud|cub|cuf|cur|cus)[\w.]+): cannot open shared object file"),
     "a GPU library is missing, and this version of TensorFlow cannot start without it",
     "install a TensorFlow that starts without a GPU (2.1 or later), or " + _INSTALL, Severity.ERROR),
    (re.compile(r"Loaded runtime CuDNN library: (?P<name>[\d.]+) but source was compiled with: [\d.]+"),
     "the installed cuDNN version does not match the one TensorFlow was compiled with", _INSTALL, Severity.ERROR),
    (re.compile(r"cuDNN failed to initialize|DNN library is not found|No algorithm worked!"
             r"|Fail to find the dnn implementation"
             r"|could not create cudnn handle|Check failed: stream->parent\(\)->GetConvolveAlgorithms"
             r"|CUDNN_STATUS_(?:NOT_INITIALIZED|ALLOC_FAILED|INTERNAL_ERROR)"),
     "cuDNN cannot be initialized: its version does not match, or another program is using the GPU memory",
     "free the GPU memory, or let TensorFlow allocate memory on demand (`set_memory_growth`); otherwise " + _INSTALL,
     Severity.ERROR),
    (re.compile(r"without BLAS support|failed to create cublas handle|CUBLAS_STATUS_NOT_INITIALIZED"),
     "cuBLAS cannot be initialized: its version does not match, or another program is using the GPU memory",
     "free the GPU memory, or let TensorFlow allocate memory on demand (`set_memory_growth`); otherwise " + _INSTALL,
     Severity.ERROR),
    (re.compile(r"libdevice not found|Can't find libdevice directory|ptxas.{0,80}(?:not found|version too old)"),
     "the CUDA tools that compile GPU code are missing",
     "set `XLA_FLAGS=--xla_gpu_cuda_data_dir=` to the CUDA directory, or " + _INSTALL, Severity.ERROR),
)  # fmt: skip
"""Log patterns, with their meaning, fix and severity."""


@CAUSE.after_failure
def from_failure(failure: FailureFacts) -> Iterator[Finding]:
    """Report messages from TensorFlow's startup and its first GPU operation."""
    for expected, problem, remedy, severity in SAYINGS:
        said = expected.search(f"{failure.message}\n{failure.raw_message}")
        if said is None:
            continue
        name = said.groupdict().get("name") or ""
        yield CAUSE.certain(
            problem,
            None,
            Evidence("TensorFlow reports", name or said[0][:100]),
            fix(remedy),
            subject="GPU",
            severity=severity,
        )
        return
