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
regularizers and activations from the other package also work, as do `tf_keras` callbacks and metrics in Keras 3.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.environment.keras_signatures import PUBLIC_NAMES
from fitdoctor.catalogue.environment.kerases import LEGACY, Mixture, mixtures
from fitdoctor.catalogue.sayings import Saying, findings_from_message
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix
from fitdoctor.facts import FailureFacts, FitFacts, ModelFacts, Unknown
from fitdoctor.patterns import pattern
from fitdoctor.source.keras_objects import kind_of_call
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT903",
    slug="two-keras-mixed",
    severity=Severity.ERROR,
    raises=("ValueError", "TypeError", "AttributeError"),
    explains=("FIT309", "FIT311", "FIT901"),
)

PRIVATE = "tensorflow.python.keras"
_HARMLESS = frozenset("callbacks utils datasets preprocessing".split())
"""Parts of the private Keras whose functions return plain data, or that the other Keras accepts."""
FOREIGN = pattern(
    r"Only instances of `?keras\.Layer`? can be added"
    r"|Could not interpret (?:optimizer|loss|metric|activation|initializer) (?:function )?identifier: "
    r".*(?:object|keras)"
    r"|The added layer must be an instance of class Layer"
    r"|must be (?:an instance|instances) of (?:`?keras|class Layer)"
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
        public, private = _uses_public(module), _private_imports(module)
        if private and (public or _trains(module)):
            yield _private_finding(module, private[0], Confidence.LIKELY, [], alone=not public)
    for mixed in mixtures(module):
        yield _mixed_finding(module, mixed, Confidence.LIKELY, [])


def _private_imports(module: Module) -> list[ast.ImportFrom]:
    """Return the imports that bring in objects of the private Keras."""
    private = [
        node for node in module.nodes(ast.ImportFrom) if _is_private(node.module or "") and not node.level
    ]
    called = _called_names(module) if private else set()
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


def _called_names(module: Module) -> set[str]:
    """Return the names that are called, or of which something is; what is only named, as a type, is harmless."""
    return {site.node.func.id for site in module.calls if isinstance(site.node.func, ast.Name)} | {
        site.node.func.value.id
        for site in module.calls
        if isinstance(site.node.func, ast.Attribute) and isinstance(site.node.func.value, ast.Name)
    }


def _does_no_harm(node: ast.ImportFrom, alias: ast.alias) -> bool:
    """Return whether a name is a callback, a helper or data, which work with the other Keras."""
    below = f"{node.module}.{alias.name}".removeprefix(PRIVATE + ".").split(".")
    return below[0] in _HARMLESS or alias.name.endswith("_utils")


def _is_rebound(module: Module, alias: ast.alias) -> bool:
    """Return whether a later import gives the name another meaning."""
    name = alias.asname or alias.name
    scope = module.index.lookup(name, module.scope(alias))
    return scope is not None and scope.bindings[name][-1] is not alias


def _private_finding(
    module: Module,
    node: ast.ImportFrom,
    confidence: Confidence,
    evidence: list[Evidence],
    alone: bool = False,
) -> Finding:
    message = (
        "a private copy of Keras that cannot train"
        if alone
        else "a different Keras from the one the model uses"
    )
    return CAUSE.finding(
        f"`{node.module}` is {message}",
        subject="import of tensorflow.python.keras",
        location=module.location(node),
        evidence=[
            Evidence(
                claim="private copy of Keras inside TensorFlow",
                observed=node.module or "",
                expected="tensorflow.keras or keras",
            ),
            *evidence,
        ],
        fixes=[_public_imports(module, node)],
        confidence=confidence,
    )


def _public_imports(module: Module, node: ast.ImportFrom) -> Fix:
    """Fix this import and the others, because one that remains would still bring in the other Keras."""
    own = _public_import(module, node)
    others = [_public_import(module, each) for each in _private_imports(module) if each is not node]
    edits = [edit for other in others for edit in other.edits]
    return fix(own.title, own.edits, edits) if own.edits else own


def _public_import(module: Module, node: ast.ImportFrom) -> Fix:
    names = [alias.name for alias in node.names]
    below = (node.module or "").removeprefix(PRIVATE)
    for public, offered in PUBLIC_NAMES.items():
        if all(name in offered for name in names) and (
            below.startswith(public.removeprefix("keras")) or below
        ):
            target = "tensorflow.keras" + public.removeprefix("keras")
            if below.startswith(public.removeprefix("keras")) or not _also_elsewhere(names, public):
                text = re.sub(r"^from\s+[\w.]+", f"from {target}", module.segment(node), count=1)
                return fix(f"import from `{target}`", (Edit(module.location(node), text),))
    if not below:
        text = re.sub(r"^from\s+[\w.]+", "from tensorflow.keras", module.segment(node), count=1)
        return fix("import from `tensorflow.keras`", (Edit(module.location(node), text),))
    return fix("import from `tensorflow.keras` or `keras`")


def _also_elsewhere(names: list[str], public: str) -> bool:
    """Return whether another public module also has all of the names."""
    return any(
        other != public and all(name in offered for name in names) for other, offered in PUBLIC_NAMES.items()
    )


def _mixed_finding(
    module: Module, mixed: Mixture, confidence: Confidence, evidence: list[Evidence]
) -> Finding:
    call, other = mixed.call, 5 - mixed.keras
    written = module.segment(call.func)
    model = kind_of_call(module, call) == "Model"
    return CAUSE.finding(
        f"`{written}` is from Keras {mixed.keras}, but {'its layers are' if model else 'the model is'} from Keras {other}",
        subject=f"object {written}",
        location=module.location(call),
        evidence=[Evidence(claim="package", observed=_NAMES[mixed.keras], expected=_NAMES[other]), *evidence],
        fixes=[
            fix(
                f"create it with the Keras package of {'its layers' if model else 'the model'}",
                _remade(module, mixed),
            )
        ],
        confidence=confidence,
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
def from_model(model: ModelFacts, fit: FitFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report Keras 3 layers called on Keras 2 tensors, whose weights are constants there and not trained."""
    if not model.foreign_variables or fit.method != "fit":
        return
    evidence = [
        Evidence(
            claim="weights that the model does not track",
            observed=listing(model.foreign_variables),
            fact="model.foreign_variables",
        )
    ]
    for module in project.modules if isinstance(project, Project) else ():
        for mixed in (each for each in mixtures(module) if each.silent):
            yield _mixed_finding(module, mixed, Confidence.CERTAIN, evidence)
            return
    yield CAUSE.finding(
        "Keras 3 layers in a Keras 2 model are not trained",
        subject="object from another Keras",
        location=place(model.code, fit.code),
        evidence=evidence,
        fixes=[fix("build the whole model with one package, either `tf_keras` or `keras`")],
        confidence=Confidence.CERTAIN,
        severity=Severity.WARNING,
    )


@CAUSE.after_failure
def from_tensor(failure: FailureFacts) -> Iterator[Finding]:
    """Report a Keras 2 layer called on a Keras 3 tensor, whose shape is a plain tuple."""
    if "'tuple' object has no attribute 'rank'" not in failure.message or not _met_by_keras_2(failure):
        return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        "a Keras 2 (`tf_keras`) layer is called on a Keras 3 tensor",
        subject="object from another Keras",
        location=frame.location if frame else None,
        evidence=[
            Evidence(claim="Keras 2 cannot read the shape of a Keras 3 tensor", fact="failure.message")
        ],
        fixes=[
            fix("build the whole model with one package, either `tf_keras` or `keras`"),
            fix("set `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported, and use `tf.keras` throughout"),
        ],
        confidence=Confidence.CERTAIN,
    )


_SAYINGS = (
    Saying(
        pattern(
            r"'(?P<owner>KerasTensor|Tensor|SymbolicTensor|Model|Sequential|Functional|Node|[A-Z]\w*Layer)' object has no "
            r"attribute '(?P<name>_keras_\w+|_id|_output_tensor_cache|_is_compiled|_is_graph_network|_inbound_nodes"
            r"|outbound_nodes|output_masks"
            r"|_uses_learning_phase|_uses_dynamic_learning_phase|_check_trainable_weights_consistency|_layers|_nested_inputs"
            r"|_feed_input_names|_feed_inputs|_collected_trainable_weights|_get_distribution_strategy|_in_multi_worker_mode"
            r"|_ckpt_saved_epoch|_make_train_function|_make_predict_function|_standardize_user_data)'"
        ),
        "`{name}` is private to one version of Keras, but this object (`{owner}`) comes from another one",
        "import everything from one package, `keras` or `tensorflow.keras`, and use libraries made for that Keras version",
        types=("AttributeError",),
    ),
)


@CAUSE.after_failure
def from_private_name(failure: FailureFacts) -> Iterator[Finding]:
    """Report a private attribute that Keras objects of another version have."""
    yield from findings_from_message(CAUSE, failure, _SAYINGS, "object from another Keras")


_OF_KERAS_3 = pattern(
    r"A KerasTensor is symbolic|<KerasTensor shape=|keras\.src\.backend\.common\.keras_tensor\.KerasTensor"
)
_OF_KERAS_2 = pattern(r"^\s*Exception encountered when calling layer [\"']", re.MULTILINE)
"""How Keras 2 begins a message; Keras 3 names the class and the method instead."""
_HOMES = (
    ("keras", pattern(r"-packages/keras/")),
    ("tensorflow.keras", pattern(r"/tensorflow(?:_core)?/python/keras/")),
    ("tf_keras", pattern(r"-packages/tf_keras/")),
)


@CAUSE.after_failure
def from_frames(failure: FailureFacts) -> Iterator[Finding]:
    """Report a traceback that goes through two Keras packages, or a Keras 2 layer that holds a tensor of Keras 3."""
    paths = [frame.path.replace("\\", "/") for frame in failure.frames if frame.library]
    homes = [name for name, home in _HOMES if any(home.search(path) for path in paths)]
    crossed = len(homes) > 1 and failure.type in ("AttributeError", "TypeError", "ValueError")
    if not crossed and not (_OF_KERAS_2.search(failure.raw_message) and _OF_KERAS_3.search(failure.message)):
        return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        f"`{homes[0]}` calls into `{homes[1]}`: they do not share objects"
        if crossed
        else "a layer of Keras 2 (`tf_keras`, `tensorflow_hub`, `transformers`) is called on a Keras 3 tensor",
        subject="object from another Keras",
        location=frame.location if frame else None,
        evidence=[Evidence(claim="two Keras packages take part", fact="failure.frames")],
        fixes=[
            fix("import everything from one package, `keras` or `tensorflow.keras`"),
            fix("set `TF_USE_LEGACY_KERAS=1` before TensorFlow is imported if a library needs Keras 2"),
        ],
        confidence=Confidence.LIKELY,
    )


@CAUSE.after_failure
def from_private_training(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report a model of the private Keras, which asks TensorFlow for what it no longer has."""
    if "has no attribute 'DistributedDatasetInterface'" not in failure.message:
        return
    evidence = [Evidence(claim="the private Keras does not match this TensorFlow", fact="failure.message")]
    for module in project.modules if isinstance(project, Project) else ():
        for node in _private_imports(module):
            yield _private_finding(module, node, Confidence.CERTAIN, evidence, alone=True)
            return
    frame = failure.last_user_frame
    yield CAUSE.finding(
        f"the model is built with `{PRIVATE}`, a private copy of Keras that cannot train",
        subject=f"import of {PRIVATE}",
        location=frame.location if frame else None,
        evidence=evidence,
        fixes=[fix("import from `tensorflow.keras` or `keras`")],
        confidence=Confidence.CERTAIN,
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report an object that Keras rejected if the program imports another Keras."""
    if not FOREIGN.search(failure.message) or "of type <class 'type'>" in failure.message:
        # A class instead of an instance is from the right Keras: `layer-not-called`.
        return
    named = LEGACY in failure.message or PRIVATE in failure.message
    evidence = [Evidence(claim="Keras rejected an object from another Keras package", fact="failure.message")]
    for module in project.modules if isinstance(project, Project) else ():
        for node in module.nodes(ast.ImportFrom):
            if _is_private(node.module or "") and not node.level:
                yield _private_finding(module, node, Confidence.CERTAIN, evidence)
                return
        foreign = next(mixtures(module), None) or (None if _met_by_keras_2(failure) else _of_keras_2(module))
        if foreign is not None:
            yield _mixed_finding(module, foreign, Confidence.LIKELY, evidence)
            return
    named = named or "<class 'keras." in failure.message and _met_by_keras_2(failure)
    if named or isinstance(project, Unknown):
        frame = failure.last_user_frame
        yield CAUSE.finding(
            "this model received an object from another Keras package",
            subject="object from another Keras",
            location=_import_of_keras_3(failure, project) or (frame.location if frame else None),
            evidence=evidence,
            fixes=[fix("import everything from one package, `keras` or `tensorflow.keras`")],
            confidence=Confidence.CERTAIN if named else Confidence.POSSIBLE,
        )


def _of_keras_2(module: Module) -> Mixture | None:
    """Return the first object created with `tf_keras`."""
    return next((Mixture(site.node, 2) for site in module.calls if site.name.startswith(LEGACY + ".")), None)


def _met_by_keras_2(failure: FailureFacts) -> bool:
    last = failure.frames[-1] if failure.frames else None
    return last is not None and last.library and LEGACY in last.path


def _import_of_keras_3(failure: FailureFacts, project: Project | Unknown) -> Location | None:
    """Return the line that imports from `keras` what a Keras 2 model was given."""
    if isinstance(project, Unknown) or not _met_by_keras_2(failure):
        return None
    for module in project.modules:
        for node in module.nodes(ast.ImportFrom):
            if not node.level and (node.module or "").split(".")[0] == "keras":
                return module.location(node)
    return None
