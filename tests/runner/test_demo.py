"""The demo finds what it is there to show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner.programs import environment
from tests.support.fork_server import ForkServer


@pytest.mark.tf
def test_the_demo_is_diagnosed_at_its_line_with_its_fix(tmp_path: Path, server: ForkServer) -> None:
    ended = server.command(tmp_path, "demo", environment=environment(tmp_path))
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "$ fitdoctor run train.py\n"
    assert "error[FIT203]" in ended.stderr
    assert "--> train.py:15" in ended.stderr
    assert "+     grades = np.argsort(np.argsort(taste)) * GRADES // count" in ended.stderr
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "cache"])
