"""The project stands alone: no text of it names a place of the machine it was written on."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A folder that only a developer's machine has. What TensorFlow itself writes into /tmp stays as users see it.
OURS = re.compile(rb"/work/[a-z]|\.\./shared\b|/tmp/(?:proj|fd|lead)/")


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode:
        pytest.skip("not a clone: which files belong to the project is not known")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_no_file_names_a_place_of_the_machine_it_was_written_on():
    here = Path(__file__)
    found = [
        (str(path.relative_to(ROOT)), match[0].decode())
        for path in tracked_files()
        if path != here and path.is_file()
        for match in [OURS.search(path.read_bytes())]
        if match
    ]
    assert not found


def test_recorded_failures_name_only_neutral_folders():
    homes = re.compile(r'File "(/(?!home/user/|usr/lib/python|tmp/__autograph_generated_file)[^"]*)"')
    recorded = sorted((ROOT / "tests/corpus/tracebacks").glob("*.txt"))
    assert recorded
    found = {path.name: match[1] for path in recorded for match in [homes.search(path.read_text())] if match}
    assert not found, "record them with scripts/record_failure.py"
