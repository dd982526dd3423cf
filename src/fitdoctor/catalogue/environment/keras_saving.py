"""Where programs save and load models: the literal that ends a path, and its Keras 3 form."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding
from fitdoctor.edits import fix, remove_argument
from fitdoctor.facts import FailureFacts
from fitdoctor.patterns import pattern
from fitdoctor.source.keras_objects import is_keras_model
from fitdoctor.source.module import CallSite, Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fitdoctor.catalogue import Cause

MODELS = (".keras", ".h5")
"""The extensions of a saved model."""
_LOADERS = ("load_model", "load_weights")


def is_model_saving(module: Module, site: CallSite) -> bool:
    """Return whether a method is called on a Keras model."""
    assert isinstance(site.node.func, ast.Attribute)
    return is_keras_model(module, site.node.func.value)


def last_text(module: Module, path: ast.expr) -> tuple[ast.Constant, str] | None:
    """Return the string that ends a path expression, following names, joins and formatting."""
    node = module.made_by(path)
    formatted = False
    for _step in range(8):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A template that ends with `{}` gets its extension elsewhere.
            return None if formatted and node.value.endswith("}") else (node, node.value)
        following: ast.expr | None = None
        if isinstance(node, ast.JoinedStr) and node.values:
            following = node.values[-1]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
            following = node.right
        elif isinstance(node, ast.Call):
            following = _of_call(module, node)
            formatted |= isinstance(node.func, ast.Attribute) and node.func.attr == "format"
        if following is None:
            return None
        node = module.made_by(following)
    return None


def _of_call(module: Module, call: ast.Call) -> ast.expr | None:
    name = module.resolve(call.func)
    if name in ("os.path.join", "pathlib.Path", "pathlib.PurePath") and call.args:
        return call.args[-1]
    if name == "str" and call.args:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("format", "joinpath"):
        return call.func.value if call.func.attr == "format" else (call.args[-1] if call.args else None)
    return None


_ENDING = pattern(r"\.(weights\.h5|hdf5|h5|keras|ckpt|tf|pb|weights|model|pkl|hdf)$")


def respelt(written: str, value: str, ending: str) -> str:
    """Return the literal with another extension."""
    old = _ENDING.search(value)
    new = (value[: old.start()] if old else value.rstrip("/")) + ending
    return new.join(written.rsplit(value, 1))


def new_ending(module: Module, node: ast.Constant, ending: str) -> tuple[Edit, ...]:
    """Change the extension of a path, here and where the same path is loaded."""
    value = str(node.value)
    places = [node, *(other for other in _loaded_paths(module) if other.value == value and other is not node)]
    return tuple(
        Edit(module.location(place), respelt(written, value, ending))
        for place in places
        if value and value in (written := module.segment(place))
    )


def _loaded_paths(module: Module) -> Iterator[ast.Constant]:
    for site in module.calls:
        name = site.method or site.name.rpartition(".")[2]
        path = site.argument("filepath", 0) if name in _LOADERS else None
        text = last_text(module, path) if path is not None else None
        if text is not None:
            yield text[0]


def format_refused(module: Module, site: CallSite) -> ast.expr | None:
    """Return the `save_format` of a call that Keras 3 rejects; it ignores one next to a valid extension."""
    if site.name in ("keras.models.save_model", "keras.saving.save_model"):
        path = site.argument("filepath", 1)
    elif site.method == "save" and is_model_saving(module, site):
        path = site.argument("filepath", 0)
    else:
        return None
    given = site.argument("save_format")
    text = last_text(module, path) if path is not None else None
    return given if given is not None and text is not None and not text[1].endswith(MODELS) else None


def saved_by_ending(module: Module, site: CallSite) -> tuple[Edit, ...]:
    """Remove `save_format` and add an extension to the path."""
    path = site.argument("filepath", 0 if site.method == "save" else 1)
    text = last_text(module, path) if path is not None else None
    if text is None:
        return ()
    return (*new_ending(module, text[0], MODELS[0]), *remove_argument(module.code(site.node), "save_format"))


_SHORT_NAME = pattern(
    r"Could not (?:deserialize|locate function) '(?:keras\.(?:metrics|losses)\.)?(?P<name>mse|mae|mape|msle|kld|bce)'"
)


def short_name_in_h5(cause: Cause, failure: FailureFacts) -> Iterator[Finding]:
    """Report a model compiled with `"mse"` and saved as `.h5`, whose short name Keras 3 cannot load."""
    match = _SHORT_NAME.search(failure.message)
    if match is None:
        return
    frame = failure.last_user_frame
    name = match["name"]
    yield cause.finding(
        f"the saved model was compiled with `{name}`, a short name that Keras 3 cannot load from an `.h5` file",
        subject="load_model",
        location=frame.location if frame is not None else None,
        evidence=[Evidence(claim="name that Keras did not find", observed=name, expected="a Keras class")],
        fixes=[
            fix("load it with `compile=False`, then compile it again"),
            fix(
                "save and load it as `.keras`, or compile with the class (`keras.losses.MeanSquaredError()`)"
            ),
        ],
        confidence=Confidence.CERTAIN,
    )


_REFUSED_WHEN_LOADED = pattern(r"Unrecognized keyword arguments passed to (?P<layer>\w+): \{'(?P<name>\w+)'")
_LOADING = pattern(r"\b(?:load_model\w*|model_from_\w+|from_config|deserialize_keras_object)\b")


def saved_by_keras_2(cause: Cause, failure: FailureFacts) -> Iterator[Finding]:
    """Report a saved layer with an argument that Keras 3 removed: `time_major`, `groups`."""
    match = _REFUSED_WHEN_LOADED.search(failure.message) or _REFUSED_WHEN_LOADED.search(failure.raw_message)
    frame = failure.last_user_frame
    called = [each.function for each in failure.frames if each.library] + ([frame.text] if frame else [])
    if match is None or not any(_LOADING.search(each) for each in called):
        return
    layer, name = match["layer"], match["name"]
    own = "custom_objects={" + f'"{layer}": ' + "…}"
    yield cause.finding(
        f"the model was saved with Keras 2: its `{layer}` layer has the argument `{name}`, which Keras 3 does not accept",
        subject="load_model",
        location=frame.location if frame is not None else None,
        evidence=[Evidence(claim=f"argument of the saved {layer}", observed=name, fact="failure.message")],
        fixes=[
            fix("load it with Keras 2: install `tf_keras` and call `tf_keras.models.load_model(…)`"),
            fix(f"pass `{own}` with a subclass that drops `{name}` and forwards the other arguments"),
            fix("rebuild the model and load only its weights with `load_weights`"),
        ],
        confidence=Confidence.CERTAIN,
    )
