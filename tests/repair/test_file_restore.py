"""While repairs are tried, the files that the program writes over, moves or deletes come back as they were."""

from __future__ import annotations

import os
import signal
import time

import pytest

from fitdoctor.repair.file_restore import FileRestore
from fitdoctor.runner.kept_files import Keeper
from fitdoctor.runner.session import NOW
from tests.repair.test_fix_command import fixed, started

HARMFUL = """
import os, shutil, tempfile
import h5py

with open("history.csv", "w") as file:
    file.write("epoch,loss\\n0,9.9\\n")
with open("training.log", "a") as file:
    file.write("another line\\n")
with h5py.File("weights.h5", "w") as file:
    file["kernel"] = [0.0]
os.remove("best.npy")
os.replace("data.bin", "moved.bin")
shutil.rmtree("runs")
os.makedirs("runs")
descriptor, name = tempfile.mkstemp(dir=".")
os.close(descriptor)
os.remove(name)
"""


def contents(folder) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "cache" not in path.parts
    }


def test_what_was_there_before_is_there_after(tmp_path):
    (tmp_path / "train.py").write_text(HARMFUL)
    (tmp_path / "runs").mkdir()
    for name in ("history.csv", "training.log", "weights.h5", "best.npy", "data.bin", "runs/events.txt"):
        (tmp_path / name).write_text(f"weeks of work: {name}\n")
    (tmp_path / "weights.h5").chmod(0o640)
    before = contents(tmp_path)
    stamp = os.stat(tmp_path / "weights.h5")
    status, _out, err = fixed(tmp_path, "train.py")
    assert status == 0 and "they are restored" in err and "and 1 more" in err
    after = contents(tmp_path)
    assert after.pop("moved.bin"), "what the program makes stays"
    assert after == before
    again = os.stat(tmp_path / "weights.h5")
    assert (again.st_mtime_ns, again.st_mode) == (stamp.st_mtime_ns, stamp.st_mode)


def test_ctrl_c_puts_back_what_the_program_wrote_over(tmp_path):
    (tmp_path / "results.csv").write_text("weeks of work\n")
    (tmp_path / "a.py").write_text(
        "import time\nopen('results.csv', 'w').close()\nopen('ready', 'w').close()\ntime.sleep(60)\n"
    )
    process = started(tmp_path, "a.py")
    for _wait in range(300):
        if (tmp_path / "ready").exists():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert (tmp_path / "results.csv").read_text() == "weeks of work\n"


def test_a_file_too_large_to_keep_is_not_written_over(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"x" * 100)
    (tmp_path / "session").mkdir()
    time.sleep(0.05)
    keeper = Keeper(tmp_path / "session", most=99)
    for _twice in range(2):
        with pytest.raises(OSError, match="too large"):
            keeper.hook("open", (str(path), "w", os.O_WRONLY | os.O_TRUNC))
    keeper.hook("open", (str(path), "r", os.O_RDONLY))
    keeper.hook("open", (str(path), "a", os.O_WRONLY | os.O_APPEND))
    keeper.hook("open", (3, "w", os.O_WRONLY))
    keeper.hook("open", (str(path), "r+", os.O_RDWR))
    with FileRestore([]) as restore:
        restore.put_back(tmp_path / "session")
        assert not restore.lost
        path.write_bytes(b"y" * 100)
        restore.put_back(tmp_path / "session")
    assert list(restore.lost) == [str(path)] and not restore.restored
    keeper.hook("open", (str(tmp_path / "new"), "w", os.O_WRONLY | os.O_CREAT))


def test_what_is_made_while_training_goes_again(tmp_path):
    project, session = tmp_path / "project", tmp_path / "session"
    for folder in (project, session):
        folder.mkdir()
    keeper = Keeper(session)
    made = ("data.csv", "runs", "runs/log.csv", "../elsewhere.csv")
    with FileRestore([str(project)]) as restore:
        for name in made:
            path = project / name
            if name == "runs":
                (session / NOW).touch()  # a call of Keras is under way
                keeper.hook("os.mkdir", (str(path), 0o777, -1))
                path.mkdir()
                continue
            keeper.hook("open", (str(path), "w", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
            path.write_text("new")
        (project / "weights.h5").write_text("by HDF5, past Python")
        restore.put_back(session)
        assert [os.path.basename(path) for path in restore.left()] == ["weights.h5"]
    assert sorted(os.listdir(project)) == ["data.csv", "weights.h5"] and (tmp_path / "elsewhere.csv").exists()
    assert [os.path.basename(path) for path in restore.removed] == ["log.csv"]


def test_what_is_moved_and_has_no_copy_stays_where_it_is(tmp_path):
    work, session = tmp_path / "work", tmp_path / "session"
    (work / "runs").mkdir(parents=True)
    (work / "runs" / "loss.csv").write_text("0.5")
    (work / "data.csv").write_text("1,2")
    (work / "latest").symlink_to("data.csv")
    session.mkdir()
    (session / NOW).write_text("")
    time.sleep(0.02)
    keeper = Keeper(session)
    for old, new in (("runs", "older"), ("latest", "previous"), ("data.csv", "used.csv")):
        keeper.hook("os.rename", (str(work / old), str(work / new), -1, -1))
        os.rename(work / old, work / new)
    with FileRestore([str(work)]) as restore:
        restore.put_back(session)
    assert (work / "older" / "loss.csv").read_text() == "0.5"
    assert (work / "previous").is_symlink()
    assert (work / "data.csv").read_text() == "1,2" and not (work / "used.csv").exists()


def test_what_could_not_be_kept_is_told_when_it_is_changed(tmp_path):
    (tmp_path / "kept.h5").write_text("old")
    (tmp_path / "large.h5").write_text("old and large")
    (tmp_path / "session").mkdir()
    with FileRestore([str(tmp_path)], most=5) as restore:
        restore.put_back(tmp_path / "session")
        assert not restore.restored and not restore.lost
        for name in ("kept.h5", "large.h5"):
            (tmp_path / name).write_text("new")
        restore.put_back(tmp_path / "session")
    assert [os.path.basename(path) for path in restore.restored] == ["kept.h5"]
    assert [os.path.basename(path) for path in restore.lost] == ["large.h5"]
    assert (tmp_path / "kept.h5").read_text() == "old" and sorted(os.listdir(tmp_path)) == [
        "kept.h5",
        "large.h5",
        "session",
    ]
