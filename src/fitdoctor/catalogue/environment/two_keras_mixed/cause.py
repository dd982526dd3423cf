"""Objects from two Keras packages in one model.

## What happens

`ValueError: Only instances of keras.Layer can be added to a Sequential model`, `Could not interpret optimizer
identifier: <… object>` or `All inputs values must be KerasTensors`. One case is silent: a Keras 3 layer called on a
`tf_keras` tensor becomes plain operations of the model, and its weights are not trained.

A model built entirely with `tensorflow.python.keras` fails in `fit`, `evaluate` and `predict`: `AttributeError: module
'tensorflow.python.distribute.input_lib' has no attribute 'DistributedDatasetInterface'`.

## Why

A machine can have up to three Keras packages: Keras 3 (`keras`, and `tf.keras` since TensorFlow 2.16), Keras 2
(`tf_keras`), and a private copy inside TensorFlow (`tensorflow.python.keras`). They do not recognize each other's
objects.

## Fix

Import everything from one package: `keras` or `tensorflow.keras`. Do not import from `tensorflow.python.keras`.

## Known limits

A program that uses two Keras packages for separate models works and is not reported. Losses, initializers,
regularizers and activations from the other package also work, as do `tf_keras` callbacks and metrics in Keras 3. A
layer from the private copy that an own layer calls does not fail, but its weights are not trained; this is not reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.rules import certain
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, FitFacts, ModelFacts
from fitdoctor.records import dataclass, replace
from fitdoctor.source.conditions import is_switched_off
from fitdoctor.source.keras_3_api import PUBLIC_NAMES
from fitdoctor.source.keras_changes import homes_of
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.line_edits import moved_import
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT903",
    slug="two-keras-mixed",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "AttributeError"),
    explains=("FIT309", "FIT311", "FIT901"),
)

LEGACY = "tf_keras"
PRIVATE = "tensorflow.python.keras"
_SUBJECT = "object from another Keras"
_ONE_PACKAGE = "build the whole model with one package, either `tf_keras` or `keras`"
_HARMLESS = frozenset(
    "callbacks utils datasets preprocessing losses metrics initializers activations regularizers constraints "
    "backend".split()
)
"""Parts of the private Keras whose functions return plain data, or that the other Keras accepts."""
FOREIGN = re.compile(
    r"(?:Only instances of `?keras\.Layer`? can be added|The added layer must be an instance of class Layer)"
    r"(?![\s\S]{0,300}<class '(?:NoneType|list|tuple|dict|str|int|float|function)'>)"
    r"|Could not interpret (?:optimizer|loss|metric|activation|initializer) (?:function )?identifier: "
    r".*(?:object|keras)"
    r"|must be (?:an instance|instances) of `?keras"
    r"|All (?:elements|layers|callbacks|metrics).* instance"
    r"|must be KerasTensors\. Received: .*<class 'tf_keras\."
    r"|\w+\.__call__\(\) missing 1 required positional argument: 'step'"
    r"|'Variable' object has no attribute '_distribute_strategy'"
    r"|has no attribute '_implements_(?:train|test|predict)_batch_hooks'"
)


@CAUSE.in_source
@mentions("tensorflow.python", "tf_keras", "TF_USE_LEGACY_KERAS")
def from_source(module: Module) -> Iterator[Finding]:
    """Report private Keras imports next to the public one, and `tf_keras` objects in a `keras` model."""
    # Keras 2 accepts layers of the private copy inside TensorFlow.
    if module.keras != 2:
        public = _uses_public(module)
        for node in _private_imports(module)[:1] if public or _trains(module) else ():
            yield _private_finding(module, node, alone=not public)
    for mixed in mixtures(module):
        yield _mixed_finding(module, mixed)


def _private_imports(module: Module) -> list[ast.ImportFrom]:
    """Return the imports that bring in objects of the private Keras."""
    private = [
        node for node in module.nodes(ast.ImportFrom) if _is_private(node.module or "") and not node.level
    ]
    called = _names_that_meet_keras_3(module) if private else set()
    return [
        node
        for node in private
        if any(
            (alias.asname or alias.name) in called
            and not _does_no_harm(node, alias)
            and not _is_rebound(module, alias)
            for alias in node.names
        )
    ]


def _is_private(dotted: str) -> bool:
    return dotted == PRIVATE or dotted.startswith(PRIVATE + ".")


def _uses_public(module: Module) -> bool:
    """Return whether the file creates something with Keras 3."""
    return any(
        site.name.startswith("keras.") and not site.name.startswith(("keras.utils.", "keras.datasets."))
        for site in module.calls
    )


def _trains(module: Module) -> bool:
    """Return whether the file calls a method that the private Keras no longer supports.

    Its data adapters ask for `DistributedDatasetInterface`, which TensorFlow 2.16 and later do not have.
    """
    return any(True for _call in module.method_calls("fit", "fit_generator", "evaluate", "predict"))


def _names_that_meet_keras_3(module: Module) -> set[str]:
    """Return the names that are called, or of which something is; what is only named, as a type, is harmless."""
    found = set()
    for site in module.calls:
        called = site.node.func
        base = called.value if isinstance(called, ast.Attribute) else called
        if not isinstance(base, ast.Name) or _stays_in_own_layer(module, site.node):
            continue
        if not is_switched_off(module, site.node):
            found.add(base.id)
    return found


def _stays_in_own_layer(module: Module, call: ast.Call) -> bool:
    """Return whether a layer is created in a method of the user's own layer, which may call any function on tensors."""
    owner, around = module.class_of(call), module.parent(call)
    if owner is None or owner.kind not in ("Layer", "Model") or isinstance(around, (ast.List, ast.Tuple)):
        return False
    return not (
        isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute) and around.func.attr == "add"
    )


def _does_no_harm(node: ast.ImportFrom, alias: ast.alias) -> bool:
    """Return whether a name is a callback, a helper or data, which work with the other Keras."""
    below = f"{node.module}.{alias.name}".removeprefix(PRIVATE + ".").split(".")
    return below[0] in _HARMLESS or alias.name.endswith("_utils")


def _is_rebound(module: Module, alias: ast.alias) -> bool:
    """Return whether a later import gives the name another meaning."""
    name = alias.asname or alias.name
    scope = module.index.lookup(name, module.scope(alias))
    return scope is not None and scope.bindings[name][-1] is not alias


def _private_finding(module: Module, node: ast.ImportFrom, *, alone: bool = False) -> Finding:
    what = "a private copy of Keras that cannot train"
    if not alone:
        what = "a different Keras from the one the model uses"
    return CAUSE.finding(
        f"`{node.module}` is {what}",
        module.location(node),
        Evidence("private copy of Keras inside TensorFlow", node.module or "", "tensorflow.keras or keras"),
        _public_imports(module, node),
        subject=f"import of {PRIVATE}",
    )


@CAUSE.rule(
    says="has no attribute 'DistributedDatasetInterface'",
    in_source=False,
    anywhere=True,
    problem=f"the model is built with `{PRIVATE}`, a private copy of Keras that cannot train",
    remedy="import from `tensorflow.keras` or `keras`",
    subject=f"import of {PRIVATE}",
    confidence=Confidence.CERTAIN,
)
def private_and_alone(module: Module) -> Iterator[Finding]:
    """Find imports of the private Keras."""
    for node in _private_imports(module):
        yield _private_finding(module, node, alone=True)


def _public_imports(module: Module, node: ast.ImportFrom) -> Fix:
    """Fix this import and the others, because one that remains would still bring in the other Keras."""
    target = _public_module(node)
    if not target:
        return fix("import from `tensorflow.keras` or `keras`")
    others = [each for each in _private_imports(module) if each is not node and _public_module(each)]
    edits = [moved_import(module, each, _public_module(each)) for each in (node, *others)]
    return fix(f"import from `{target}`", edits)


def _public_module(node: ast.ImportFrom) -> str:
    """Return the public module that has the same names; "" if none or several have."""
    below = (node.module or "").removeprefix(PRIVATE)
    homes = [home.removeprefix("keras") for home in homes_of([alias.name for alias in node.names])]
    likely = [home for home in homes if below.startswith(home)] or (
        homes if below and len(homes) == 1 else []
    )
    return f"tensorflow.keras{likely[0]}" if likely else "" if below else "tensorflow.keras"


def _mixed_finding(module: Module, mixed: Mixture) -> Finding:
    call, other = mixed.call, 5 - mixed.keras
    written = module.segment(call.func)
    model = kind_of_call(module, call) == "Model"
    return CAUSE.finding(
        f"`{written}` is from Keras {mixed.keras}, but {'its layers are' if model else 'the model is'} from Keras {other}",
        module.location(call),
        Evidence("package", _NAMES[mixed.keras], _NAMES[other]),
        fix(
            f"create it with the Keras package of {'its layers' if model else 'the model'}",
            _remade(module, mixed),
        ),
        subject=f"object {written}",
        severity=Severity.WARNING if mixed.silent else Severity.ERROR,
    )


_NAMES = {2: LEGACY, 3: "keras"}


def _remade(module: Module, mixed: Mixture) -> tuple[Edit, ...]:
    """Use the same name from the other Keras, in the call or in its import."""
    written, own = module.segment(mixed.call.func), _NAMES[mixed.keras]
    other = LEGACY if mixed.keras == 3 and LEGACY in module.text else "keras"
    spelling = module.code(mixed.call).spelling(other)
    if spelling is not None and written.startswith(own + "."):
        return (Edit(module.location(mixed.call.func), spelling + written.removeprefix(own)),)
    return _imported_from(module, own, other if mixed.keras == 2 or other == LEGACY else "tensorflow.keras")


def _imported_from(module: Module, own: str, other: str) -> tuple[Edit, ...]:
    """Change every `from` import to the other Keras; none if Keras 3 lacks one of the names."""
    edits = []
    # Keras 3 has two import names.
    names = "(?:tensorflow[.])?keras" if own == "keras" else own
    for node in module.nodes(ast.ImportFrom):
        source = re.fullmatch(rf"{names}(?P<below>[.].+)?", node.module or "")
        if node.level or source is None:
            continue
        offered = PUBLIC_NAMES.get("keras" + (source["below"] or ""), ())
        whole = own == "keras" and not source["below"]
        if not all(alias.name in offered or whole for alias in node.names):
            return ()
        text = re.sub(rf"^from\s+{names}\b", f"from {other}", module.segment(node), count=1)
        edits.append(Edit(module.location(node), text))
    return tuple(edits)


@CAUSE.before_fit
def from_model(model: ModelFacts, fit: FitFacts, project: Project) -> Iterator[Finding]:
    """Report Keras 3 layers called on Keras 2 tensors, whose weights are constants there and not trained."""
    if not model.foreign_variables or fit.method != "fit":
        return
    evidence = [
        Evidence(
            "weights that the model does not track",
            listing(model.foreign_variables),
            fact="model.foreign_variables",
        )
    ]
    for module in project.modules:
        for mixed in (each for each in mixtures(module) if each.silent):
            found = _mixed_finding(module, mixed)
            yield replace(found, confidence=Confidence.CERTAIN, evidence=(*found.evidence, *evidence))
            return
    yield CAUSE.certain(
        "Keras 3 layers in a Keras 2 model are not trained",
        place(model.code, fit.code),
        *evidence,
        fix(_ONE_PACKAGE),
        subject=_SUBJECT,
        severity=Severity.WARNING,
    )


CAUSE.message(
    r"'(?P<owner>KerasTensor|Tensor|SymbolicTensor|Model|Sequential|Functional|Node|[A-Z]\w*Layer)' object has no "
    r"attribute '(?P<name>_keras_\w+|_id|_output_tensor_cache|_is_compiled|_is_graph_network|_inbound_nodes"
    r"|outbound_nodes|output_masks"
    r"|_uses_learning_phase|_uses_dynamic_learning_phase|_check_trainable_weights_consistency|_layers|_nested_inputs"
    r"|_feed_input_names|_feed_inputs|_collected_trainable_weights|_get_distribution_strategy|_in_multi_worker_mode"
    r"|_ckpt_saved_epoch|_make_train_function|_make_predict_function|_standardize_user_data)'",
    "`{name}` is private to one version of Keras, but this object (`{owner}`) comes from another one",
    "import everything from one package, `keras` or `tensorflow.keras`, and use libraries made for that Keras version",
    subject=_SUBJECT,
    types=("AttributeError",),
)


def _raised_by_keras_2(failure: FailureFacts) -> bool:
    last = failure.frames[-1] if failure.frames else None
    return last is not None and last.library and LEGACY in last.path


CAUSE.message(
    "'tuple' object has no attribute 'rank'",  # the shape of a Keras 3 tensor is a plain tuple
    "a Keras 2 (`tf_keras`) layer is called on a Keras 3 tensor",
    _ONE_PACKAGE,
    "set `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported, and use `tf.keras` throughout",
    subject=_SUBJECT,
    fits=_raised_by_keras_2,
    confidence=Confidence.CERTAIN,
)


_A_CLASS = re.compile(r"of type <class 'type'>|identifier:.{0,4}<class '")
_OF_KERAS_3 = re.compile(
    r"A KerasTensor is symbolic|<KerasTensor shape=|keras\.src\.backend\.common\.keras_tensor\.KerasTensor"
)
_OF_KERAS_2 = re.compile(r"^\s*Exception encountered when calling layer [\"']", re.MULTILINE)
"""How Keras 2 begins a message; Keras 3 names the class and the method instead."""
_HOMES = (
    ("keras", re.compile(r"-packages/keras/")),
    ("tensorflow.keras", re.compile(r"/tensorflow(?:_core)?/python/keras/")),
    ("tf_keras", re.compile(r"-packages/tf_keras/")),
)


@CAUSE.after_failure
def from_frames(failure: FailureFacts) -> Iterator[Finding]:
    """Report a traceback that goes through two Keras packages, or a Keras 2 layer that holds a tensor of Keras 3."""
    paths = [frame.path.replace("\\", "/") for frame in failure.frames if frame.library]
    homes = [name for name, home in _HOMES if any(home.search(path) for path in paths)]
    crossed = len(homes) > 1 and failure.type in ("AttributeError", "TypeError", "ValueError")
    if not crossed and not (_OF_KERAS_2.search(failure.raw_message) and _OF_KERAS_3.search(failure.message)):
        return
    yield CAUSE.finding(
        f"`{homes[0]}` calls into `{homes[1]}`: they do not share objects"
        if crossed
        else "a layer of Keras 2 (`tf_keras`, `tensorflow_hub`, `transformers`) is called on a Keras 3 tensor",
        failure.location,
        Evidence("two Keras packages take part", fact="failure.frames"),
        fix("import everything from one package, `keras` or `tensorflow.keras`"),
        fix("set `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported if a library needs Keras 2"),
        subject=_SUBJECT,
        confidence=Confidence.LIKELY,
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report an object that Keras rejected if the program imports another Keras."""
    given_tensor = not project and "Found: Tensor(" in failure.message
    if not FOREIGN.search(failure.message) or _A_CLASS.search(failure.message) or given_tensor:
        # A class instead of an instance, or a tensor instead of a layer, is from the right Keras: `layer-not-called`.
        return
    named = LEGACY in failure.message or PRIVATE in failure.message
    evidence = Evidence("Keras rejected an object from another Keras package")
    for module in project.modules:
        for node in module.nodes(ast.ImportFrom):
            if _is_private(node.module or "") and not node.level:
                yield certain(_private_finding(module, node), failure)
                return
        foreign = next(mixtures(module), None) or (
            None if _raised_by_keras_2(failure) else _of_keras_2(module)
        )
        if foreign is not None:
            yield certain(_mixed_finding(module, foreign), failure, confidence=Confidence.LIKELY)
            return
    named = named or "<class 'keras." in failure.message and _raised_by_keras_2(failure)
    if named or not project:
        yield CAUSE.finding(
            "this model received an object from another Keras package",
            _import_of_keras_3(failure, project) or failure.location,
            evidence,
            fix("import everything from one package, `keras` or `tensorflow.keras`"),
            subject=_SUBJECT,
            confidence=Confidence.CERTAIN if named else Confidence.POSSIBLE,
        )


def _of_keras_2(module: Module) -> Mixture | None:
    """Return the first object created with `tf_keras`."""
    return next((Mixture(site.node, 2) for site in module.calls if site.name.startswith(LEGACY + ".")), None)


def _import_of_keras_3(failure: FailureFacts, project: Project) -> Location | None:
    """Return the line that imports from `keras` what a Keras 2 model was given."""
    if not project or not _raised_by_keras_2(failure):
        return None
    for module in project.modules:
        for node in module.nodes(ast.ImportFrom):
            if not node.level and (node.module or "").split(".")[0] == "keras":
                return module.location(node)
    return None


# --- which package the objects come from ------------------------------------------------------------------------------

_SWITCH = "TF_USE_LEGACY_KERAS"
_PARTS = frozenset(("layers", "models", "Model", "Sequential", "Input", "applications", "optimizers"))
_REFUSED = {2: _PARTS, 3: _PARTS | {"metrics", "callbacks"}}
"""Objects of each Keras that the other rejects; losses, initializers and similar callables work in both."""


@dataclass(frozen=True)
class Mixture:
    """An object from a different Keras package than the model that gets it."""

    call: ast.Call
    """The call that creates it."""
    keras: int
    """The Keras version it comes from."""
    silent: bool = False
    """Whether nothing fails: a Keras 3 layer called on a Keras 2 tensor becomes operations without weights."""


def keras_of(module: Module, call: ast.Call) -> int:
    """Return 2 or 3 by the package that a call names; 0 if it is neither, or both are the same."""
    dotted = module.dotted(_maker(call).func)
    root = dotted.partition(".")[0]
    if root == LEGACY:
        return 2
    if root == "keras":
        return 3 if module.keras == 3 or _SWITCH in module.text or LEGACY in module.text else 0
    if dotted.startswith("tensorflow.keras."):
        return 2 if _SWITCH in module.text and module.keras == 2 else 3 if module.keras == 3 else 0
    return 0


def mixtures(module: Module) -> Iterator[Mixture]:
    """Return every object passed to a call of the other Keras, directly or by name."""
    if LEGACY not in module.text and _SWITCH not in module.text:
        return
    seen: set[ast.Call] = set()
    for site in module.calls:
        taker = _taker(module, site)
        own = keras_of(module, taker) if taker is not None else 0
        for given in _given(module, site.node) if own else ():
            made = module.made_by(given.value if isinstance(given, ast.Attribute) else given)
            other = keras_of(module, made) if isinstance(made, ast.Call) else 0
            if not isinstance(made, ast.Call) or not other or other == own or taker is None:
                continue
            if _kind(module, made) not in _REFUSED[other]:
                continue
            foreign = _foreign(module, _mixture(taker, own), _mixture(made, other))
            if foreign.call not in seen:
                seen.add(foreign.call)
                yield foreign


def _mixture(call: ast.Call, keras: int) -> Mixture:
    return Mixture(_maker(call), keras, silent=keras == 3 and isinstance(call.func, ast.Call))


def _foreign(module: Module, taker: Mixture, giver: Mixture) -> Mixture:
    """Return which of the two is not from the Keras of the file's models; if those are mixed, the argument."""
    models = {
        keras_of(module, site.node)
        for site in module.calls
        if module.dotted(site.node.func).rpartition(".")[2] in ("Model", "Sequential")
    } - {0}
    return taker if models == {giver.keras} else giver


def _taker(module: Module, site: CallSite) -> ast.Call | None:
    """Return the call that creates or calls a Keras object, or that created the model that gets something."""
    if _kind(module, site.node) in _PARTS:
        return site.node
    if site.method not in ("add", "compile", "fit") or not isinstance(site.node.func, ast.Attribute):
        return None
    model = module.made_by(site.receiver)
    return model if isinstance(model, ast.Call) else None


def _kind(module: Module, call: ast.Call) -> str:
    """Return `layers` for `keras.layers.Dense`, `Model` for `tf_keras.Model`."""
    path = module.dotted(_maker(call).func).removeprefix("tensorflow.").split(".")
    return path[1] if len(path) > 1 else ""


def _maker(call: ast.Call) -> ast.Call:
    """Return the call that creates the called layer, or the call itself."""
    return call.func if isinstance(call.func, ast.Call) else call


def _given(module: Module, call: ast.Call) -> Iterator[ast.expr]:
    """Return the arguments of a call, including the items of lists."""
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        listed = module.made_by(value) if isinstance(value, ast.Name) else value
        yield from listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else (value,)
