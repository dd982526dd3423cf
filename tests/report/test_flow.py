"""The picture of the data flow: edges point down, large models fold, and the break is red and open."""

from __future__ import annotations

import itertools
import re
import time

import pytest

from fitdoctor.diagnosis import Location, Way, WayStep
from fitdoctor.report.flow import flow
from fitdoctor.report.layered import laid_out


def layer(name, *after, kind="Dense", note="", block=()):
    place = Location("train.py", 4)
    return WayStep(
        "model", f"{kind} {name}", "(None, 8)", "float32", "GPU:0", place, note, name, after, block
    )


def way(*layers):
    first, last = layers[0].name, layers[-1].name
    return Way(
        "fit",
        Location("train.py", 9),
        (
            WayStep("pipeline", ".batch() [0]", "(None, 8)", "float32", "host", name="p", after=()),
            WayStep("pipeline", ".batch() [1]", "(None,)", "int64", "host", name="p", after=()),
            WayStep("data", "x", "(None, 8)", "float32", "host", name="training x", after=("p",)),
            WayStep("data", "y", "(None,)", "int64", "host", name="training y", after=("p",)),
            WayStep("model", "model input", "(None, 8)", "float32", "GPU:0", name="model input", after=("training x",)),
            *(each if each.name != first else layer(first, "model input", note=each.note) for each in layers),
            WayStep("model", "model output", "(None, 8)", name="model output", after=(last,)),
            WayStep("loss", "loss mse", name="loss 0", after=("model output", "training y")),
        ),
    )  # fmt: skip


def residual(blocks, prefix="stage"):
    """Blocks of two layers with a way around them."""
    layers, last = [layer("stem")], "stem"
    for number in range(blocks):
        name = f"{prefix}{number // 3}_block{number % 3}"
        layers += [layer(f"{name}_a", last), layer(f"{name}_b", f"{name}_a")]
        layers.append(layer(f"{name}_add", last, f"{name}_b", kind="Add"))
        last = f"{name}_add"
    return layers


def texts(page):
    return re.findall(r"<text[^>]*>(.*?)</text>", page)


# --- layout -------------------------------------------------------------------------------------------------------


def test_every_edge_points_down_and_nothing_overlaps():
    names = [f"n{number}" for number in range(14)]
    edges = [("n0", "n1"), ("n0", "n2"), ("n1", "n3"), ("n2", "n3"), ("n0", "n9")]
    edges += [(names[number], names[number + 1]) for number in range(3, 13)]
    sizes = {name: (80.0 + 10 * number, 30.0) for number, name in enumerate(names)}
    layout = laid_out(sizes, edges)
    boxes = {
        name: (x - sizes[name][0] / 2, y, x + sizes[name][0] / 2, y + 30)
        for name, (x, y) in layout.places.items()
    }
    for first, last, points in layout.edges:
        assert boxes[first][3] < boxes[last][1]
        assert [y for _x, y in points] == sorted(y for _x, y in points)
    for one in names:
        for other in names:
            if one < other:
                left, top, right, bottom = boxes[one]
                far_left, far_top, far_right, far_bottom = boxes[other]
                assert right <= far_left or far_right <= left or bottom <= far_top or far_bottom <= top
        assert boxes[one][0] >= -0.01 and boxes[one][2] <= layout.width + 0.01


def test_a_long_edge_passes_beside_the_nodes_between():
    sizes = dict.fromkeys("abc", (100.0, 30.0))
    layout = laid_out(sizes, [("a", "b"), ("b", "c"), ("a", "c")])
    [bends] = [points[1:-1] for first, last, points in layout.edges if (first, last) == ("a", "c")]
    left, right = layout.places["b"][0] - 50, layout.places["b"][0] + 50
    assert bends and all(x < left or x > right for x, _y in bends)


def test_edges_that_need_not_cross_do_not():
    sizes = dict.fromkeys(("a", "b", "c", "d"), (10.0, 10.0))
    layout = laid_out(sizes, [("a", "d"), ("b", "c")])
    places = {name: at[0] for name, at in layout.places.items()}
    assert (places["a"] < places["b"]) == (places["d"] < places["c"])


# --- the picture --------------------------------------------------------------------------------------------------


def test_a_small_model_is_drawn_whole():
    page = flow(way(layer("a"), layer("b", "a"), layer("c", "a"), layer("add", "b", "c", kind="Add")))
    assert "fd-block" not in page
    shown = texts(page)
    for title in ("x", "y", ".batch()", "Dense a", "Add add", "model output", "loss mse", "train.py:4"):
        assert title in shown
    assert "[0] (None, 8) float32" in shown and "[1] (None,) int64" in shown
    assert shown.count("y") == 2  # once as data, once where it meets the predictions


def test_the_device_is_shown_where_it_changes():
    shown = texts(flow(way(layer("a"), layer("b", "a"))))
    assert shown.count("on GPU:0") == 1 and "on host" in shown


def test_the_break_is_red_with_the_edge_that_leads_to_it():
    page = flow(way(layer("a"), layer("b", "a", note="rejects (None, 3)")))
    assert page.count('class="fd-break"/>') == 1
    assert "rejects (None, 3)" in texts(page)
    assert page.count("fd-edge fd-limit") == 1


def test_hundreds_of_layers_fold_into_blocks_that_open():
    layers = residual(48)
    page = flow(way(*layers))
    outer = page.split('<details class="fd-other"')[0]
    assert outer.count('<details class="fd-block"') >= 16
    assert " open>" not in outer
    assert "<strong>stage0</strong>" in outer and "9 layers" in outer and "Dense × 6, Add × 3" in outer
    for each in layers:
        assert each.name in page  # folded, not left out


def test_names_without_blocks_are_cut_evenly():
    chain = [layer("dense0"), *(layer(f"dense{n}", f"dense{n - 1}") for n in range(1, 300))]
    page = flow(way(*chain))
    assert "<strong>dense0 to dense" in page
    assert all(f"Dense dense{number}<" in page for number in range(300))


def test_a_break_in_a_block_opens_the_blocks_around_it():
    layers = residual(48)
    layers[100] = layer(layers[100].name, *layers[100].after, note="rejects it")
    page = flow(way(*layers)).split('<details class="fd-other"')[0]
    opened = re.findall(r'<details class="fd-block fd-break" open><summary><strong>(.*?)</strong>', page)
    assert opened and all(layers[100].name.startswith(title) for title in opened)


def test_a_model_in_a_model_is_a_block():
    inner = [layer("net/in", block=("net",)), layer("net/out", "net/in", block=("net",))]
    page = flow(way(layer("a"), layer("net", "a", kind="Functional"), *inner, layer("z", "net")))
    assert "<strong>Functional net</strong>" in page and "2 layers" in page
    assert "Dense net/in" in texts(page)


def test_layers_whose_order_is_not_known_have_no_arrows():
    page = flow(Way("fit", None, (layer("a"), layer("b"))))
    assert "order of their creation" in page and "fd-arrow" not in page


@pytest.mark.parametrize(
    "after", [("b",), ("missing",), ("a", "a")], ids=["a circle", "an unknown name", "twice"]
)
def test_an_odd_graph_is_drawn_all_the_same(after):
    assert "Dense a" in flow(way(layer("start"), layer("a", "start", *after), layer("b", "a")))


def test_long_names_are_whole():
    name = "a_very_long_name_of_a_layer_" * 6 + "x" * 90
    joined = "".join(texts(flow(way(layer("a"), layer(name, "a")))))
    assert name in joined.replace("Dense ", "")


def test_a_title_breaks_between_words_where_it_can():
    shown = texts(flow(way(layer("a"), layer("stage1_block1_bn1", "a", kind="BatchNormalization"))))
    assert {"BatchNormalization", "stage1_block1_bn1"} <= set(shown)


def test_what_an_older_fitdoctor_saved_is_drawn():
    steps = [replace_names(each) for each in way(layer("a"), layer("b", "a", note="rejects it")).steps]
    page = flow(Way("fit", None, tuple(steps)))
    assert "Dense b" in texts(page) and "rejects it" in texts(page)
    assert page.count("fd-edge") > 4


def replace_names(step):
    from fitdoctor.records import replace

    return replace(step, name="", after=(), block=())


def test_a_thousand_layers_take_no_time():
    began = time.process_time()
    flow(way(*residual(340)))
    assert time.process_time() - began < 5


def test_a_block_of_mixed_names_is_named_by_its_ends():
    """A span with skips around it is one block, whatever its layers are called."""
    names = ["a", *(f"conv_{n}" if n % 2 else f"pool_{n}" for n in range(22)), "join", "end"]
    chain = [layer("a"), *(layer(name, before) for before, name in itertools.pairwise(names))]
    chain[-2] = layer("join", names[1], names[-3])
    assert "<strong>conv_1 to join</strong>" in flow(way(*chain))


def test_every_output_leaves_the_layers():
    steps = list(way(layer("a"), layer("b", "a"), layer("c", "a")).steps)
    [at] = [index for index, step in enumerate(steps) if step.name == "model output"]
    steps[at] = WayStep("model", "model output", name="model output", after=("b", "c"))
    page = flow(Way("fit", None, tuple(steps)))
    [layers] = [svg for svg in re.findall(r"<svg.*?</svg>", page) if "Dense b" in svg]
    assert layers.count('class="fd-edge"/>') == 2  # without a head: they join in the middle below
