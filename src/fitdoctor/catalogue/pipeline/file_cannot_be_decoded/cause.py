"""Data file that cannot be decoded.

## What happens

In the middle of an epoch, `fit` stops with `InvalidArgumentError: Graph execution error: … Unknown image file format.
One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.`, `Input is empty` or `Invalid JPEG data or crop window`. If
Pillow reads the images, the error is `cannot identify image file` or `image file is truncated` (quoted from Pillow; not
run here). The error does not name the file.

## Why

One of the files is not what its name suggests: an HTML error page, an incomplete download, another format or an empty
file. TensorFlow decodes a file only when its batch is due.

## Fix

Read each file once before training, and remove or re-download files that cannot be decoded. Alternatively, call
`ignore_errors()` after the `map` that decodes: it skips such files, and `fit` then gets fewer samples.

## Known limits

TensorFlow does not report which file failed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.knowledge.data.pipeline_steps import with_step_after
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Finding, Severity
from fitdoctor.edits import fix, unsafe
from fitdoctor.facts import Code, FailureFacts, Unknown
from fitdoctor.failure.failed_line import raised_here
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT716", slug="file-cannot-be-decoded", severity=Severity.ERROR, raises="InvalidArgumentError"
)

_SAID = re.compile(
    r"Unknown image file format|Invalid (?:JPEG|PNG|GIF|BMP|WEBP)\b|Input is empty|jpeg::Uncompress failed|"
    r"Trying to decode \w+ format using|cannot identify image file|image file is truncated"
)
_DECODES = ("decode_jpeg", "decode_png", "decode_image", "decode_bmp", "decode_gif", "decode_and_crop_jpeg")
_READS_FOLDERS = ("image_dataset_from_directory", "flow_from_directory", "flow_from_dataframe", "load_img")


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report the error of TensorFlow, or of the library that reads the images."""
    if not _SAID.search(failure.message):
        return
    site = _reader(project)
    remedy = fix(
        "read every file once before training, and remove or re-download those that cannot be decoded"
    )
    skipping = with_step_after(_mapped(site), ".ignore_errors()") if site is not None else ()
    yield CAUSE.certain(
        "a data file cannot be decoded: it is empty, truncated or in another format",
        place(site.module.code(site.node) if site is not None else None, failure.location),
        raised_here(failure),
        *(
            [unsafe("skip files that cannot be decoded with `ignore_errors()`", skipping), remedy]
            if skipping
            else [remedy]
        ),
        subject="data files",
    )


def _reader(project: Project) -> CallSite | None:
    """Return the only call in the program that decodes images or lets Keras read them."""
    found = [
        site
        for module in project.modules
        for site in module.calls
        if _last_name(module, site) in (*_DECODES, *_READS_FOLDERS)
    ]
    return found[0] if len(found) == 1 else None


def _last_name(module: Module, site: CallSite) -> str:
    return site.method or module.resolve(site.node.func).rpartition(".")[2]


def _mapped(site: CallSite) -> Code | Unknown:
    """Return the only pipeline stage that runs the decoding function."""
    module, function = site.module, site.function
    if function is None:
        return Unknown("the call is not inside a function")
    steps = [
        call.node
        for call in module.method_calls("map")
        if any(isinstance(part, ast.Name) and part.id == function.name for part in call.node.args)
    ]
    return module.code(steps[0]) if len(steps) == 1 else Unknown("no single pipeline stage runs the function")
