"""Follows a number to where a person wrote it: a constant, a field's default, an option, a configuration file."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator, Sequence

from fitdoctor.diagnosis import Location
from fitdoctor.records import dataclass
from fitdoctor.source.callees import argument_for, callee, callers_of
from fitdoctor.source.definitions import ClassInfo, FunctionInfo
from fitdoctor.source.module import Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project
from fitdoctor.source.read import display_path

_SIZES = (
    "units",
    "input_dim",
    "shape",
    "filters",
    "target_shape",
    "num_classes",
    "vocab_size",
    "batch_shape",
)
"""The arguments that size a layer; in all others of Keras it is the first one."""
KERAS = ("keras.", "tf_keras.", "tensorflow.keras.")
CONFIGURATIONS = (".json", ".yaml", ".yml", ".toml", ".ini", ".cfg")
_MOST_STEPS = 8
_MOST_BYTES = 200_000


@dataclass(frozen=True)
class Written:
    """Where a number is written."""

    text: str
    location: Location | None
    """None for an option of the command line."""


def size_in(node: ast.expr) -> ast.expr | None:
    """Return the expression in a layer's call that sizes it, if it is not a literal."""
    if isinstance(node, ast.Call):
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        size = next((named[name] for name in _SIZES if name in named), node.args[0] if node.args else None)
    else:
        size = node
    if isinstance(size, (ast.Tuple, ast.List)):
        open_ = {ast.dump(each): each for each in size.elts if not isinstance(each, ast.Constant)}
        size = next(iter(open_.values())) if len(open_) == 1 else None
    return size if isinstance(size, (ast.Name, ast.Attribute, ast.Subscript)) else None


def is_setting(node: ast.expr) -> bool:
    """Whether an expression reads a number from settings by its name: `settings.getint("model", "units")`."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") not in ("get", "getint"):
        return False
    return bool(node.args) and all(
        isinstance(each, ast.Constant) and type(each.value) is str for each in node.args
    )


def written(project: Project, module: Module, node: ast.expr, arguments: Sequence[str]) -> Written | None:
    """Return where the number is written that an expression has; None if that is not certain.

    Args:
        project: the user's source.
        module: the file of the expression.
        node: the expression.
        arguments: those of the program's command line.
    """
    return _Search(project, arguments).follow(module, node, _MOST_STEPS)


def written_word(
    project: Project, module: Module, node: ast.expr, arguments: Sequence[str]
) -> Written | None:
    """Return where the word is written that an expression has: behind it, or as the only setting with its name."""
    search = _Search(project, arguments, str)
    name = _setting_name(node)
    found = search.follow(module, node, _MOST_STEPS)
    if found is None and name is not None:
        named = search.settings(name)
        found = named[0] if len(named) == 1 else None
    return found


def _setting_name(node: ast.expr) -> str | None:
    """Return the attribute or key by which an expression reads a setting."""
    name = getattr(node, "attr", None)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = node.slice.value
    return name if isinstance(name, str) else None


def written_by_name(
    project: Project, node: ast.expr, numbers: Collection[int], arguments: Sequence[str]
) -> Written | None:
    """Return the only setting of the program with the name that an expression reads, if it has one of these numbers.

    A number behind a registry or a factory cannot be followed through the calls, but its name and value are known.

    Args:
        project: the user's source.
        node: the expression.
        numbers: those that the program was seen to have there.
        arguments: those of the program's command line.
    """
    name = _setting_name(node)
    if name is None:
        return None
    found = _Search(project, arguments).settings(name)
    number = re.search(r"-?\d+$", found[0].text) if len(found) == 1 else None
    return found[0] if number is not None and int(number[0]) in numbers else None


def makes_data(project: Project, place: Location, arguments: Sequence[str] = ()) -> bool:
    """Whether a user's function that builds no layers receives a number: the data is made for it, too.

    Args:
        project: the user's source.
        place: where the number is written.
        arguments: those of the program's command line.
    """
    for module in project.modules:
        for site in module.calls:
            given = [*site.node.args, *(keyword.value for keyword in site.node.keywords)]
            given = [each for each in given if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript))]
            function = callee(module, site.node) if given else None
            if function is None or _builds(function):
                continue
            found = [written(project, module, each, arguments) for each in given]
            if any(each is not None and each.location == place for each in found):
                return True
    return False


def _builds(function: FunctionInfo) -> bool:
    """Whether a function is a method, or calls Keras: it may size layers, or pass the number on."""
    calls = [node.func for node in ast.walk(function.node) if isinstance(node, ast.Call)]
    return function.owner is not None or any(
        function.module.resolve(each).startswith(KERAS) for each in calls
    )


class _Search:
    def __init__(self, project: Project, arguments: Sequence[str], kind: type = int) -> None:
        self._project = project
        self._arguments = arguments
        self._kind = kind

    def follow(self, module: Module, node: ast.expr, left: int) -> Written | None:
        end = origin(module, node)
        if not end.certain or end.path or end.writes or left == 0:
            return None
        node, module = end.node, end.module
        if isinstance(node, ast.Constant) or isinstance(node, ast.BinOp) and _has_literal(node):
            if isinstance(node, ast.Constant) and type(node.value) is not self._kind:
                return None
            option = _option_of(module, node)
            if option is not None and (given := self._given(option)) is not None:
                return given
            return Written(_setting(module, node), module.location(node))
        if isinstance(node, ast.Attribute):
            return self._attribute(module, node, left)
        if is_setting(node):
            assert isinstance(node, ast.Call)
            return self._in_files(ast.literal_eval(node.args[-1]))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key = node.slice.value
            return self._in_files(key) if isinstance(key, str) and self._is_read(module, node.value) else None
        return None

    def settings(self, name: str) -> list[Written]:
        """Return the places that set a number by this name: files, options, fields and keys."""
        found = [self._in_files(name), self._option(name)]
        for module in self._project.modules:
            values = [each for node in module.nodes(ast.ClassDef) for each in _class_values(node)]
            for node in module.nodes(ast.Dict):
                keys = [each.value if isinstance(each, ast.Constant) else None for each in node.keys]
                values += [(key, value) for key, value in zip(keys, node.values, strict=True) if key == name]
            found += [
                Written(_setting(module, value), module.location(value))
                for key, value in values
                if key == name and isinstance(value, ast.Constant) and type(value.value) is self._kind
            ]
        return [each for each in found if each is not None]

    def _attribute(self, module: Module, node: ast.Attribute, left: int) -> Written | None:
        owner = origin(module, node.value)
        call = owner.node if isinstance(owner.node, ast.Call) else None
        if call is not None and getattr(call.func, "attr", "") in ("parse_args", "parse_known_args"):
            return self._option(node.attr)
        made = _class_of(owner.module, call) if call is not None else None
        if call is not None and made is not None:
            found = self._field(owner.module, made, call, node.attr, left)
            return found or (self._in_files(node.attr) if _sets_any(made) else None)
        return self._in_files(node.attr) if call is None and self._is_read(module, node.value) else None

    def _field(self, module: Module, made: ClassInfo, call: ast.Call, name: str, left: int) -> Written | None:
        """Return where an attribute of an object is written: in the call that made it, or in its class."""
        init = made.module.method(made, "__init__")
        if init is None:
            fields = [each for each in made.node.body if isinstance(each, ast.AnnAssign)]
            names = [each.target.id for each in fields if isinstance(each.target, ast.Name)]
            given = {each.arg: each.value for each in call.keywords} | dict(
                zip(names, call.args, strict=False)
            )
            if name in given:
                return self.follow(module, given[name], left - 1)
            default = next((value for each, value in _class_values(made.node) if each == name), None)
            return self.follow(made.module, default, left - 1) if default is not None else None
        stores = made.module.attribute_stores(made.node).get(name, [])
        values = [getattr(made.module.parent(store), "value", None) for store in stores]
        if len(values) != 1 or values[0] is None:
            return None
        value = values[0]
        if isinstance(value, ast.Name) and value.id in init.parameters:
            given_here = argument_for(init, call, value.id)
            if given_here is not None:
                return self.follow(module, given_here, left - 1)
            value = _default_of(init.node, value.id) or value
        return self.follow(made.module, value, left - 1)

    def _option(self, name: str) -> Written | None:
        """Return the option of the command line behind an attribute of what `parse_args` returns."""
        calls = [
            (module, site.node)
            for module in self._project.modules
            for site in module.method_calls("add_argument")
            if name == _destination(site.node)
        ]
        if len(calls) != 1:
            return None
        module, call = calls[0]
        given = self._given(call)
        default = next((each.value for each in call.keywords if each.arg == "default"), None)
        return given or (self.follow(module, default, 1) if default is not None else None)

    def _given(self, call: ast.Call) -> Written | None:
        """Return an option as it is on the command line."""
        flags = [
            each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        for index, word in enumerate(self._arguments):
            flag, equals, value = word.partition("=")
            if flag in flags and flag.startswith("-"):
                value = value if equals else next(iter(self._arguments[index + 1 :]), "")
                return Written(f"{flag} {value}", None)
        return None

    def _is_read(self, module: Module, node: ast.expr) -> bool:
        """Whether an object comes from a call of a library, such as `json.load(file)`, or from a part of its result."""
        for _ in range(_MOST_STEPS):
            end = origin(module, node)
            module, node = end.module, end.node
            if isinstance(node, ast.Call):
                made = module.definition(node.func)
                return made is None or isinstance(made, ClassInfo) and _sets_any(made)
            if not isinstance(node, (ast.Attribute, ast.Subscript)):
                return False
            node = node.value
        return False

    def _in_files(self, key: str) -> Written | None:
        """Return the only line of the program's configuration files that sets a number or word by this name."""
        value = r"(-?\d+)\b(?!\.\d)" if self._kind is int else r"""("[\w ]*"|'[\w ]*'|[A-Za-z_]\w*)"""
        setting = re.compile(rf"""(?m)["']?\b{re.escape(key)}\b["']?\s*[:=]\s*{value}""")
        found = []
        for path in sorted(set(self._files())):
            try:
                with open(path, encoding="utf-8") as file:
                    text = file.read(_MOST_BYTES)
            except (OSError, ValueError):
                continue
            found += [(path, text, match) for match in setting.finditer(text)]
        if len(found) != 1:
            return None
        path, text, match = found[0]
        start = text.rfind("\n", 0, match.start()) + 1
        line, column = text.count("\n", 0, match.start()) + 1, match.start() - start + 1
        length = match.end() - match.start()
        return Written(match[0], Location(display_path(path), line, column, line, column + length))

    def _files(self) -> Iterator[str]:
        """Yield the configuration files that the command line or a string of the program names."""
        words = list(self._arguments)
        folders = {os.getcwd()}
        for module in self._project.modules:
            folders.add(os.path.dirname(os.path.abspath(module.path)))
            words += [node.value for node in module.nodes(ast.Constant) if isinstance(node.value, str)]
        for word in words:
            word = word.partition("=")[2] if word.startswith("--") else word
            if word.endswith(CONFIGURATIONS) and "\n" not in word:
                for folder in sorted(folders):
                    for place in (folder, os.path.dirname(folder), *_below(folder)):
                        path = os.path.normpath(os.path.join(place, word))
                        if os.path.isfile(path):
                            yield path


def _class_of(module: Module, call: ast.Call) -> ClassInfo | None:
    """Return the class that a call makes an object of: `Head()`, `field(default_factory=Head)`."""
    factory = next((each.value for each in call.keywords if each.arg == "default_factory"), call.func)
    made = module.definition(factory)
    return made if isinstance(made, ClassInfo) else None


def _setting(module: Module, node: ast.expr) -> str:
    """Return a value as it is set there: `classes = 9`, `"classes": 9`."""
    parent = module.parent(node)
    if isinstance(parent, ast.Dict) and node in parent.values:
        key = parent.keys[parent.values.index(node)]
        return f"{module.segment(key)}: {module.segment(node)}" if key is not None else module.segment(node)
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        return module.segment(parent)
    if isinstance(parent, ast.keyword):
        return f"{parent.arg}={module.segment(node)}"
    return module.segment(node)


def _below(folder: str) -> list[str]:
    try:
        return [each.path for each in os.scandir(folder) if each.is_dir() and not each.name.startswith(".")][
            :50
        ]
    except OSError:
        return []


def _option_of(module: Module, node: ast.expr) -> ast.Call | None:
    """Return the call of `add_argument` that a value is the default in."""
    keyword = module.parent(node)
    call = module.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "default" else None
    is_option = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "add_argument"
    return call if is_option else None  # type: ignore[return-value]


def _destination(call: ast.Call) -> str:
    named = next((each.value for each in call.keywords if each.arg == "dest"), None)
    if named is not None:
        return str(named.value) if isinstance(named, ast.Constant) else ""
    words = [
        each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    chosen = next((word for word in words if word.startswith("--")), words[0] if words else "")
    return chosen.lstrip("-").replace("-", "_")


def _class_values(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
            yield each.target.id, each.value
        elif isinstance(each, ast.Assign):
            for target in each.targets:
                if isinstance(target, ast.Name):
                    yield target.id, each.value


def default_behind(module: Module, node: ast.expr) -> ast.Constant | None:
    """Return the number that is the default of the parameter which a name reads, if no call of the function is known."""
    function = module.function_of(node) if isinstance(node, ast.Name) else None
    if function is None or not isinstance(node, ast.Name) or callers_of(function):
        return None
    given = all(each.how == "parameter" for each in module.assignments(node.id, node))
    default = _default_of(function.node, node.id) if given else None
    return default if isinstance(default, ast.Constant) and type(default.value) is int else None


def _default_of(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str) -> ast.expr | None:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    pairs += [
        (one, value) for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    ]
    return next((value for one, value in pairs if one.arg == name), None)


def _sets_any(made: ClassInfo) -> bool:
    """Whether a class takes its attributes by name from elsewhere: it calls `setattr`, or updates its `__dict__`."""
    return any(
        isinstance(node, ast.Name)
        and node.id == "setattr"
        or isinstance(node, ast.Attribute)
        and node.attr == "__dict__"
        for node in ast.walk(made.node)
    )


def _has_literal(node: ast.BinOp) -> bool:
    return any(isinstance(each, ast.Constant) and type(each.value) is int for each in ast.walk(node))
