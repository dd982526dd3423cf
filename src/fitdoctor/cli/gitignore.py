"""Which files a project's `.gitignore` files exclude, by git's rules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pathspec import GitIgnoreSpec

from fitdoctor.records import dataclass


@dataclass(frozen=True)
class Rules:
    """The rules of one `.gitignore`, and of those in the folders above it."""

    folder: Path
    spec: GitIgnoreSpec
    above: Rules | None = None

    def ignores(self, path: Path, is_folder: bool) -> bool:
        """Whether a path below the folder is ignored; the last rule of the nearest file decides."""
        layer: Rules | None = self
        while layer is not None:
            below = path.relative_to(layer.folder).as_posix() + "/" * is_folder
            ignored = layer.spec.check_file(below).include
            if ignored is not None:
                return ignored
            layer = layer.above
        return False


def rules_above(folder: Path) -> Rules | None:
    """Return the rules that apply to a folder from the folders above it, up to the top of its repository."""
    chain = []
    for candidate in (folder, *folder.parents):
        chain.append(candidate)
        if (candidate / ".git").exists():
            break
    else:
        return None
    rules: Rules | None = None
    for candidate in reversed(chain[1:]):
        rules = rules_of(candidate, rules)
    return rules


def rules_of(folder: Path, above: Rules | None) -> Rules | None:
    """Return the rules of a folder's `.gitignore` on top of those above it."""
    try:
        text = (folder / ".gitignore").read_text("utf-8", errors="replace")
    except OSError:
        return above
    return Rules(folder, parsed(text.splitlines()), above)


def parsed(lines: Iterable[str]) -> GitIgnoreSpec:
    """Return the patterns of these lines, without the invalid ones."""
    specs = []
    for line in lines:
        try:
            specs.append(GitIgnoreSpec.from_lines([line]))
        except ValueError:
            continue
    return GitIgnoreSpec([pattern for spec in specs for pattern in spec.patterns])
