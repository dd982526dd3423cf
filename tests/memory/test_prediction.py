"""The largest batch, the remedies, the quick estimate and the pictures, from plain data."""

from __future__ import annotations

import json

import pytest

from fitdoctor.diagnosis import Confidence, Invocation, Moment
from fitdoctor.engine import Case, diagnose
from fitdoctor.facts import (
    DataFacts,
    EnvironmentFacts,
    FailureFacts,
    FitFacts,
    LayerFacts,
    MemoryLimit,
    ModelFacts,
    Spec,
    Unknown,
)
from fitdoctor.memory.estimate import Estimate, estimate, flattened_excess
from fitdoctor.memory.pipeline import Feed
from fitdoctor.memory.prediction import Circumstances, largest_batch, predict
from fitdoctor.memory.step import Dim, Operation, Step, Tensor, Variable
from fitdoctor.report import RenderError
from fitdoctor.report.memory import in_words, render_memory

GB = 1 << 30


@pytest.mark.parametrize("room", [10, 1000, 12_345, 10_000_000])
def test_the_largest_batch_fits_and_a_larger_one_does_not(room):
    def need(batch: int) -> int:
        return 5 + 3 * batch

    found = largest_batch(need, room, 32)
    assert need(found) <= room
    assert need(found + max(1, found // 32)) > room


def test_not_even_one_sample_fits():
    assert largest_batch(lambda batch: 100 + batch, 50, 32) == 0


def test_what_does_not_grow_has_no_largest_batch():
    assert largest_batch(lambda _batch: 5, 50, 32) >= 1 << 20


def step() -> Step:
    kernel = Variable("kernel", "weights", 40_000_000, "dense")
    slots = Variable("moments", "optimizer", 80_000_000)
    activation = Tensor(4, (Dim(0, 1.0), Dim(250_000)))
    operations = (
        Operation("matmul", "MatMul", (1, 0), (2,), layer="dense"),
        Operation("again", "MatMul", (2,), (3,), stage="backward", layer="dense"),
    )
    tensors = (Tensor(0, ()), activation, activation, activation)
    return Step(operations, tensors, (1,), (), ((0, 0),), (kernel, slots), traced=2)


def test_the_answer_for_a_batch_that_does_not_fit():
    limit = MemoryLimit("this machine", GB, GB // 2)
    found = predict(step(), Circumstances("model", 1024, limit=limit))
    assert found.fits is False
    assert isinstance(found.largest_batch, int) and 50 < found.largest_batch < 300
    assert found.remedies[0].title == f"a batch size of {found.largest_batch:,}"
    assert all(remedy.peak < found.needed for remedy in found.remedies)
    assert {share.name: share.bytes for share in found.kinds}["weights"] >= 40_000_000
    assert found.layers[0].name == "dense"


def test_arrays_that_fit_copies_are_told():
    feed = Feed("arrays", (2 * GB,), 2 * GB, 100, copies=1)
    found = predict(
        step(), Circumstances("model", 8, feed, limit=MemoryLimit("this machine", 9 * GB, 9 * GB))
    )
    assert any("PyDataset" in remedy.title and remedy.peak < GB for remedy in found.remedies)


def test_every_format():
    found = predict(step(), Circumstances("a <b>", 64, limit=MemoryLimit("this machine", GB, GB)))
    text = render_memory(found)
    assert text.startswith("a batch size of 64 fits: training needs ")
    assert "  dense " in text and "largest batch size that fits" in text
    plain = json.loads(render_memory(found, "json"))
    assert plain["memory"]["fits"] is True and plain["memory"]["peak"] == found.peak
    with pytest.raises(RenderError, match="choose one of text, json, html"):
        render_memory(found, "pdf")


def test_the_page_has_a_picture_and_escapes():
    found = predict(step(), Circumstances("a <b>", 64, limit=MemoryLimit("this machine", GB, GB)))
    page = render_memory(found, "html")
    assert "<polygon" in page and "a &lt;b&gt;" in page and page.count("<script") == 1
    asked = Invocation("memory", "<b>.py", (), "2026-03-01T14:05:09Z", 3.0, (("keras", "3.15"),))
    page = render_memory(found, "html", invocation=asked)
    for text in ("<title>&lt;b&gt;.py: fits (fitdoctor)</title>", "2026-03-01 14:05:09 UTC", "3.15"):
        assert text in page


def test_sizes_in_words():
    assert [in_words(size) for size in (2048, 5 << 20, 3 * GB // 2, 200 * GB)] == [
        "2 KiB", "5.0 MiB", "1.5 GiB", "200 GiB",
    ]  # fmt: skip


# --- the quick estimate and its cause -----------------------------------------------------------------------------


def dense(name: str, inputs: int, units: int, fed_by: str, index: int) -> LayerFacts:
    weights = inputs * units + units
    return LayerFacts(
        name,
        "Dense",
        index,
        (("units", str(units)), ("dtype", "float32")),
        ((None, inputs),),
        ((None, units),),
        weights,
        weights,
        fed_by=(fed_by,),
    )


def model(**changes: object) -> ModelFacts:
    layers = (
        LayerFacts("input", "InputLayer", 0, (), ((None, 1000),), ((None, 1000),)),
        dense("one", 1000, 1000, "input", 1),
        dense("two", 1000, 1000, "one", 2),
        dense("three", 1000, 1000, "two", 3),
    )
    facts = {
        "layers": layers,
        "inputs": (Spec((None, 1000), "float32"),),
        "optimizer": "Adam",
        "parameters": 3_003_000,
        **changes,
    }
    return ModelFacts(**facts)


def test_what_is_surely_held():
    guess = estimate(model())
    assert isinstance(guess, Estimate)
    assert guess.weights == 4 * 3_003_000
    assert guess.optimizer == 2 * guess.weights
    # The inputs of three kernels: of the data and of two layers.
    assert guess.surely == 3 * 4000
    assert guess.least(100) < guess.peak(100)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "subclassed"},
        {"jit_compile": True},
        {"overrides": ("train_step",)},
        {"strategy": "MirroredStrategy"},
    ],
)
def test_activations_are_not_sure_where_others_decide(changes):
    guess = estimate(model(**changes))
    assert isinstance(guess, Estimate) and guess.surely == 0


def test_an_open_dimension_is_named():
    layer = LayerFacts("words", "Embedding", 1, (), ((None, None),), ((None, None, 8),))
    assert isinstance(estimate(model(layers=(layer,))), Unknown)


def test_what_pooling_would_save():
    flatten = LayerFacts("flatten", "Flatten", 0, (), ((None, 10, 10, 8),), ((None, 800),))
    last = dense("last", 800, 100, "flatten", 1)
    assert flattened_excess(model(layers=(flatten, last))) == 4 * 792 * 100


def judged(batch: int, *limits: MemoryLimit, **changes: object) -> list:
    facts = {
        "ModelFacts": (model(**changes),),
        "FitFacts": (FitFacts(),),
        "DataFacts": (DataFacts(batch_size=batch),),
        "EnvironmentFacts": (EnvironmentFacts(memory=limits),),
    }
    return list(diagnose([Case(Moment.BEFORE_FIT, facts)], select=("FIT801",)).findings)


def test_only_what_surely_does_not_fit_is_an_error():
    machine = MemoryLimit("this machine", GB, GB // 100)
    assert judged(80_000, machine) == []  # tight, but perhaps it swaps
    (finding,) = judged(100_000, machine)
    assert finding.confidence is Confidence.CERTAIN
    assert "a batch of 100,000 needs at least 1.2 GiB" in finding.message
    assert "use a batch size of at most " in finding.fixes[0].title


def test_a_gpu_is_only_likely_to_be_used():
    gpu, machine = MemoryLimit("GPU:0", GB, GB), MemoryLimit("this machine", 64 * GB, 60 * GB)
    (finding,) = judged(100_000, gpu, machine)
    assert finding.confidence is Confidence.LIKELY


def test_weights_that_do_not_fit():
    (finding,) = judged(1, MemoryLimit("the container", 20 << 20, 20 << 20))
    assert "the model with its optimizer needs" in finding.message
    assert "not even a batch of 1" in finding.fixes[0].title


def test_the_limit_of_the_address_space_counts_what_is_left():
    assert judged(20_000, MemoryLimit("RLIMIT_AS", 4 * GB, 100 << 20)) == []
    assert len(judged(60_000, MemoryLimit("RLIMIT_AS", 4 * GB, 100 << 20))) == 1


def after(failure: FailureFacts, batch: int = 64, free: int = GB, **changes: object) -> list:
    facts = {
        "FailureFacts": (failure,),
        "ModelFacts": (model(**changes),),
        "FitFacts": (FitFacts(),),
        "DataFacts": (DataFacts(batch_size=batch, samples=batch),),
        "EnvironmentFacts": (EnvironmentFacts(memory=(MemoryLimit("RLIMIT_AS", 4 * GB, free),)),),
    }
    return list(diagnose([Case(Moment.AFTER_FAILURE, facts)], select=("FIT806",)).findings)


@pytest.mark.parametrize(
    ("shape", "words", "note"),
    [
        ("64,1000", "an activation of layer `one`", "a smaller batch helps"),
        ("1000,1000", "a weight of layer `one`", "does not help"),
        ("7,8,9", "a tensor of shape (7, 8, 9)", ""),
    ],
)
def test_whose_tensor_it_was(shape, words, note):
    message = f"OOM when allocating tensor with shape[{shape}] and type float on /device:GPU:0 by allocator GPU_0_bfc"
    (finding,) = after(FailureFacts("ResourceExhaustedError", message))
    assert words in finding.message
    assert note in " ".join(finding.notes)


def test_a_crash_is_put_down_to_memory_only_when_it_was_tight():
    crash = FailureFacts("SIGSEGV", "the program was ended by SIGSEGV; native code crashed")
    assert after(crash) == []
    (finding,) = after(crash, batch=100_000, free=GB // 4)
    assert finding.confidence is Confidence.LIKELY and finding.fixes[0].title == "use a smaller batch"


def test_a_killed_program_tells_its_largest_part():
    (finding,) = after(
        FailureFacts("SIGKILL", "the program was ended by SIGKILL; somebody killed it"), batch=1
    )
    assert "make the model smaller" in finding.fixes[0].title
