"""The user's files as one project: classes, functions and values that one file imports from another."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from fitdoctor.facts import SourceFacts
from fitdoctor.source import resolution
from fitdoctor.source.assignments import assignment_of
from fitdoctor.source.callees import CallGraph, all_calls, called_only
from fitdoctor.source.conditions import guarded_imports
from fitdoctor.source.index import FUNCTIONS
from fitdoctor.source.interpreter.library import LIBRARIES
from fitdoctor.source.module import ClassInfo, FunctionInfo, Module
from fitdoctor.source.read import SourceError, read_source

if TYPE_CHECKING:
    from pathlib import Path

    from fitdoctor.source.traced.tracing import Tracing

SETTINGS = (".json", ".yaml", ".yml", ".toml")
"""The endings of files with settings that programs read."""
_MAX_REEXPORTS = 10
_MAX_FILES = 400
"""The most files that `around` follows imports into."""


class Project:
    """Files that import each other. It takes ownership of its modules: create it before querying them."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self.modules = tuple(modules)
        self.settings: dict[str, str] = {}
        """The text of every settings file that the interpreter has read, by path."""
        self._by_path: dict[str, Module] = {}
        self._by_name: dict[str, list[Module]] = {}
        self._folders: dict[Module, str] = {}
        self._imports: dict[tuple[Module, str], Module | None] = {}
        self._library_names: dict[tuple[Module, str], str] = {}
        self._bindings: dict[tuple[Module, str], tuple[Module, ast.AST, list[str]] | None] = {}
        for module in self.modules:
            path = _absolute(module.path)
            self._by_path[path] = module
            self._folders[module] = os.path.dirname(path)
            self._by_name.setdefault(_parts(path)[-1], []).append(module)
            module.join(self)

    def __bool__(self) -> bool:
        """Whether any file was read."""
        return bool(self.modules)

    @property
    def texts(self) -> list[str]:
        """The text of every file, with the settings that were read: a loss may be named there only."""
        return [*(module.text for module in self.modules), *self.settings.values()]

    @classmethod
    def around(
        cls, path: Path | str | SourceFacts, keras: int = 3, others: Iterable[Path | str] = ()
    ) -> Project:
        """Return a script and the files next to it that it imports, directly or indirectly, skipping unreadable ones.

        Args:
            path: the script, or the cells of a notebook.
            keras: the major version of Keras to check for.
            others: files that are known to belong to it.

        Raises:
            SourceError: the script itself cannot be read.
        """
        first = Module(path if isinstance(path, SourceFacts) else read_source(path, keras))
        return cls(with_imported((first, *read_project(others, keras).modules), keras))

    def module_at(self, path: Path | str) -> Module | None:
        """The module of a file."""
        return self._by_path.get(_absolute(os.fspath(path)))

    def class_named(self, name: str) -> ClassInfo | None:
        """Return the only class of that name; None if there is none or there are several."""
        wanted = name.rpartition(".")[2]
        found = [info for module in self.modules for info in module.classes if info.name == wanted]
        return found[0] if len(found) == 1 else None

    @cached_property
    def classes(self) -> tuple[ClassInfo, ...]:
        """Every class of every file."""
        return tuple(info for module in self.modules for info in module.classes)

    @cached_property
    def callers(self) -> CallGraph:
        """The calls of each function that is only ever called, never passed around by name."""
        return called_only(list(self.modules), self.calls_of)

    @cached_property
    def calls_of(self) -> CallGraph:
        """The calls of each function, including functions that are also passed around by name."""
        return all_calls(list(self.modules))

    @cached_property
    def tracing(self) -> dict[ast.AST, Tracing]:
        """How each function comes to be traced by TensorFlow."""
        from fitdoctor.source.traced.tracing import traced_functions

        return traced_functions(*self.modules)

    @cached_property
    def _used(self) -> dict[Module, frozenset[Module]]:
        """The files that each file imports."""
        return {module: frozenset(_imports(self, module)) for module in self.modules}

    def programs_of(self, module: Module) -> tuple[Module, ...]:
        """Return the files that run together with a file: those that import it, directly or not, and all they import."""
        found = {module}
        while more := {user for user, used in self._used.items() if used & found} - found:
            found |= more
        while more := {used for user in found for used in self._used.get(user, ())} - found:
            found |= more
        return tuple(one for one in self.modules if one in found)

    @cached_property
    def _registering(self) -> frozenset[Module]:
        """The files that enter something into an object of another file when they are imported, or import such a file."""
        found = {module for module in self.modules if _registers(self, module)}
        importers = {module: set(_imports(self, module)) for module in self.modules} if found else {}
        while True:
            more = {module for module, used in importers.items() if used & found} - found
            if not more:
                return frozenset(found)
            found |= more

    def registering_in(self, module: Module, statement: ast.Import | ast.ImportFrom) -> list[Module]:
        """Return the files that a statement imports for what running them enters elsewhere: `@register("small")`."""
        if not self._registering:
            return []
        return [other for other in _imported_by(self, module, statement) if other in self._registering]

    @cached_property
    def fallbacks(self) -> frozenset[Module]:
        """The files that are imported only in branches that check for a version or a feature, and what only they import.

        A test imports what it tests without such a check. So may a file of definitions that nothing imports: it belongs
        to what it imports.
        """
        guarded: set[Module] = set()
        plain: dict[Module, set[Module]] = {}
        for module in self.modules:
            checked = guarded_imports(module)
            for statement in _import_statements(module):
                imported = _imported_by(self, module, statement)
                if statement in checked:
                    guarded.update(imported)
                elif not os.path.basename(module.path).startswith("test_"):
                    for other in imported:
                        plain.setdefault(other, set()).add(module)
        found = set(guarded)
        if found:
            imported_somewhere = guarded | plain.keys()
            unused = {one for one in self.modules if one not in imported_somewhere and _only_defines(one)}
            while further := {other for other in plain if other not in found and plain[other] & found}:
                found |= further
            while outside := {other for other in found if plain.get(other, set()) - found - unused}:
                found -= outside
            found |= {one for other in found for one in plain.get(other, set()) & unused}
        return frozenset(found)

    @cached_property
    def set_names(self) -> frozenset[str]:
        """The names of libraries that the program itself sets: `keras.backend.dtype = …`."""
        return frozenset(
            name
            for module in self.modules
            for nodes in module.attributes.values()
            for node in nodes
            if isinstance(node.ctx, ast.Store) and not _is_own(node) and (name := module.resolve(node))
        )

    # --- names across files ---------------------------------------------------------------------------------------

    def imported_module(self, module: Module, dotted: str) -> Module | None:
        """Return the file of the project that a dotted name refers to when `module` imports it."""
        if not dotted.startswith(".") and dotted.rpartition(".")[2] not in self._by_name:
            return None
        asked = module, dotted
        if asked not in self._imports:
            self._imports[asked] = self._find_imported(module, dotted)
        return self._imports[asked]

    def _find_imported(self, module: Module, dotted: str) -> Module | None:
        level = len(dotted) - len(dotted.lstrip("."))
        parts = [part for part in dotted.split(".") if part]
        base = self._folder(module)
        if level:
            for _ in range(level - 1):
                base = os.path.dirname(base)
            return self._file(base, parts)
        ends = [
            other
            for other in (self._by_name.get(parts[-1], ()) if parts else ())
            if _parts(_absolute(other.path))[-len(parts) :] == parts
        ]
        # The folder of the script is on Python's path; a package's root is one of the folders above.
        while ends:
            found = self._file(base, parts)
            if found is not None and found is not module:
                return found
            above = os.path.dirname(base)
            if above == base:
                break
            base = above
        return ends[0] if len(ends) == 1 and ends[0] is not module else None

    def _folder(self, module: Module) -> str:
        folder = self._folders.get(module)
        return os.path.dirname(_absolute(module.path)) if folder is None else folder

    def _file(self, folder: str, parts: list[str]) -> Module | None:
        stem = os.path.join(folder, *parts)
        return self._by_path.get(stem + ".py") or self._by_path.get(os.path.join(stem, "__init__.py"))

    def _split(self, module: Module, dotted: str) -> tuple[Module, list[str]] | None:
        """Split a dotted name into its longest prefix that is a file, and the rest."""
        level = len(dotted) - len(dotted.lstrip("."))
        parts = dotted[level:].split(".") if dotted[level:] else []
        for count in range(len(parts), 0 if not level else -1, -1):
            found = self.imported_module(module, "." * level + ".".join(parts[:count]))
            if found is not None:
                return found, parts[count:]
        return None

    def binding(self, module: Module, dotted: str) -> tuple[Module, ast.AST, list[str]] | None:
        """Return the node that binds a dotted name where it is defined, through re-exports, and the rest of the name."""
        asked = module, dotted
        if asked not in self._bindings:
            self._bindings[asked] = self._find_binding(module, dotted)
        return self._bindings[asked]

    def _find_binding(self, module: Module, dotted: str) -> tuple[Module, ast.AST, list[str]] | None:
        for _ in range(_MAX_REEXPORTS):
            place = self._split(module, dotted)
            if place is None or not place[1]:
                return None
            module, (name, *rest) = place
            bound = module.index.module.bindings.get(name)
            if not bound:
                star = next((star for star in module.stars if self._exports(module, star, name)), None)
                if star is None:
                    return None
                dotted = f"{star}.{'.'.join([name, *rest])}"
                continue
            if not isinstance(bound[-1], ast.alias):
                return module, bound[-1], rest
            dotted = ".".join([module.imported(bound[-1]), *rest])
        return None

    def _exports(self, module: Module, star: str, name: str) -> bool:
        source = self.imported_module(module, star)
        return source is not None and name in source.index.module.bindings

    def library_name(self, module: Module, dotted: str) -> str:
        """Return the library name of something that another file re-exports: `common.layers` -> `keras.layers`."""
        asked = module, dotted
        known = self._library_names.get(asked)
        if known is None:
            known = self._library_names[asked] = self._find_library_name(module, dotted)
        return known

    def _find_library_name(self, module: Module, dotted: str) -> str:
        current = dotted
        for _ in range(_MAX_REEXPORTS):
            place = self._split(module, current)
            if place is None:
                return current if not current.startswith(".") else dotted
            if not place[1]:
                break
            source, (name, *rest) = place
            bound = source.index.module.bindings.get(name)
            if not bound or not isinstance(bound[-1], ast.alias):
                break
            module, current = source, ".".join([resolution.imported(source, bound[-1]), *rest])
        return dotted

    def exported(self, module: Module, star: str, name: str) -> str:
        """Return the dotted name of something that a star import provides; "" if it does not."""
        return f"{star}.{name}" if self._exports(module, star, name) else ""

    def definition(self, module: Module, dotted: str) -> ClassInfo | FunctionInfo | None:
        """Return the class or function of another file that a dotted name refers to."""
        found = self.binding(module, dotted) if dotted else None
        if found is None:
            return None
        source, node, rest = found
        if isinstance(node, ast.ClassDef):
            info = source.class_info(node)
            return info if not rest else source.method(info, rest[0]) if len(rest) == 1 else None
        if isinstance(node, FUNCTIONS) and not rest:
            return source.function(node)
        return None

    def global_value(self, module: Module, dotted: str) -> tuple[Module, ast.expr, bool] | None:
        """Return the value of another file's global, and whether it is assigned only once."""
        found = self.binding(module, dotted) if dotted else None
        if found is None or found[2]:
            return None
        source, node, _ = found
        assignment = assignment_of(source, node)
        if assignment.value is None or assignment.path or assignment.how != "=":
            return None
        bindings = source.index.module.bindings.get(getattr(node, "id", ""), [])
        return source, assignment.value, len(bindings) == 1


NO_FILES = Project(())
"""What a judge gets if the source was not read."""


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def programs(project: Project) -> list[list[Module]]:
    """The files of a project by program: those that import each other, directly or not, stay together."""
    group: dict[Module, list[Module]] = {module: [module] for module in project.modules}
    for module in project.modules:
        for other in _imports(project, module):
            one, two = group[module], group[other]
            if one is not two:
                one += two
                group.update(dict.fromkeys(two, one))
    order = {module: at for at, module in enumerate(project.modules)}
    distinct = {id(members): members for members in group.values()}
    return [sorted(members, key=lambda module: order[module]) for members in distinct.values()]


def _imports(project: Project, module: Module) -> Iterable[Module]:
    """The files of the project that a file imports."""
    for statement in _import_statements(module):
        yield from _imported_by(project, module, statement)


def _import_statements(module: Module) -> list[ast.Import | ast.ImportFrom]:
    return [*module.nodes(ast.Import), *module.nodes(ast.ImportFrom)]


def _only_defines(module: Module) -> bool:
    """Whether a file is no program: it defines functions or classes, and does nothing else but import and assign."""
    if not any(isinstance(each, (ast.FunctionDef, ast.ClassDef)) for each in module.tree.body):
        return False
    silent = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    return all(
        isinstance(each, silent) or isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        for each in module.tree.body
    )


def _imported_by(
    project: Project, module: Module, statement: ast.Import | ast.ImportFrom
) -> Iterable[Module]:
    base = "." * statement.level + (statement.module or "") if isinstance(statement, ast.ImportFrom) else ""
    for alias in statement.names:
        joint = "." if base and not base.endswith(".") else ""
        parts = f"{base}{joint}{alias.name}".split(".") if alias.name != "*" else base.split(".")
        # `import package.module` runs the package's own file as well
        for count in range(1, len(parts) + 1):
            found = project.imported_module(module, ".".join(parts[:count]))
            if found is not None:
                yield found


def _registers(project: Project, module: Module) -> bool:
    """Whether a top-level definition has a decorator from another file, or a statement stores in such a file's object."""
    for statement in module.tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for decorator in statement.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if project.binding(module, module.dotted(called)) is not None:
                    return True
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Subscript) and project.binding(module, module.dotted(target.value)):
                    return True
    return False


def read_project(paths: Iterable[Path | str | SourceFacts], keras: int = 3) -> Project:
    """Read files as one project, skipping those that are not valid Python."""
    modules = []
    for path in paths:
        try:
            modules.append(Module(path if isinstance(path, SourceFacts) else read_source(path, keras)))
        except SourceError:
            continue
    return Project(tuple(modules))


def with_imported(modules: Sequence[Module], keras: int = 3) -> list[Module]:
    """Return these files and those next to them that they import, directly or indirectly, skipping unreadable ones."""
    found = {_absolute(module.path): module for module in modules}
    home = os.path.dirname(next(iter(found), ""))
    waiting = list(found.values())
    while waiting and len(found) < _MAX_FILES:
        module = waiting.pop()
        for candidate in _imported_files(module, home):
            if candidate in found or not os.path.isfile(candidate):
                continue
            try:
                found[candidate] = Module(read_source(_as_named(candidate, modules[0].path), keras))
            except SourceError:
                continue
            waiting.append(found[candidate])
    return list(found.values())


def _as_named(path: str, beside: str) -> str:
    """Return a path in the style of the one that the user named: relative if that is relative."""
    return path if os.path.isabs(beside) else os.path.relpath(path)


def _absolute(path: str) -> str:
    return os.path.abspath(path)


def _parts(path: str) -> list[str]:
    """Return the dotted names under which an import can refer to a file."""
    parts = path.split(os.sep)
    parts[-1] = os.path.splitext(parts[-1])[0]
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts


def _imported_files(module: Module, home: str) -> Iterable[str]:
    """Yield the files that a module's imports may refer to, next to it or next to the script."""
    here = os.path.dirname(_absolute(module.path))
    folders = dict.fromkeys((here, home, *_folders_above(module, here)))
    statements: list[ast.Import | ast.ImportFrom] = [*module.nodes(ast.Import), *module.nodes(ast.ImportFrom)]
    for statement in statements:
        for base, parts in _spelled(statement, here, folders):
            if not parts or parts[0] in LIBRARIES:
                continue
            stem = os.path.join(base, *parts)
            yield stem + ".py"
            yield os.path.join(stem, "__init__.py")


def _folders_above(module: Module, here: str) -> Iterable[str]:
    """Yield the folders above a file that may be on its path: up to the root of its project, or where it adds them."""
    if "import" not in module.text:
        return
    above = [here]
    while len(above) <= _MOST_FOLDERS_ABOVE:
        if any(os.path.exists(os.path.join(above[-1], name)) for name in _ROOT_FILES):
            break
        above.append(os.path.dirname(above[-1]))
    else:
        known = "sys.path" in module.text or os.path.isfile(os.path.join(here, "__init__.py"))
        above = above if known else []
    for folder in above:
        yield folder
        yield os.path.join(folder, "src")


_ROOT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_MOST_FOLDERS_ABOVE = 3


def _spelled(
    statement: ast.Import | ast.ImportFrom, here: str, folders: dict[str, None]
) -> Iterable[tuple[str, list[str]]]:
    bases = folders
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            parts = alias.name.split(".")
            yield from ((base, parts[: count + 1]) for base in bases for count in range(len(parts)))
        return
    parts = statement.module.split(".") if statement.module else []
    if statement.level:
        base = here
        for _ in range(statement.level - 1):
            base = os.path.dirname(base)
        bases = {base: None}
    for base in bases:
        yield from ((base, parts[: count + 1]) for count in range(len(parts)))
        yield from ((base, [*parts, alias.name]) for alias in statement.names if alias.name != "*")
