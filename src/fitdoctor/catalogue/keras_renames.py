"""What the names that Keras dropped are called now."""

from __future__ import annotations

from fitdoctor.catalogue.keras_signatures import REMOVED_ARGUMENTS

RENAMED_ARGUMENTS = {"lr": "learning_rate", "nb_epoch": "epochs", "alpha": "negative_slope"}
RENAMED_METHODS = {
    "fit_generator": "fit",
    "evaluate_generator": "evaluate",
    "predict_generator": "predict",
    "predict_proba": "predict",
}
OLDER_ARGUMENTS = {"fit": ("nb_epoch", "nb_val_samples", "samples_per_epoch", "show_accuracy")}
"""Arguments of Keras 1 that old programs still give."""
OLDER_HISTORY = {"acc": "accuracy", "val_acc": "val_accuracy"}
"""Keys of the history that Keras 2 once used for the metric `accuracy`."""


def older_arguments(method: str) -> frozenset[str]:
    """The arguments that a method of a model took in an older Keras, and takes no more."""
    return frozenset((*REMOVED_ARGUMENTS.get(method, ()), *OLDER_ARGUMENTS.get(method, ())))
