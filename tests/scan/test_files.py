"""`fitdoctor scan` on files, whole and broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fitdoctor
from fitdoctor.cli import main

np = pytest.importorskip("numpy")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def scan(capsys, folder):
    def run(*words):
        status = main(["scan", *map(str, words)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.fixture
def scanned(scan):
    """The JSON of a scan."""

    def run(*words):
        _status, out, _err = scan(*words, "--output-format", "json")
        return json.loads(out)

    return run


def data(rows=5000, columns=4):
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype("float32")
    return x, np.arange(rows) % 10


def ids(report):
    return [finding["id"] for finding in report["findings"]]


def component(report, path, which=0):
    return next(one for one in report["scan"]["data"][which]["components"] if one["path"] == path)


# --- .npy and .npz -------------------------------------------------------------------------------------------------


def test_arrays_in_files_are_told_and_judged(scanned, folder):
    x, y = data()
    x[777, 2] = np.nan
    x[4000, 1] = np.inf
    y[1234] = 10
    np.save("x.npy", x)
    np.save("y.npy", y)
    report = scanned("x.npy", "y.npy", "--classes", 10)
    assert ids(report) == ["FIT203", "FIT110"]
    found = component(report, "x")
    assert (found["rows"], found["nan"], found["inf"]) == (5000, 1, 1)
    assert found["first_nonfinite"] == "row 777, column 2"
    assert found["nonfinite_columns"] == [["1", 1], ["2", 1]]
    finite = x[np.isfinite(x)]
    assert found["minimum"] == finite.min() and found["maximum"] == finite.max()
    assert found["mean"] == pytest.approx(finite.mean(dtype="float64"), abs=1e-6)
    assert dict(map(tuple, component(report, "y")["labels"]))[10.0] == 1
    assert report["scan"]["data"][0]["complete"] is True


@pytest.mark.parametrize(
    ("classes", "labels", "help"),
    [
        (10, range(1, 11), "subtract 1 from the labels"),
        (3, range(10), "allow 10 classes"),
        (10, range(-1, 10), "remove or relabel the rows with label -1"),
    ],
)
def test_a_number_of_classes_is_quoted_as_it_was_given(scan, folder, classes, labels, help):
    np.save("y.npy", np.array([*labels] * 5))
    _status, out, _err = scan("y.npy", "--classes", classes)
    assert f"but `--classes {classes}` allows classes 0 to {classes - 1}" in out
    assert help in out
    assert not {"model", "unit", "units", "layer"} & set(out.replace("`", " ").split())
    message = fitdoctor.scan("y.npy", classes=classes).diagnosis.findings[0].message
    assert f"but `classes={classes}` allows classes 0 to" in message


def test_without_fault_there_is_nothing_to_say(scan, folder):
    x, y = data()
    np.save("x.npy", x)
    np.save("y.npy", y)
    status, out, _err = scan("x.npy", "y.npy", "--classes", 10)
    assert status == 0 and "no problems found" in out


def test_labels_that_are_not_finite(scanned, scan, folder):
    np.save("labels.npy", np.array([0.5, np.nan, 2.0]))
    assert ids(scanned("labels.npy")) == ["FIT206"]
    assert scan("labels.npy")[0] == 0
    assert scan("labels.npy", "--fail-on", "warning")[0] == 1
    assert scan("labels.npy", "--fail-on", "warning", "--ignore", "FIT206")[0] == 0
    assert scan("labels.npy", "--fail-on", "warning", "--select", "FIT1")[0] == 0
    assert scan("labels.npy", "--fail-on", "warning", "--select", "non-finite-labels")[0] == 1


@pytest.mark.parametrize("dtype", ["float64", "int32", "uint8", "bool", "float16", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_orders(scanned, folder, dtype, order):
    x = np.asarray(np.arange(600).reshape(200, 3) % 100, dtype=dtype, order=order)
    np.save("a.npy", x)
    found = component(scanned("a.npy"), "a")
    assert (found["rows"], found["minimum"], found["maximum"]) == (200, x.min(), x.max())
    assert found["mean"] == pytest.approx(x.astype("float64").mean())


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_with_training_and_validation(scanned, folder, save):
    x, y = data()
    save("d.npz", x_train=x, y_train=y, x_test=x[:1000], y_test=y[:1000])
    report = scanned("d.npz")
    assert ids(report) == ["FIT003"]
    assert [one["role"] for one in report["scan"]["data"]] == ["training", "validation"]
    assert report["scan"]["shared_rows"] == 1000


def test_a_validation_file_of_its_own(scanned, folder):
    x, _y = data()
    np.save("x.npy", x[:4000])
    np.save("val.npy", x[4000:])
    report = scanned("x.npy", "--validation", "val.npy")
    assert ids(report) == [] and report["scan"]["shared_rows"] == 0


def test_validation_in_several_files(scanned, folder):
    x, y = data()
    for name, value in (("x", x), ("y", y), ("x_val", x[:100]), ("y_val", y[:100])):
        np.save(f"{name}.npy", value)
    words = ("--validation", "x_val.npy", "--validation", "y_val.npy")
    report = scanned("x.npy", "y.npy", *words)
    assert report["scan"]["shared_rows"] == 100
    assert {one["part"] for one in report["scan"]["data"][1]["components"]} == {"x", "y"}
    together = scanned("x.npy", "y.npy", "x_val.npy", "y_val.npy")
    assert together["scan"]["shared_rows"] == 100


def test_a_weight_in_kilograms_is_a_feature(scanned, folder):
    Path("t.csv").write_text("weight,label\n70,0\n,1\n80,0\n", "utf-8")
    report = scanned("t.csv")
    assert component(report, "weight")["part"] == "x" and ids(report) == ["FIT110"]


def test_constant_and_equal_columns(scanned, folder):
    x, _y = data()
    x[:, 1] = 3
    x[:, 3] = x[:, 0]
    np.save("x.npy", x)
    found = component(scanned("x.npy"), "x")
    assert found["constant_columns"] == ["1"] and found["duplicate_columns"] == [["0", "3"]]


def test_a_limit_is_kept_and_told(scanned, folder):
    np.save("x.npy", data()[0])
    told = scanned("x.npy", "--limit", 100)["scan"]["data"][0]
    assert (told["rows"], told["complete"]) == (100, False)


def test_no_rows(scanned, folder):
    np.save("x.npy", np.zeros((0, 4), "float32"))
    assert ids(scanned("x.npy")) == ["FIT114"]


# --- .csv ----------------------------------------------------------------------------------------------------------


def test_a_table_with_text_and_gaps(scanned, folder):
    lines = [f"{i % 90},{i / 7},{'Paris' if i % 2 else 'Rome'},{i % 3}" for i in range(3000)]
    lines[1234] = ",1.5,Rome,0"
    lines[2000] = "5,inf,Rio,0"
    lines[2001] = "5,1,,0"
    Path("t.csv").write_text("age,height,city,label\n" + "\n".join(lines) + "\n", "utf-8")
    report = scanned("t.csv")
    assert ids(report) == ["FIT110"]
    assert "row 1,234, column `age`" in report["findings"][0]["message"]
    age = component(report, "age")
    assert (age["rows"], age["nan"], age["first_nonfinite"]) == (3000, 1, "row 1234 (t.csv, line 1236)")
    assert component(report, "height")["inf"] == 1
    assert component(report, "city")["missing"] == 1
    assert component(report, "label")["part"] == "y" and component(report, "label")["distinct"] == 3


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", ["0", "1", "2"]),
        ("age,2019,2020\n1,2,3\n", ["age", "2019", "2020"]),
        (",a,b\n0,1,2\n", ["", "a", "b"]),
        ("a,a,a\n1,2,3\n", ["a", "a.1", "a.2"]),
        ("city,name\nParis,x\n", ["city", "name"]),
        ("\ufeffa;b\r\n1;2", ["a", "b"]),
    ],
)
def test_the_first_line_is_taken_for_what_it_is(scanned, folder, text, names):
    Path("t.csv").write_text(text, "utf-8")
    assert [one["path"] for one in scanned("t.csv")["scan"]["data"][0]["components"]] == names


def test_lines_are_told_as_exactly_as_they_are_known(scanned, folder):
    Path("t.csv").write_text("a,b\n1,2\n\n3,\n", "utf-8")
    assert component(scanned("t.csv"), "b")["first_nonfinite"] == "row 1 (t.csv, near line 3)"


def test_columns_that_are_equal_or_constant(scanned, folder):
    lines = [f"{i},{i * 2},{i},7" for i in range(500)]
    Path("t.csv").write_text("a;b;c;d\n".replace(";", ",") + "\n".join(lines), "utf-8")
    report = scanned("t.csv")
    assert report["scan"]["data"][0]["duplicate_columns"] == [["a", "c"]]
    assert component(report, "d")["minimum"] == component(report, "d")["maximum"] == 7


def test_other_columns_in_the_middle_are_told_with_their_line(scan, folder):
    lines = [f"{i},{i},{i}" for i in range(1000)]
    lines[500] = "1,2"
    lines[600] = "1,2,3,4"
    lines[700] = "a,b,c"
    Path("t.csv").write_text("a,b,c\n" + "\n".join(lines) + "\n", "utf-8")
    status, out, _err = scan("t.csv")
    assert status == 2
    assert "t.csv, line 502: 2 fields, expected 3" in out
    assert "t.csv, line 602: 4 fields, expected 3" in out
    assert "column `a`, line 702: text in a numeric column" in out
    assert "1,000 rows" in out


def test_several_files_are_one_table(scanned, scan, folder):
    for part in range(3):
        rows = "\n".join(f"{i},{'' if (part, i) == (1, 5) else i}" for i in range(100))
        Path(f"part-{part}.csv").write_text("a,b\n" + rows + "\n", "utf-8")
    report = scanned("part-*.csv")
    assert component(report, "b")["rows"] == 300
    assert component(report, "b")["first_nonfinite"] == "row 105 (part-1.csv, line 7)"
    Path("part-2.csv").write_text("b,a\n1000,2\n", "utf-8")
    report = scanned("part-*.csv")
    assert component(report, "a")["maximum"] == 99 and component(report, "b")["maximum"] == 1000
    Path("part-2.csv").write_text("a,z\n1,2\n", "utf-8")
    status, out, _err = scan("part-*.csv")
    assert status == 2 and "`part-2.csv` has different columns" in out and "200 rows" in out


def test_lines_of_another_width_are_told_together(scan, folder):
    rows = [f"{i},{i}\n" for i in range(50)]
    rows[20:30] = [f"{i}\n" for i in range(10)]
    Path("t.csv").write_text("a,b\n" + "".join(rows), "utf-8")
    status, out, _err = scan("t.csv")
    assert status == 2 and "lines 22 to 31: 1 field, expected 2" in out and out.count("problem") == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_and_files_without_a_header(scanned, folder, delimiter):
    Path("t.csv").write_text("".join(f"{i}{delimiter}{i / 2}\r\n" for i in range(50)), "utf-8")
    report = scanned("t.csv")
    assert component(report, "1")["maximum"] == 24.5 and component(report, "0")["rows"] == 50


def test_the_blocks_of_a_large_table_join(scanned, folder, monkeypatch):
    monkeypatch.setattr("fitdoctor.scan.csv_source.BLOCK", 300)
    monkeypatch.setattr("fitdoctor.scan.csv_source.FOR_PANDAS", 100)
    lines = [f'{i},"a ""quoted""\nfield",{"nan" if i == 321 else i}' for i in range(400)]
    Path("t.csv").write_text("i,text,v\n" + "\n".join(lines) + "\n", "utf-8")
    report = scanned("t.csv")
    assert component(report, "i")["rows"] == 400 and component(report, "i")["maximum"] == 399
    assert component(report, "v")["nan"] == 1


def test_a_table_of_which_rows_are_in_both(scanned, folder):
    lines = [f"{i},{i * 3 % 97}.5,x" for i in range(400)]
    for name, part in (("train", lines[:350]), ("test", lines[300:])):
        Path(f"{name}.csv").write_text("a,b,c\n" + "\n".join(part) + "\n", "utf-8")
    report = scanned("train.csv", "--validation", "test.csv")
    assert report["scan"]["shared_rows"] == 50 and ids(report) == ["FIT003"]


# --- what cannot be read -------------------------------------------------------------------------------------------


def broken(folder, kind):
    x, y = data()
    if kind == "cut .npy":
        np.save("a.npy", x)
        Path("a.npy").write_bytes(Path("a.npy").read_bytes()[:40_000])
        return "a.npy"
    if kind == "cut .npz":
        np.savez_compressed("a.npz", x=x, y=y)
        Path("a.npz").write_bytes(Path("a.npz").read_bytes()[:40_000])
        return "a.npz"
    if kind == "pickled":
        np.save("a.npy", np.array([{}, []], object))
        return "a.npy"
    text = {
        "other format .npy": ("a.npy", b"hello, world" * 20),
        "other format .npz": ("a.npz", b"hello, world" * 20),
        "binary .csv": ("a.csv", b"\0\1\2" * 100),
        "empty": ("a.csv", b""),
        "blank": ("a.csv", b"\n \n"),
        "unknown kind": ("a.xlsx", b"PK"),
    }
    name, content = text[kind]
    Path(name).write_bytes(content)
    return name


@pytest.mark.parametrize(
    "kind",
    ["cut .npz", "pickled", "other format .npy", "other format .npz", "binary .csv", "empty", "blank",
     "unknown kind"],
)  # fmt: skip
def test_what_cannot_be_read_is_one_clear_line(scan, folder, kind):
    name = broken(folder, kind)
    status, out, err = scan(name)
    assert status == 2 and out == "" and err.startswith("fitdoctor: `a.") and err.count("\n") == 1


def test_a_file_that_was_cut_short_is_read_as_far_as_it_goes(scan, folder):
    status, out, _err = scan(broken(folder, "cut .npy"))
    assert status == 2 and "is truncated: it contains 2,492 of its 5,000 rows" in out and "2,492 rows" in out


def test_a_damaged_member_does_not_hide_the_others(scan, folder):
    np.savez("a.npz", x=data()[0], y=data()[1])
    raw = bytearray(Path("a.npz").read_bytes())
    raw[20_000] ^= 255
    Path("a.npz").write_bytes(raw)
    status, out, _err = scan("a.npz")
    assert status == 2 and "`x` is damaged" in out and "y: labels" in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise KeyError('no')", "importing `bad` raised KeyError: 'no'"),
        ("def data(): return 1 / 0", "calling `bad:data` raised ZeroDivisionError"),
        ("def data(path): return 1", "cannot be called without arguments"),
        ("def data(:", "importing `bad` raised SyntaxError"),
        ("data = None", "`bad:data` is None"),
        ("date = 3", "did you mean `date`?"),
        ("data = 3", "`bad:data` is a `int`, which `fit` does not accept as data"),
    ],
)
def test_modules_that_give_no_data(scan, folder, text, said, monkeypatch):
    monkeypatch.delitem(sys.modules, "bad", raising=False)
    monkeypatch.syspath_prepend(str(folder))
    Path("bad.py").write_text(text + "\n", "utf-8")
    status, _out, err = scan("bad:data")
    assert status == 2 and said in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.csv"], "there is no file `missing.csv`"),
        (["*.parquet"], "no file matches"),
        (["."], "is a folder"),
        (["nomodule:x"], "there is no module `nomodule`"),
        (["x.npy", "t.csv"], "files of different types"),
        (["x.npy", "--limit", "0"], "`--limit` must be 1 or more"),
        (["x.npy", "--select", "FIT999"], "FIT999"),
        (["t.csv", "--labels", "z"], "has no column `z`"),
        (["x.npy", "--service", "grpc://localhost:1", "--local-workers", "2"], "cannot be combined"),
    ],
)
def test_wishes_that_cannot_be(scan, folder, words, said):
    np.save("x.npy", np.zeros(3))
    Path("t.csv").write_text("a,b\n1,2\n", "utf-8")
    status, _out, err = scan(*words)
    assert status == 2 and said in err


def test_parquet_needs_pyarrow_or_is_read(scan, folder):
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        Path("a.parquet").write_bytes(b"PAR1")
        status, _out, err = scan("a.parquet")
        assert status == 2 and "pyarrow" in err
        return
    table = pyarrow.table(
        {"a": [1.0, None, 3.0], "city": ["x", None, "y"], "l": [[1, 2], [], [3]], "label": [0, 1, 0]}
    )
    parquet.write_table(table, "a.parquet")
    status, out, _err = scan("a.parquet")
    assert status == 0 and "row 1 (a.parquet)" in out and "problem" not in out
    table = pyarrow.table({"a": np.arange(9000.0), "label": np.arange(9000) % 2})
    parquet.write_table(table, "b.parquet", row_group_size=3000, write_page_checksum=True)
    raw = bytearray(Path("b.parquet").read_bytes())
    raw[1000:1100] = bytes(100)
    Path("b.parquet").write_bytes(raw)
    status, out, _err = scan("b.parquet")
    assert status == 2 and "row group 0: 3000 rows cannot be read" in out and "6,000 rows" in out


# --- how it is told ------------------------------------------------------------------------------------------------


def test_every_format_can_be_had(scan, folder):
    x, _y = data()
    x[5, 1] = np.nan
    np.save("x.npy", x)
    for name in ("text", "concise", "json", "github", "sarif"):
        status, out, _err = scan("x.npy", "--output-format", name)
        assert status == 0 and "FIT110" in out
    assert scan("x.npy", "--output-file", "report.txt")[1] == ""
    assert "row 5, column 1" in Path("report.txt").read_text("utf-8")
    assert scan("x.npy", "--output-format", "json", "--output-file", "scan.json")[0] == 0
    assert main(["report", "scan.json"]) in (0, 1)


def test_no_value_of_the_data_is_told(scan, folder):
    Path("t.csv").write_text("name,age\n" + "".join(f"secret{i},{i}\n" for i in range(50)), "utf-8")
    for name in ("text", "json"):
        assert "secret" not in "".join(map(str, scan("t.csv", "--output-format", name)))


def test_control_c_gives_what_is_known_so_far(folder):
    Path("slow.py").write_text(
        "import time\nimport numpy as np\ndef batches():\n    for i in range(10_000):\n"
        "        if i == 9: open('begun', 'w').close()\n        time.sleep(0.02)\n"
        "        yield np.full((4, 3), i, 'float32'), np.zeros(4)\n",
        "utf-8",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "fitdoctor", "scan", "slow:batches", "--output-format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    for _wait in range(600):
        if os.path.exists("begun"):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    told = json.loads(out)["scan"]["data"][0]
    assert told["interrupted"] and not told["complete"]
    assert 0 < told["rows"] < 40_000 and told["components"][0]["rows"] == told["rows"]


def test_memory_stays_bounded(folder):
    """A file of 300 MB in a process that may not hold it."""
    path = folder / "big.npy"
    header = np.lib.format.header_data_from_array_1_0(np.zeros((0, 1000), "float32"))
    header["shape"] = (75_000, 1000)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 300_000_000)
    program = (
        "import resource, sys\nimport numpy\nfrom fitdoctor.cli import main\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "status = main(['scan', 'big.npy'])\n"
        "print('KB', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "75,000 rows" in done.stdout
    assert int(done.stdout.split("KB")[1]) < 150_000


def test_every_parser_reads_the_same(scanned, folder, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [
        f"{value:.6g},{'' if number % 7 == 3 else number},{('na', 'x y', '', 'NaN')[number % 4]},{number % 3}"
        for number, value in enumerate(rng.standard_normal(500))
    ]
    Path("t.csv").write_text("a,b,c,label\n" + "\n".join(lines) + "\n", "utf-8")
    Path("n.csv").write_text(
        "a,b\n" + "\n".join(f"{v:.6g},{v:.3g}" for v in rng.standard_normal(500)), "utf-8"
    )
    told = []
    for pays in (lambda _size: True, lambda _size: False):
        monkeypatch.setattr("fitdoctor.scan.csv_source._pandas_pays", pays)
        told.append([scanned(name)["scan"]["data"][0]["components"] for name in ("t.csv", "n.csv")])
    monkeypatch.setattr("fitdoctor.scan.csv_source._is_regular", lambda *_args: False)
    told.append([scanned(name)["scan"]["data"][0]["components"] for name in ("t.csv", "n.csv")])
    for other in told[1:]:
        for one, same in zip([c for t in told[0] for c in t], [c for t in other for c in t], strict=True):
            for name in ("rows", "nan", "missing", "minimum", "maximum", "types", "labels"):
                assert one[name] == same[name], (one["path"], name)
