"""`fitdoctor.scan` on what fit takes: arrays, frames, tf.data pipelines, generators, PyDatasets, TFRecords."""

from __future__ import annotations

import json
from typing import Any

import pytest

import fitdoctor
from fitdoctor.scan.pieces import CannotScan

pytestmark = pytest.mark.tf
np = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def keras() -> Any:
    return pytest.importorskip("keras")


def data(rows=2011, columns=3):
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype("float32")
    return x, np.arange(rows) % 10


def ids(report):
    return [finding.id for finding in report.diagnosis.findings]


def first(report, path="x"):
    return next(one for one in report.data[0].components if one.path == path)


def model_of(keras, units=10, loss="sparse_categorical_crossentropy"):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(units, activation="softmax")])
    model.compile("adam", loss)
    return model


# --- pipelines -----------------------------------------------------------------------------------------------------


def test_a_pipeline_is_counted_to_its_last_element(tf):
    x, y = data()
    x[1500, 1] = np.nan
    report = fitdoctor.scan(tf.data.Dataset.from_tensor_slices((x, y)).batch(32))
    assert ids(report) == ["FIT110"] and report.complete and not report.ok
    told = first(report)
    assert (told.rows, told.nan, report.data[0].elements) == (2011, 1, 63)
    assert told.first_nonfinite == "row 1500, in element 46, column 1"
    shapes = [(seen.what, seen.count, seen.first) for seen in told.shapes]
    assert shapes == [("(32, 3)", 62, 0), ("(27, 3)", 1, 62)]
    assert first(report, "y").distinct == 10


def test_elements_that_are_samples(tf):
    x, y = data()
    x[1500, 1] = np.inf
    report = fitdoctor.scan(tf.data.Dataset.from_tensor_slices((x, y)))
    told = first(report)
    assert (told.rows, told.inf, told.first_nonfinite) == (2011, 1, "row 1500, column 1")
    assert told.shapes[0].what == "(3,)" and first(report, "y").shapes[0].what == "()"


def test_single_strings(tf):
    words = tf.data.Dataset.from_tensor_slices((["a", "b", "c"], [0, 1, 2]))
    report = fitdoctor.scan(words)
    assert first(report).rows == 3 and first(report, "y").maximum == 2 and not report.problems


def test_structures_ragged_and_sparse(tf):
    ragged = tf.ragged.constant([[1.0, 2.0], [], [float("nan")]])
    element = {
        "r": ragged,
        "s": tf.sparse.from_dense([[0.0, 5.0], [0.0, 0.0], [7.0, 0.0]]),
        "t": ["a", "b", "c"],
    }
    report = fitdoctor.scan(tf.data.Dataset.from_tensor_slices(element).batch(2))
    by_path = {one.path: one for one in report.data[0].components}
    assert by_path["x['r']"].nan == 1 and by_path["x['r']"].rows == 3
    assert by_path["x['s']"].maximum == 7 and by_path["x['s']"].rows == 3
    assert by_path["x['t']"].rows == 3 and by_path["x['t']"].minimum is None


def test_an_element_that_raises_is_told_and_the_rest_is_read(tf):
    x, y = data(12_000)

    def checked(features, label):
        tf.debugging.assert_less(label, np.int64(99), message="a label of 99")
        return features, label

    y[10_000] = 99
    report = fitdoctor.scan(tf.data.Dataset.from_tensor_slices((x, y)).map(checked))
    assert [(problem.element, "a label of 99" in problem.what) for problem in report.problems] == [
        (10_000, True)
    ]
    assert first(report).rows == 11_999 and not report.ok
    assert "element 10000" in str(report)


def test_endless_data_asks_for_a_limit(tf, keras):
    x, y = data(64)
    endless = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).repeat()
    with pytest.raises(CannotScan, match="is infinite"):
        fitdoctor.scan(endless)
    report = fitdoctor.scan(endless, limit=20)
    assert report.data[0].elements == 20 and not report.complete

    def batches():
        while True:
            yield x, y

    with pytest.raises(CannotScan, match="is infinite"):
        fitdoctor.scan(batches)
    assert fitdoctor.scan(batches, limit=3).data[0].rows == 192


def test_a_pipeline_without_elements(tf):
    x, y = data(64)
    empty = tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda a, b: False).batch(8)
    report = fitdoctor.scan(empty)
    assert ids(report) == ["FIT705"] and report.data[0].rows == 0
    assert ids(fitdoctor.scan(lambda: iter(()))) in ([], ["FIT705"])


def test_shapes_that_change_are_told_with_the_first_element(tf):
    def batches():
        for i in range(50):
            yield np.zeros((4, 3 if i < 30 else 5), "float32" if i < 40 else "float64")

    told = first(fitdoctor.scan(batches))
    assert [(seen.what, seen.count, seen.first) for seen in told.shapes] == [
        ("(4, 3)", 30, 0),
        ("(4, 5)", 20, 30),
    ]
    assert [(seen.what, seen.first) for seen in told.types] == [("float32", 0), ("float64", 40)]
    assert told.rows == 200


def test_a_generator_that_raises_is_over(tf):
    def batches():
        for i in range(20):
            if i == 7:
                raise RuntimeError("no more")
            yield np.zeros((2, 3)), np.zeros(2)

    report = fitdoctor.scan(batches())
    assert [(one.element, one.fatal) for one in report.problems] == [(7, True)]
    assert report.data[0].rows == 14 and not report.complete


def test_a_pydataset_goes_on_after_an_item_that_raises(keras):
    class Images(keras.utils.PyDataset):
        def __len__(self):
            return 9

        def __getitem__(self, index):
            if index == 4:
                raise OSError("damaged")
            return np.full((2, 3), index, "float32"), np.zeros(2)

    report = fitdoctor.scan(Images())
    assert [problem.element for problem in report.problems] == [4]
    assert first(report).rows == 16 and first(report).maximum == 8


# --- arrays and frames ---------------------------------------------------------------------------------------------


def test_arrays_are_judged_by_the_model(keras):
    x, y = data()
    y[1234] = 10
    report = fitdoctor.scan(x, y, model=model_of(keras))
    assert ids(report) == ["FIT203"]
    finding = report.diagnosis.primary
    assert finding.location is not None and finding.location.path.endswith("test_pipelines.py")
    assert any("row 1,234" in one.claim for one in finding.evidence)
    assert all(not fix.edits for fix in finding.fixes)
    y[1234] = 0
    assert fitdoctor.scan(x, y, model=model_of(keras)).ok


def test_ids_are_judged_by_the_embedding(keras):
    tokens = np.random.default_rng(0).integers(0, 50, (3000, 5))
    tokens[2500, 3] = 50
    layers = keras.layers
    model = keras.Sequential([keras.Input((5,)), layers.Embedding(50, 4), layers.Flatten(), layers.Dense(1)])
    model.compile("adam", "mse")
    report = fitdoctor.scan(tokens, np.zeros((3000, 1)), model=model)
    assert ids(report) == ["FIT113"]
    assert any("row 2,500" in one.claim for one in report.diagnosis.primary.evidence)


def test_rows_of_validation_that_are_in_training():
    x, y = data()
    report = fitdoctor.scan(x, y, validation_data=(x[:500], y[:500]))
    assert ids(report) == ["FIT003"] and report.shared_rows == 500
    assert fitdoctor.scan(x[500:], y[500:], validation_data=(x[:500], y[:500])).ok


def test_rows_that_cannot_be_compared_are_said():
    dice = np.random.default_rng(0).integers(0, 3, (2000, 3))
    report = fitdoctor.scan(dice[:1500], validation_data=(dice[1500:],))
    assert report.shared_rows is None and report.ok and "naturally repeat" in " ".join(str(report).split())


def test_rows_are_compared_across_pipelines(tf):
    x, y = data()
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100).batch(16)
    val = tf.data.Dataset.from_tensor_slices((x[:300], y[:300])).batch(50)
    assert fitdoctor.scan(train, validation_data=val).shared_rows == 300


def test_a_frame_is_told_by_its_columns():
    pd = pytest.importorskip("pandas")
    x, y = data()
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 0], "city": ["x", "y"] * 1005 + [None]})
    frame.loc[777, "b"] = np.nan
    frame["n"] = pd.array([1, None] + [2] * 2009, dtype="Int64")
    report = fitdoctor.scan(frame, y)
    assert report.data[0].duplicate_columns == (("x['a']", "x['c']"),)
    assert first(report, "x['b']").first_nonfinite == "row 777"
    assert first(report, "x['city']").missing == 1 and first(report, "x['n']").nan == 1
    assert ids(report) == ["FIT110"] and "column `n`" in report.diagnosis.primary.message
    with pytest.raises(CannotScan, match="2011 rows"):
        fitdoctor.scan(frame, y[:5])


def test_lists_tensors_and_several_inputs(tf):
    report = fitdoctor.scan([[1.0, 2.0], [3.0, float("nan")]], [0, 1])
    assert first(report).nan == 1 and first(report, "y").maximum == 1
    report = fitdoctor.scan({"a": tf.ones((5, 2)), "b": np.zeros((5, 4), "uint8")})
    assert {one.path for one in report.data[0].components} == {"x['a']", "x['b']"}
    with pytest.raises(CannotScan):
        fitdoctor.scan(object())
    with pytest.raises(CannotScan, match="differ in length"):
        fitdoctor.scan([[1.0, 2.0], [3.0]])


def test_other_iterables_and_arrays_on_disk(tmp_path):
    class Loader:
        def __iter__(self):
            return iter([(np.zeros((4, 2)), np.ones(4))] * 3)

    assert fitdoctor.scan(Loader()).data[0].rows == 12
    assert fitdoctor.scan(zip(np.zeros((6, 3)), np.zeros(6), strict=True)).data[0].rows == 6
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["x"] = data()[0]
        assert first(fitdoctor.scan(file["x"])).rows == 2011


def test_paths_for_x_and_y(tmp_path):
    x, y = data()
    np.save(tmp_path / "features.npy", x)
    np.save(tmp_path / "truth.npy", y)
    report = fitdoctor.scan(tmp_path / "features.npy", tmp_path / "truth.npy", classes=9)
    assert ids(report) == ["FIT203"]
    with pytest.raises(CannotScan, match="y must be a file too"):
        fitdoctor.scan(tmp_path / "features.npy", y)


def test_scan_stays_the_function_whatever_is_imported():
    import fitdoctor.scan.pieces

    assert fitdoctor.scan(np.zeros((3, 2))).data[0].rows == 3
    report = fitdoctor.scan(np.zeros((3, 2)))
    assert json.loads(json.dumps(report.to_json()))["scan"]["data"][0]["rows"] == 3


# --- TFRecord ------------------------------------------------------------------------------------------------------


def write_records(tf, path, rows, missing=None):
    x, y = data(rows)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for i in range(rows):
            feature = {
                "v": tf.train.Feature(float_list=tf.train.FloatList(value=x[i])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[y[i]])),
            }
            if i == missing:
                del feature["v"]
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


def test_records_with_a_specification(tf, tmp_path):
    for part in range(2):
        write_records(tf, tmp_path / f"d-{part}.tfrecord", 700, missing=600 if part else None)
    spec = {"v": tf.io.FixedLenFeature([3], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}
    paths = [str(tmp_path / f"d-{part}.tfrecord") for part in range(2)]
    report = fitdoctor.scan(paths, features=spec)
    assert first(report, "x['v']").rows == 1399 and first(report, "y['label']").distinct == 10
    assert [problem.element for problem in report.problems] == [1300]
    assert fitdoctor.scan(paths, features=spec, limit=300).data[0].rows == 300
    (tmp_path / "f.json").write_text('{"v": {"dtype": "float32", "shape": [3]}, "label": "int64"}')
    assert fitdoctor.scan(paths[:1], features=str(tmp_path / "f.json")).ok


def test_records_that_are_cut_short_or_have_no_specification(tf, tmp_path):
    path = tmp_path / "a.tfrecord"
    write_records(tf, path, 600)
    with pytest.raises(CannotScan, match=r'"shape": \[3\]'):
        fitdoctor.scan(str(path))
    path.write_bytes(path.read_bytes()[:20_000])
    spec = {"v": tf.io.FixedLenFeature([3], tf.float32)}
    report = fitdoctor.scan(str(path), features=spec)
    assert 0 < report.data[0].rows < 600
    assert [problem.element for problem in report.problems] == [report.data[0].rows]
