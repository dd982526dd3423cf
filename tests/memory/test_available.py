"""The bounds on memory, read from files as the kernel writes them."""

from __future__ import annotations

from pathlib import Path

from fitdoctor.memory.available import limits

GB = 1 << 30


def machine(root: Path, total: int, free: int, swap: int = 0) -> None:
    (root / "proc/self").mkdir(parents=True)
    lines = f"MemTotal: {total >> 10} kB\nMemAvailable: {free >> 10} kB\nSwapTotal: {swap >> 10} kB\nSwapFree: 0 kB\n"
    (root / "proc/meminfo").write_text(lines)


def test_the_machine_alone(tmp_path):
    machine(tmp_path, 16 * GB, 10 * GB, swap=2 * GB)
    (limit,) = [each for each in limits(tmp_path) if each.name == "this machine"]
    assert (limit.total, limit.free) == (18 * GB, 10 * GB)


def test_a_container_is_tighter(tmp_path):
    machine(tmp_path, 64 * GB, 40 * GB)
    group = tmp_path / "sys/fs/cgroup/job"
    group.mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    (group / "memory.max").write_text(f"{4 * GB}\n")
    (group / "memory.current").write_text(f"{3 * GB}\n")
    (group / "memory.stat").write_text(f"anon {GB}\ninactive_file {2 * GB}\n")
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    first = limits(tmp_path)[0]
    assert (first.name, first.total, first.free) == ("the container", 4 * GB, 3 * GB)


def test_a_container_of_the_first_version(tmp_path):
    machine(tmp_path, 64 * GB, 40 * GB)
    group = tmp_path / "sys/fs/cgroup/memory"
    group.mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("5:memory:/\n4:cpu:/x\n")
    (group / "memory.limit_in_bytes").write_text(f"{2 * GB}\n")
    (group / "memory.usage_in_bytes").write_text(f"{GB}\n")
    assert limits(tmp_path)[0].free == GB


def test_no_limit_is_no_limit(tmp_path):
    machine(tmp_path, 8 * GB, 4 * GB)
    group = tmp_path / "sys/fs/cgroup/memory"
    group.mkdir(parents=True)
    (group / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert [each.name for each in limits(tmp_path) if each.name != "RLIMIT_AS"] == ["this machine"]


def test_nothing_is_known_where_nothing_is_told(tmp_path):
    assert [each for each in limits(tmp_path) if each.name != "RLIMIT_AS"] == []
