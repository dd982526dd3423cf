"""Name or argument that Keras 3 no longer has.

## What happens

Since TensorFlow 2.16, `tf.keras` is Keras 3. Code written for Keras 2 fails in many ways:

- `ValueError: Argument(s) not recognized: {'lr': 0.01}`, `TypeError: … got an unexpected keyword argument 'workers'`,
  `AttributeError: 'Sequential' object has no attribute 'predict_classes'`, `ModuleNotFoundError: No module named
  'keras.utils.np_utils'`, `KeyError: 'acc'`.
- The third positional argument of `compile` was `metrics` and is now `loss_weights`: `compile("adam", "mse",
  ["mae"])` raises `dtype='string' is not a valid dtype for Keras type promotion`.
- A layer called with a positional Python value (`self.dropout(x, training)`) raises `Only input tensors may be passed
  as positional arguments`.
- `fit` under `MultiWorkerMirroredStrategy` with two or more workers always raises `ValueError: Attempt to convert a
  value (PerReplica:…` (Keras 3.15; with 3.3 `Invalid reduction dimension 0`), whatever the data and optimizer, even
  with `run_eagerly=True`.
- One change is silent: an optimizer's `decay=` is ignored with only a warning, so the learning rate stays constant.

## Why

Keras 3 is a rewrite. A script compares both versions and generates the lists of names and arguments that this package
uses.

## Fix

Use the new name. If there is none, the fix shows an equivalent. To keep using Keras 2, install `tf_keras` and set
`TF_USE_LEGACY_KERAS=1` before TensorFlow is imported. Keras 2 can also train with several workers; in Keras 3, use a
custom training loop with `strategy.run`. A `MultiWorkerMirroredStrategy` with one worker works in both.

## Known limits

Arguments passed as `**options` are detected only after the failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.environment.compile_positions import bare_metrics, metrics_by_position
from fitdoctor.catalogue.environment.keras_3_arguments import gone_arguments
from fitdoctor.catalogue.environment.keras_3_attributes import gone_attributes
from fitdoctor.catalogue.environment.keras_3_names import gone_imports_told, gone_names_told
from fitdoctor.catalogue.environment.keras_3_spellings import renamed_losses
from fitdoctor.catalogue.sayings import Saying, findings_from_message
from fitdoctor.diagnosis import Applicability, Confidence, Edit, Finding, Severity
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.conditions import is_fallback
from fitdoctor.source.model_use import is_inside_keras
from fitdoctor.source.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.source.fits.fit_sites import ModelSite
    from fitdoctor.source.project import Project

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
    """Report calls, attributes, imports and history keys that Keras 3 rejects."""
    if module.keras != 3 or is_inside_keras(module) or is_fallback(module):
        return
    yield from gone_arguments(CAUSE, module)
    yield from metrics_by_position(CAUSE, module, Confidence.LIKELY)
    yield from bare_metrics(CAUSE, module, Confidence.LIKELY)
    yield from renamed_losses(CAUSE, module)
    yield from gone_attributes(CAUSE, module)
    yield from gone_imports_told(CAUSE, module)
    yield from gone_names_told(CAUSE, module)
    if "add_weight" in module.text:
        from fitdoctor.catalogue.environment.weight_positions import named_by_position

        yield from named_by_position(CAUSE, module, Confidence.LIKELY)
    if "validation_data" in module.text:
        from fitdoctor.catalogue.environment.keras_callbacks import reads_validation_data

        yield from reads_validation_data(CAUSE, module)
    if ".history" in module.text:
        from fitdoctor.catalogue.environment.keras_history import history_finding, older_keys

        for node in older_keys(module):
            yield history_finding(CAUSE, module, node, Confidence.LIKELY)


@CAUSE.in_source
@mentions("Sequential")
def from_uncalled(module: Module) -> Iterator[Finding]:
    """Report `.input` of a Sequential, which Keras 2 set as soon as the input shape was known."""
    if module.keras == 3 and (".input" in module.text or ".output" in module.text):
        from fitdoctor.catalogue.environment.uncalled_models import reads_uncalled

        yield from reads_uncalled(CAUSE, module)


@CAUSE.in_source
@mentions("shape")
def from_bare_numbers(module: Module) -> Iterator[Finding]:
    """Report `Input(shape=(10))`, which Keras 2 accepted as a shape."""
    if module.keras == 3:
        from fitdoctor.catalogue.environment.bare_shapes import bare_numbers

        yield from bare_numbers(CAUSE, module)


@CAUSE.in_source
@mentions("def call", "True)", "False)", "True,", "False,")
def from_positions(module: Module) -> Iterator[Finding]:
    """Report `self.dropout(x, training)`: Keras 2 layers accepted all arguments by position."""
    if module.keras == 3:
        from fitdoctor.catalogue.environment.positional_values import values_by_position

        yield from values_by_position(CAUSE, module)


@CAUSE.in_source
def from_numbers(site: ModelSite) -> Iterator[Finding]:
    """Report a layer whose size is a NumPy integer."""
    if site.failure is not None and site.layer is not None:
        from fitdoctor.catalogue.environment.whole_numbers import numpy_units

        yield from numpy_units(CAUSE, site.failure.message, site.layer.code)


@CAUSE.in_source
@mentions("_resource_apply_dense", "_resource_apply_sparse", "get_updates", "_create_slots")
def from_optimizers(module: Module) -> Iterator[Finding]:
    """Report a custom optimizer that updates variables in methods that Keras 3 never calls."""
    if module.keras == 3:
        from fitdoctor.catalogue.environment.older_optimizers import older_classes

        yield from older_classes(CAUSE, module)


# --- from the failure ---------------------------------------------------------------------------------------------


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report the missing name in the exception, with the fix from the source line."""
    from fitdoctor.catalogue.environment.keras_2_today import is_keras_2, of_keras_2
    from fitdoctor.catalogue.environment.keras_3_failures import told_by

    older = is_keras_2(project)
    for finding in told_by(CAUSE, failure, project, from_source):
        yield of_keras_2(finding) if older else _with_what_is_next(finding, project)


def _with_what_is_next(finding: Finding, project: Project | Unknown) -> Finding:
    """Add the fixes of the other Keras 2 names in the file, which would fail one after the other."""
    if isinstance(project, Unknown) or finding.location is None or not finding.fixes:
        return finding
    module, first = project.module_at(finding.location.path), finding.fixes[0]
    if module is None or first.applicability is not Applicability.SAFE:
        return finding
    edits = list(first.edits)
    for other in from_source(module):
        remedy = other.fixes[0] if other.fixes else None
        if other.severity is not Severity.ERROR or remedy is None:
            continue
        if remedy.applicability is Applicability.SAFE and not _touch(remedy.edits, edits):
            edits += [edit for edit in remedy.edits if edit not in edits]
    if len(edits) == len(first.edits):
        return finding
    title = f"{first.title}, and update the other Keras 2 names in this file"
    return replace(finding, fixes=(replace(first, title=title, edits=tuple(edits)), *finding.fixes[1:]))


def _touch(some: Iterable[Edit], others: list[Edit]) -> bool:
    """Return whether edits overlap with different ones."""

    def span(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
        place = edit.location
        return (place.line, place.column), (place.end_line, place.end_column)

    return any(
        span(edit)[0] <= span(other)[1] and span(other)[0] <= span(edit)[1]
        for edit in some
        for other in others
        if edit != other
    )


@CAUSE.after_failure
def from_elsewhere(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report failures that Keras 2 did not have, such as several workers or short names in saved models."""
    from fitdoctor.catalogue.devices.several_workers import refused_to_several_workers
    from fitdoctor.catalogue.environment.bare_shapes import refused_number
    from fitdoctor.catalogue.environment.keras_callbacks import missed_validation_data
    from fitdoctor.catalogue.environment.keras_defaults import missed_pool_size
    from fitdoctor.catalogue.environment.keras_saving import short_name_in_h5
    from fitdoctor.catalogue.environment.older_optimizers import failed_class
    from fitdoctor.catalogue.environment.positional_values import refused_value
    from fitdoctor.catalogue.environment.weight_positions import refused_position
    from fitdoctor.catalogue.environment.whole_numbers import numpy_number

    yield from numpy_number(CAUSE, failure, project)
    yield from failed_class(CAUSE, failure, project)
    yield from refused_number(CAUSE, failure, project)
    yield from short_name_in_h5(CAUSE, failure)
    yield from missed_validation_data(CAUSE, failure, project)
    yield from missed_pool_size(CAUSE, failure, project)
    yield from refused_position(CAUSE, failure, project)
    yield from refused_value(CAUSE, failure, project)
    yield from refused_to_several_workers(CAUSE, failure, project)


_KERAS_1 = (
    Saying(
        pattern(
            r"(?:argument not understood:', |unexpected keyword argument |arguments passed to \w+: \{)"
            r"'(?P<name>output_dim|nb_filter|nb_row|nb_col|border_mode|subsample|init|inner_init|W_regularizer|b_regularizer"
            r"|W_constraint|dim_ordering|dropout_W|dropout_U|samples_per_epoch|nb_val_samples|nb_worker)'"
        ),
        "`{name}` is an argument of Keras 1, which later versions call by another name",
        "use today's name: the documentation of the layer or method lists it",
        types=("TypeError", "ValueError"),
    ),
)


@CAUSE.after_failure
def from_keras_1(failure: FailureFacts) -> Iterator[Finding]:
    """Report an argument of Keras 1 by its name alone."""
    if failure.last_user_frame is None:
        yield from findings_from_message(CAUSE, failure, _KERAS_1, "argument")
