"""The project stands alone: no text of it names a place of the machine it was written on."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "docs", "benchmarks", "scripts")
TEXTS = (".py", ".md", ".txt", ".json", ".toml", ".ipynb")

# Whoever records a failure has a project and an environment of his own: these stand for all of them.
NEUTRAL = ("/home/user/", "/usr/lib/python", "/tmp/__autograph_generated_file")
FRAME = re.compile(r'File \\?"(/[^"\\]*)')


def texts() -> list[Path]:
    written = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]
    assert len(written) > 1_000
    return [*written, *ROOT.glob("*.md")]


def test_no_file_names_the_folder_that_the_project_lies_in():
    here = f"{ROOT}/"
    found = [str(path.relative_to(ROOT)) for path in texts() if here in path.read_text("utf-8", "replace")]
    assert not found


def test_recorded_failures_name_only_neutral_folders():
    corpus, catalogue = ROOT / "tests/corpus", ROOT / "src/fitdoctor/catalogue"
    recorded = [
        *corpus.glob("tracebacks/*.txt"),
        *corpus.glob("manifest/*.json"),
        *catalogue.glob("*/*/broken*.txt"),
    ]
    named = {path.name: FRAME.findall(path.read_text("utf-8", "replace")) for path in recorded}
    assert sum(map(len, named.values())) > 1_000
    strange = {
        name: place for name, places in named.items() for place in places if not place.startswith(NEUTRAL)
    }
    assert not strange, "record them with scripts/record_failure.py"
