"""What the playground loads: Pyodide, and this package with the packages that it needs, as one archive."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYODIDE = Path(__file__).parent / "node_modules/pyodide"
NEEDED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PACKAGES = ROOT / "build/playground/packages.zip"


def available() -> bool:
    """Whether npm has installed Pyodide."""
    return all((PYODIDE / name).exists() for name in NEEDED)


def served() -> dict[str, Path]:
    """Return the files of the playground by their path on the site; without Pyodide only its page works."""
    files = {f"app/{path.name}": path for path in sorted((ROOT / "docs/playground").glob("*.*"))}
    if available():
        files |= {f"app/pyodide/{name}": PYODIDE / name for name in NEEDED}
        files["app/packages.zip"] = write_packages()
    return files


def write_packages() -> Path:
    """Write the archive of packages; the same sources give the same bytes."""
    PACKAGES.parent.mkdir(parents=True, exist_ok=True)
    # Tests in other processes read the archive while the site is built: never show them half of it.
    unfinished = PACKAGES.with_suffix(f".{os.getpid()}")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(packaged()):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    unfinished.replace(PACKAGES)
    return PACKAGES


def packaged() -> Iterator[tuple[str, Path]]:
    """Yield name and path of every file of this package and of the packages it requires."""
    source = ROOT / "src"
    for path in source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(source).as_posix(), path
    for name in requirements("fitdoctor"):
        for file in distribution(name).files or ():
            if "__pycache__" not in file.parts and ".." not in file.parts:
                yield file.as_posix(), Path(str(file.locate()))


def requirements(name: str, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the names of all distributions that one requires without extras, directly or not."""
    for line in distribution(name).requires or ():
        if "extra ==" in line:
            continue
        required = re.split(r"[\s<>=!~;\[(]", line, maxsplit=1)[0]
        if required not in known:
            try:
                known = requirements(required, (*known, required))
            except PackageNotFoundError:  # required on another Python or system only
                known = tuple(each for each in known if each != required)
    return known
