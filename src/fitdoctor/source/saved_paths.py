"""Where programs save and load models: the literal that ends a path, and its Keras 3 form."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.diagnosis import Edit
from fitdoctor.edits import remove_argument
from fitdoctor.records import dataclass
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.origins import origin
from fitdoctor.source.project import Project

MODELS = (".keras", ".h5")
"""The extensions of a saved model."""
_LOADERS = ("load_model", "load_weights")


def is_model_saving(module: Module, site: CallSite) -> bool:
    """Return whether a method is called on a Keras model."""
    assert isinstance(site.node.func, ast.Attribute)
    return is_keras_model(module, site.node.func.value)


@dataclass(frozen=True, eq=False)
class PathText:
    """The literal that ends a path."""

    module: Module
    node: ast.Constant
    before: str = ""
    """Text of the path right before the literal, written elsewhere."""
    certain: bool = True
    """Whether nothing else can end the path."""
    named: bool = False
    """Whether it is the value of a name that is only a part of the path."""

    @property
    def value(self) -> str:
        """The end of the path."""
        return self.before + str(self.node.value)


def last_text(module: Module, path: ast.expr) -> PathText | None:
    """Return the literal that ends a path expression, through names, joins, formatting, configuration and files."""
    node, formatted, before, certain = path, False, "", True
    whole, named = True, False
    for _step in range(12):
        named |= not whole and isinstance(node, (ast.Name, ast.Attribute))
        made = origin(module, node)
        if made.path or made.writes:
            return None
        module, node, certain = made.module, made.node, certain and made.certain
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A template that ends with `{}` gets its extension elsewhere.
            ends_elsewhere = formatted and node.value.endswith("}")
            return None if ends_elsewhere else PathText(module, node, before, certain, named)
        following: ast.expr | None = None
        if isinstance(node, ast.JoinedStr) and node.values:
            following = node.values[-1]
            if isinstance(following, ast.FormattedValue):
                before += _text_of(node.values[-2] if len(node.values) > 1 else None)
                following = following.value if following.format_spec is None else None
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
            before += _text_of(node.left) if isinstance(node.op, ast.Add) else "/"
            following = node.right
        elif isinstance(node, ast.Call):
            following = _of_call(module, node)
            formatted |= isinstance(node.func, ast.Attribute) and node.func.attr == "format"
        if following is None:
            return None
        whole &= not isinstance(node, (ast.JoinedStr, ast.BinOp))
        node = following
    return None


def text_ending(project: Project, path: str) -> PathText | None:
    """Return the only literal of a program that ends a path which was seen, wherever the path is put together."""
    found = [
        PathText(module, node, before)
        for module in project.modules
        for node in module.nodes(ast.Constant)
        for before in ("", ".")  # `f"{name}.{extension}"` writes the dot elsewhere
        if isinstance(node.value, str) and path.endswith(before + node.value)
        if _ENDING.fullmatch(before + node.value) or not before and _ENDING.search(node.value)
    ]
    return found[0] if len(found) == 1 else None


def _text_of(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _of_call(module: Module, call: ast.Call) -> ast.expr | None:
    name = module.resolve(call.func)
    if name in ("os.path.join", "pathlib.Path", "pathlib.PurePath") and call.args:
        return call.args[-1]
    if name == "str" and call.args:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("format", "joinpath"):
        return call.func.value if call.func.attr == "format" else (call.args[-1] if call.args else None)
    return None


_ENDING = re.compile(r"\.(weights\.h5|hdf5|h5|keras|ckpt|tf|pb|weights|model|pkl|hdf)$")


def respelt(written: str, text: PathText, ending: str) -> str:
    """Return the literal with another extension."""
    own = str(text.node.value)
    old = _ENDING.search(text.value)
    if old is None:
        new = own.rstrip("/") + ending
    elif old.start() >= len(text.before):
        new = own[: old.start() - len(text.before)] + ending
    else:
        new = ending[len(text.before) - old.start() :]  # the dot is written before it
    return new.join(written.rsplit(own, 1)) if own else written


def new_ending(module: Module, text: PathText, ending: str) -> tuple[Edit, ...]:
    """Change the extension of a path where it is written, and where the same path is loaded.

    A name that is only a part of the path (`f"model-{size}"`) stays: it means something else.

    Args:
        module: the file that saves.
        text: the literal that ends the path.
        ending: the new extension.
    """
    if text.named and _ENDING.search(text.value) is None:
        return ()
    loaded = [
        each for each in _loaded_paths(module) if each.value == text.value and each.node is not text.node
    ]
    return tuple(
        Edit(place.module.location(place.node), respelt(written, place, ending))
        for place in (text, *loaded)
        if place.node.value and str(place.node.value) in (written := place.module.segment(place.node))
    )


def _loaded_paths(module: Module) -> Iterator[PathText]:
    for site in module.calls:
        name = site.method or site.name.rpartition(".")[2]
        path = site.argument("filepath", 0) if name in _LOADERS else None
        text = last_text(module, path) if path is not None else None
        if text is not None:
            yield text


def format_rejected(module: Module, site: CallSite) -> ast.expr | None:
    """Return the `save_format` of a call that Keras 3 rejects; it ignores one next to a valid extension."""
    given = site.argument("save_format")
    if given is None or site.method == "save" and not is_model_saving(module, site):
        return None
    path = site.argument("filepath", 0 if site.method == "save" else 1)
    text = last_text(module, path) if path is not None else None
    return given if text is not None and not text.value.endswith(MODELS) else None


def saved_by_ending(module: Module, site: CallSite) -> tuple[Edit, ...]:
    """Remove `save_format` and add an extension to the path."""
    path = site.argument("filepath", 0 if site.method == "save" else 1)
    text = last_text(module, path) if path is not None else None
    if text is None:
        return ()
    return (*new_ending(module, text, MODELS[0]), *remove_argument(module.code(site.node), "save_format"))
