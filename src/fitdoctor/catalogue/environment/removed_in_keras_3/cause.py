"""A name or argument that Keras 3 no longer has.

## What happens

Since TensorFlow 2.16, `tf.keras` is Keras 3. Code for Keras 2 meets `ValueError: Argument(s) not recognized: {'lr':
0.01}`, `TypeError: … got an unexpected keyword argument 'workers'`, `AttributeError: 'Sequential' object has no
attribute 'predict_classes'`, `ModuleNotFoundError: No module named 'keras.utils.np_utils'`, `KeyError: 'acc'`. The third
argument of `compile` by position was `metrics` and is `loss_weights`: `compile("adam", "mse", ["mae"])` ends in
`dtype='string' is not a valid dtype for Keras type promotion`. One is silent: `decay=` of an optimizer is ignored with a
mere warning, and the learning rate stays as it is. `fit` under `MultiWorkerMirroredStrategy` with two workers or more
always ends with `ValueError: Attempt to convert a value (PerReplica:…` (Keras 3.15; with 3.3 `Invalid reduction
dimension 0`), whatever data and optimizer, also with `run_eagerly=True`.

## Why

Keras 3 was written anew. What it takes is listed in this package by a script that compares both versions.

## Fix

Use the new name. Where there is none, the fix says what does the same. To go on with Keras 2 as it was, install
`tf_keras` and set `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported. That also trains with several workers; so does
a loop of one's own with `strategy.run` in Keras 3. A `MultiWorkerMirroredStrategy` of one worker trains in both.

## Known limits

Arguments that are passed on as `**options` are seen only when they raise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.environment.compile_positions import (
    bare_metrics,
    metrics_by_position,
    refuses_bare_metrics,
    refuses_loss_weights,
)
from fitdoctor.catalogue.environment.keras_1 import refused_in_words
from fitdoctor.catalogue.environment.keras_2_today import is_keras_2, of_keras_2
from fitdoctor.catalogue.environment.keras_3_arguments import argument_finding, gone_arguments, of_keras_1
from fitdoctor.catalogue.environment.keras_3_attributes import failed_attribute, gone_attributes
from fitdoctor.catalogue.environment.keras_3_gone import (
    METHODS,
    METHODS_OF_PARTS,
    gone_in_message,
    is_of_user,
    owner_in_message,
)
from fitdoctor.catalogue.environment.keras_3_names import gone_imports_told, gone_names_told
from fitdoctor.catalogue.environment.keras_3_spellings import renamed_losses
from fitdoctor.catalogue.environment.keras_callbacks import missed_validation_data, reads_validation_data
from fitdoctor.catalogue.environment.keras_defaults import missed_pool_size
from fitdoctor.catalogue.environment.keras_history import history_finding, older_keys
from fitdoctor.catalogue.environment.keras_renames import (
    OLDER_HISTORY,
    RENAMED_ARGUMENTS,
    RENAMED_METHODS,
    RENAMED_OF_METRICS,
    refused_by_class,
)
from fitdoctor.catalogue.environment.keras_saving import saved_by_keras_2, short_name_in_h5
from fitdoctor.catalogue.environment.weight_positions import named_by_position, refused_position
from fitdoctor.catalogue.graph.traced import at_frame, module_of, stands_at
from fitdoctor.diagnosis import Confidence, Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, Frame, Unknown
from fitdoctor.records import replace
from fitdoctor.source.model_use import is_inside_keras
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite

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


# --- from the source ----------------------------------------------------------------------------------------------


@CAUSE.in_source
def from_source(module: Module) -> Iterator[Finding]:
    """Calls, attributes, imports and history keys that Keras 3 refuses."""
    if module.keras != 3 or is_inside_keras(module):
        return
    yield from gone_arguments(CAUSE, module)
    yield from metrics_by_position(CAUSE, module, Confidence.LIKELY)
    yield from bare_metrics(CAUSE, module, Confidence.LIKELY)
    yield from named_by_position(CAUSE, module, Confidence.LIKELY)
    yield from renamed_losses(CAUSE, module)
    yield from gone_attributes(CAUSE, module)
    yield from gone_imports_told(CAUSE, module)
    yield from gone_names_told(CAUSE, module)
    yield from reads_validation_data(CAUSE, module)
    for node in older_keys(module):
        yield history_finding(CAUSE, module, node, Confidence.LIKELY)


@CAUSE.in_source
@mentions("Sequential")
def from_uncalled(module: Module) -> Iterator[Finding]:
    """`.input` of a Sequential that Keras 2 had from its input shape on."""
    if module.keras == 3 and (".input" in module.text or ".output" in module.text):
        from fitdoctor.catalogue.environment.uncalled_models import reads_uncalled

        yield from reads_uncalled(CAUSE, module)


@CAUSE.in_source
@mentions("shape")
def from_bare_numbers(module: Module) -> Iterator[Finding]:
    """`Input(shape=(10))`, which Keras 2 took for a shape."""
    if module.keras == 3:
        from fitdoctor.catalogue.environment.bare_shapes import bare_numbers

        yield from bare_numbers(CAUSE, module)


@CAUSE.in_source
def from_numbers(site: ModelSite) -> Iterator[Finding]:
    """A layer whose size is a whole number of NumPy's."""
    if site.failure is not None and site.layer is not None:
        from fitdoctor.catalogue.environment.whole_numbers import numpy_units

        yield from numpy_units(CAUSE, site.failure.message, site.layer.code)


@CAUSE.in_source
@mentions("_resource_apply_dense", "_resource_apply_sparse", "get_updates", "_create_slots")
def from_optimizers(module: Module) -> Iterator[Finding]:
    """A class of one's own that changes variables in methods that Keras 3 never calls."""
    if module.keras == 3:
        from fitdoctor.catalogue.environment.older_optimizers import older_classes

        yield from older_classes(CAUSE, module)


# --- from the failure ---------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """The exception names what is gone; the source at that line says how it is written."""
    older = is_keras_2(project)
    for finding in _told_by(failure, project):
        yield of_keras_2(finding) if older else finding


def _told_by(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    loaded = list(saved_by_keras_2(CAUSE, failure))
    if loaded:
        yield from loaded
        return
    if "has never been called and thus" in failure.message:
        from fitdoctor.catalogue.environment.uncalled_models import failed_uncalled

        found = failed_uncalled(CAUSE, failure, project)
        if found is not None:
            yield found
            return
    if isinstance(project, Project) and refuses_loss_weights(failure.message):
        for read in project.modules:
            yield from metrics_by_position(CAUSE, read, Confidence.CERTAIN)
    if isinstance(project, Project) and refuses_bare_metrics(failure.message):
        for read in project.modules:
            yield from bare_metrics(CAUSE, read, Confidence.CERTAIN)
    gone, kind = gone_in_message(failure), owner_in_message(failure.message)
    frame = failure.last_user_frame
    if gone is None or is_of_user(failure.message, project):
        yield from _refused_call(failure, project)
        return
    if frame is not None and isinstance(project, Project):
        module = module_of(project, frame)
        for finding in _certain(module, frame, gone, kind) if module is not None else ():
            yield finding
            return
    new = RENAMED_ARGUMENTS.get(gone) or RENAMED_METHODS.get(gone) or OLDER_HISTORY.get(gone)
    if kind == "metric":
        new = RENAMED_OF_METRICS.get(gone)
    yield CAUSE.finding(
        f"Keras 3 has no `{gone}`",
        subject=f"name {gone}",
        location=frame.location if frame else None,
        evidence=[
            Evidence(claim="Keras refused it", observed=gone, expected=new or "", fact="failure.message")
        ],
        fixes=[fix(f"write `{new}`" if new else "use what Keras 3 offers instead")],
        confidence=Confidence.CERTAIN,
    )


@CAUSE.after_failure
def from_elsewhere(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Keras 2 trained with several workers, and loaded what was saved under a short name."""
    from fitdoctor.catalogue.devices.several_workers import refused_to_several_workers
    from fitdoctor.catalogue.environment.bare_shapes import refused_number
    from fitdoctor.catalogue.environment.older_optimizers import failed_class
    from fitdoctor.catalogue.environment.whole_numbers import numpy_number

    yield from numpy_number(CAUSE, failure, project)
    yield from failed_class(CAUSE, failure, project)
    yield from refused_number(CAUSE, failure, project)
    yield from short_name_in_h5(CAUSE, failure)
    yield from missed_validation_data(CAUSE, failure, project)
    yield from missed_pool_size(CAUSE, failure, project)
    yield from refused_position(CAUSE, failure, project)
    yield from refused_to_several_workers(CAUSE, failure, project)


def _refused_call(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """A layer or model that was called as in Keras 1: the message names what is missing, or the first odd one."""
    frame = failure.last_user_frame
    if frame is None or failure.type not in ("TypeError", "ValueError"):
        return
    words = ("missing", "keyword arguments passed to", "Keyword argument not understood")
    if not any(each in failure.message for each in words):
        return
    if isinstance(project, Unknown):
        yield from refused_in_words(CAUSE, failure, frame)
        return
    module = module_of(project, frame)
    if module is None:
        return
    for site in module.calls:
        if at_frame(module, site.node, frame):
            for finding in of_keras_1(CAUSE, module, site):
                yield replace(finding, confidence=Confidence.CERTAIN)


def _certain(module: Module, frame: Frame, gone: str, kind: str) -> Iterator[Finding]:
    """What the source says about that line, as a certainty: it has failed."""
    for site in module.calls:
        refuses = site.method in (*METHODS, *METHODS_OF_PARTS) or gone in refused_by_class(site.name)
        if refuses and at_frame(module, site.node, frame):
            code = module.code(site.node)
            for argument in code.arguments:
                if argument.name == gone:
                    yield argument_finding(CAUSE, module, site, code, argument, Confidence.CERTAIN)
    for finding in renamed_losses(CAUSE, module):
        if finding.evidence[0].observed == gone:
            yield replace(finding, confidence=Confidence.CERTAIN)
    for node in module.nodes(ast.Attribute):
        if node.attr == gone and at_frame(module, node, frame):
            yield from failed_attribute(CAUSE, module, node, kind)
    for finding in gone_names_told(CAUSE, module):
        if finding.location is not None and stands_at(finding.location, frame.line, frame.cell):
            yield replace(finding, confidence=Confidence.CERTAIN)
    for subscript in module.nodes(ast.Subscript):
        key = subscript.slice.value if isinstance(subscript.slice, ast.Constant) else None
        if key in OLDER_HISTORY and at_frame(module, subscript, frame):
            yield history_finding(CAUSE, module, subscript, Confidence.CERTAIN)
    for finding in from_source(module):
        if finding.location is not None and stands_at(finding.location, frame.line, frame.cell):
            yield replace(finding, confidence=Confidence.CERTAIN)
