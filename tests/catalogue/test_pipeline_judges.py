"""What the judges of data pipelines say about plain facts."""

from __future__ import annotations

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.catalogue.pipeline.validation_edits import _called_alike
from fitdoctor.diagnosis import Finding, Location, Severity
from fitdoctor.facts import (
    Argument,
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    LossFacts,
    ModelFacts,
    Outcome,
    PipelineStep,
    SplitOff,
    Statistics,
    TrainingFacts,
    Trial,
    Unknown,
)
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import NO_FILES, Project
from fitdoctor.source.read import source_from_text

CAUSES = catalogue()


def step(operation: str, line: int, **arguments: object) -> PipelineStep:
    code = Code(Location("train.py", line, 1, line, 20), f"ds.{operation}()")
    return PipelineStep(operation, (), tuple((name, str(value)) for name, value in arguments.items()), code)


def found(cause: str, judge: str, *facts: object) -> list[Finding]:
    function = next(one.function for one in CAUSES[cause].judges if one.function.__name__ == judge)
    return list(function(*facts))


@pytest.mark.parametrize(
    ("form", "keras", "steps", "epochs", "said"),
    [
        ("dataset", 3, 20, 3, "the data ends after 10 batches"),
        ("dataset", 3, 3, 6, "the last epoch of each pass over the data has only 1"),
        ("dataset", 3, 5, 4, ""),
        ("dataset", 3, 10, 9, ""),
        ("dataset", 3, 3, 3, ""),
        ("dataset", 2, 5, 4, "training takes 20 batches, but the data ends after 10, and Keras 2 then stops"),
        ("dataset", 2, 10, 9, ""),
        ("pydataset", 3, 3, 6, "only 1"),
        ("pydataset", 2, 3, 6, ""),
    ],
)
def test_steps_are_counted_against_ten_batches(
    form: str, keras: int, steps: int, epochs: int, said: str
) -> None:
    data = DataFacts(form=form, batches=10, endless=False)
    fit = FitFacts(epochs=epochs, steps_per_epoch=steps)
    project = Project((Module(source_from_text("import keras", "train.py", keras)),))
    findings = found("FIT703", "from_counts", fit, data, project, Unknown("not seen"))
    assert bool(findings) is bool(said)
    assert all(said in finding.message for finding in findings)


@pytest.mark.parametrize(("steps", "asked"), [(None, True), (4, False)])
def test_a_generator_that_ends_needs_steps_only_where_the_call_has_none(
    steps: int | None, asked: bool
) -> None:
    data = DataFacts(form="generator", batches=4)
    fit = FitFacts(epochs=3, steps_per_epoch=steps)
    (finding,) = found("FIT703", "from_generator", fit, data, NO_FILES, Unknown("not seen"))
    assert ("steps_per_epoch" in finding.fixes[0].title) is asked


@pytest.mark.parametrize(("epochs", "steps", "exhausted"), [(5, None, True), (1, None, False), (5, 3, False)])
def test_a_generator_whose_first_epoch_ended_is_exhausted(
    epochs: int, steps: int | None, exhausted: bool
) -> None:
    training = TrainingFacts(losses=(0.5,) * epochs, batches=7)
    fit = FitFacts(epochs=epochs, steps_per_epoch=steps, has_validation=True)
    data = DataFacts(form="generator")
    findings = found("FIT703", "while_running", training, fit, data, NO_FILES, Unknown("not seen"))
    assert bool(findings) is exhausted


def split(**settings: object) -> list[Finding]:
    shuffle = step("shuffle", 2, buffer_size=9, **settings)
    training = DataFacts(form="dataset", pipeline=(step("from_tensor_slices", 1), shuffle, step("skip", 3)))
    validation = DataFacts(
        "validation", form="dataset", pipeline=(step("from_tensor_slices", 1), shuffle, step("take", 4))
    )
    return found("FIT713", "from_split", FitFacts(), training, validation)


def test_a_split_of_a_reshuffled_dataset_leaks() -> None:
    assert [finding.location.line for finding in split() if finding.location] == [2]


def test_a_split_of_one_fixed_order_is_right() -> None:
    assert split(reshuffle_each_iteration=False) == []


@pytest.mark.parametrize(
    ("rows", "labels", "overrides", "lines"),
    [
        (["shuffle"], ["shuffle"], (), [4]),
        (["shuffle"], ["map"], (), []),
        (["shuffle", "map"], ["shuffle"], ("train_step",), []),
    ],
)
def test_features_and_labels_are_not_shuffled_apart(
    rows: list[str], labels: list[str], overrides: tuple[str, ...], lines: list[int]
) -> None:
    branches = (["from_tensor_slices", *rows], ["from_tensor_slices", *labels], ["zip", "batch"])
    operations = [operation for branch in branches for operation in branch]
    pipeline = tuple(step(operation, line) for line, operation in enumerate(operations, 1))
    data = DataFacts(form="dataset", x=(ArrayFacts("x"),), y=(ArrayFacts("y"),), pipeline=pipeline)
    model = ModelFacts(losses=(LossFacts("mse"),), overrides=overrides)
    findings = found("FIT219", "from_zip", FitFacts(), data, model)
    assert [finding.location.line for finding in findings if finding.location] == lines


def test_a_shuffle_between_two_batches_is_right() -> None:
    pipeline = (step("from_tensor_slices", 1), step("batch", 2), step("shuffle", 3), step("batch", 4))
    data = DataFacts(form="dataset", pipeline=pipeline)
    assert found("FIT713", "from_order", FitFacts(), data, Unknown("no model"), NO_FILES) == []


@pytest.mark.parametrize(
    ("text", "severities"),
    [
        ("x = read()\n", [Severity.WARNING]),
        ("import numpy as np\norder = np.random.permutation(9)\n", []),
        ("rng = make()\nrng.shuffle(rows)\n", []),
        ("a, b = train_test_split(rows)\n", []),
        ("a, b = train_test_split(rows, shuffle=False)\n", [Severity.WARNING]),
        ("ds = ds.batch(2).shuffle(9)\n", [Severity.WARNING]),
        ("import keras\nx = keras.datasets.mnist.load_data()\n", [Severity.INFO]),
        (None, [Severity.INFO]),
    ],
)
def test_a_late_shuffle_matters_where_nothing_else_mixes_the_rows(
    text: str | None, severities: list[Severity]
) -> None:
    pipeline = (step("from_tensor_slices", 1), step("batch", 2), step("shuffle", 3, buffer_size=9))
    data = DataFacts(form="dataset", pipeline=pipeline)
    project = NO_FILES if text is None else Project((Module(source_from_text(text, "train.py")),))
    told = found("FIT713", "from_order", FitFacts(), data, Unknown("no model"), project)
    assert [finding.severity for finding in told] == severities


@pytest.mark.parametrize(
    ("kind", "severity"),
    [("builtin", Severity.WARNING), ("function", Severity.INFO), ("class", Severity.INFO)],
)
def test_a_loss_of_ones_own_may_need_the_rows_of_a_batch_together(kind: str, severity: Severity) -> None:
    pipeline = (step("from_tensor_slices", 1), step("batch", 2), step("shuffle", 3, buffer_size=9))
    data = DataFacts(form="dataset", pipeline=pipeline)
    model = ModelFacts(losses=(LossFacts("listwise", kind),))
    project = Project((Module(source_from_text("x = read()\n", "train.py")),))
    told = found("FIT713", "from_order", FitFacts(), data, model, project)
    assert [finding.severity for finding in told] == [severity]


def refusal(shape: str, **told: object) -> FailureFacts:
    return FailureFacts(
        "ValueError",
        f"Input 0 of layer 'dense' is incompatible with the layer: expected shape=(None, 6), found shape={shape}",
        called="fit",
        **told,  # type: ignore[arg-type]
    )


def validated(failure: FailureFacts) -> list[Finding]:
    passed = Trial(forward=Outcome(), loss=Outcome())
    training = DataFacts(x=(ArrayFacts("x", shape=(50, 6), dtype="float32"),), trial=passed)
    validation = DataFacts("validation", x=(ArrayFacts("x", shape=(20, 7), dtype="float32"),))
    return found("FIT712", "from_failure", failure, FitFacts(), training, validation, NO_FILES)


def test_a_failure_is_of_validation_only_where_its_shape_is() -> None:
    assert validated(refusal("(None, 7)"))
    assert not validated(refusal("(None, 9)"))
    assert not validated(refusal("(None, 6)"))
    assert not validated(FailureFacts("ValueError", "could not convert string to float: 'a'", called="fit"))


@pytest.mark.parametrize(("training", "told"), [("False", True), ("True", False)])
def test_saved_text_tells_validation_by_the_quoted_call(training: str, told: bool) -> None:
    failure = refusal("(None, 7)", layer_class="Sequential", arguments=(("training", training),))
    nothing = Unknown("no call")
    assert bool(found("FIT712", "from_failure", failure, nothing, nothing, nothing, NO_FILES)) is told


@pytest.mark.parametrize(("shared", "leak"), [(2, False), (10, False), (60, True)])
def test_a_few_shared_rows_are_no_leak(shared: int, leak: bool) -> None:
    validation = DataFacts("validation", samples=100, shared_rows=shared)
    facts = (FitFacts(), DataFacts(), validation, CAUSES)
    assert bool(found("FIT003", "from_rows", *facts)) is leak


def test_a_validation_split_beside_validation_data_is_accepted() -> None:
    fit = FitFacts(given=("x", "validation_split", "validation_data"), valued=("x", "validation_split"))
    assert found("FIT711", "from_call", fit, DataFacts(form="dataset"), ModelFacts()) == []


@pytest.mark.parametrize(
    ("form", "keras", "refused"),
    [("generator", 3, True), ("generator", 2, False), ("dataset", 3, False), ("pydataset", 3, False)],
)
def test_class_weight_is_refused_beside_a_generator_of_keras_3(form: str, keras: int, refused: bool) -> None:
    fit = FitFacts(given=("x", "class_weight"), valued=("x", "class_weight"))
    said = found("FIT711", "from_call", fit, DataFacts(form=form), ModelFacts(keras=keras))
    assert bool(said) is refused


def test_stages_that_helpers_make_are_in_the_wrong_order_where_the_helpers_are_called() -> None:
    """`return self.batched().shuffled().ds`, each of which makes one stage."""
    inner = Code(Location("data.py", 9, 16, 9, 30), "self.batched()", function="Pipeline.build")
    outer = Code(Location("data.py", 9, 16, 9, 41), "self.batched().shuffled()", function="Pipeline.build")
    batch = replace(step("batch", 3), callers=(inner,))
    shuffle = replace(step("shuffle", 6, buffer_size=9), callers=(outer,))
    batch, shuffle = (
        replace(each, code=replace(each.code, function=name))
        for each, name in ((batch, "Pipeline.batched"), (shuffle, "Pipeline.shuffled"))
        if isinstance(each.code, Code)
    )
    data = DataFacts(form="dataset", pipeline=(step("from_tensor_slices", 1), batch, shuffle))
    project = Project((Module(source_from_text("x = read()\n", "train.py")),))
    (finding,) = found("FIT713", "from_order", FitFacts(), data, Unknown("no model"), project)
    assert finding.location == outer.location
    (edit,) = finding.fixes[0].edits
    assert edit.replacement == "self.shuffled().batched()"


@pytest.mark.parametrize(
    ("ours", "theirs", "wrong"),
    [
        ("mean 0, deviation 1", "mean 0, deviation 1", True),
        ("0..1", "0..1", True),
        ("mean 0, deviation 1", "", False),
        ("", "0..1", False),
    ],
)
def test_validation_data_that_is_scaled_by_itself(ours: str, theirs: str, wrong: bool) -> None:
    parts = [
        DataFacts(
            role=role,
            form="arrays",
            x=(ArrayFacts(path, statistics=Statistics(60, True, -2.0, 2.0, 0.0, own_scale=scale)),),
            shared_rows=0,
        )
        for role, path, scale in (("training", "x", ours), ("validation", "validation_data[0]", theirs))
    ]
    told = found("FIT717", "from_data", ModelFacts(), FitFacts(), *parts, NO_FILES)
    assert bool(told) is wrong


def test_a_function_that_one_pipeline_maps_twice_is_removed_there() -> None:
    def mapped(line: int) -> PipelineStep:
        text = "ds.map(scale)"
        argument = Argument(
            "", "scale", Location("train.py", line, 13, line, 18), Location("train.py", line, 13, line, 18)
        )
        return PipelineStep(
            "map", code=Code(Location("train.py", line, 6, line, 19), text, arguments=(argument,))
        )

    def data(role: str, maps: tuple[PipelineStep, ...], most: float) -> DataFacts:
        numbers = Statistics(60, True, 0.0, most, most / 2)
        return DataFacts(role=role, form="dataset", x=(ArrayFacts("x", statistics=numbers),), pipeline=maps)

    ours = data("training", (mapped(3), mapped(8)), 0.003)
    theirs = data("validation", (mapped(3),), 1.0)
    (finding,) = found("FIT717", "from_data", ModelFacts(), FitFacts(), ours, theirs, NO_FILES)
    assert finding.location == Location("train.py", 8, 6, 8, 19)
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["ds"]


def test_padding_renames_the_method_alone():
    from fitdoctor.catalogue.knowledge.data.pipeline_steps import padded
    from fitdoctor.edits import apply_edits

    text = "ds = from_generator(\n    rows, spec((20,))\n).batch(8)\n"
    module = Module(source_from_text(text, "train.py"))
    call = next(site.node for site in module.method_calls("batch"))
    assert apply_edits(text, padded(module.code(call))) == text.replace(".batch", ".padded_batch")


@pytest.mark.parametrize(
    ("loss", "split", "words"),
    [
        ("sparse_categorical_crossentropy", SplitOff(20, ("3",), True), "`3` occurs only there"),
        ("binary_crossentropy", SplitOff(20, ("1",), False), "all are of class `1`"),
        ("mse", SplitOff(20, ("3",), True), ""),
        ("binary_crossentropy", None, ""),
    ],
)
def test_sorted_rows_need_an_order_before_the_split(loss: str, split: SplitOff | None, words: str) -> None:
    model = ModelFacts(losses=(LossFacts(loss),))
    told = found("FIT713", "from_sorted_rows", FitFacts(split_off=split), DataFacts(), model)
    assert bool(told) == bool(words)
    assert all(words in finding.message for finding in told)


@pytest.mark.parametrize(
    ("training", "validation", "prepared"),
    [
        ("tools.scaled(train)", "tools.raw(val)", "tools.scaled(val)"),
        ("read('train', 3, scaled=True)", "read('val', 3, scaled=False)", "read('val', 3, scaled=True)"),
        ("read('train', seed=1)", "read('val', seed=2)", ""),
        ("tools.scaled(train)", "others.raw(val)", ""),
        ("tools.scaled(train)", "tools.raw(image)", ""),
    ],
)
def test_validation_data_is_made_by_the_call_that_makes_the_training_data(
    training: str, validation: str, prepared: str
) -> None:
    text = f"def read(*given, **how):\n    return given\nx = {training}\nv = {validation}\n"
    module = Module(source_from_text(text, "train.py"))
    calls = [(module, statement.value) for statement in module.tree.body[1:]]  # type: ignore[attr-defined]
    assert _called_alike(*calls) == prepared
