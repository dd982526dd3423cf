"""Argument that is misspelled or belongs to another call.

## What happens

`TypeError: TensorFlowTrainer.fit() got an unexpected keyword argument 'loss'` (or `epoch`, `metric`, `optimizer` …),
before the first step.

A misspelled loss, metric, optimizer or activation raises `ValueError: Could not interpret loss identifier:
sparse_categorical_cross_entropy`. For a loss, that happens only in `fit`, far from the `compile` call that names it.

`Sequential(Dense(8), Dense(1))` raises `ValueError: Expected trainable to be a boolean`: `Sequential` expects one list of
layers.

## Why

`optimizer`, `loss` and `metrics` are arguments of `compile`; `epochs`, `batch_size`, `callbacks` and `validation_data`
are arguments of `fit`. Or the name is misspelled: `epoch` for `epochs`, `validation_set` for `validation_data`.

## Fix

Move the argument to the call that accepts it, or correct its name.

## Known limits

Arguments passed as `**options` are usually found only when they raise. Arguments that older versions of Keras accepted
are a separate cause, FIT902 (`removed-in-keras-3`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.model.argument_of_the_wrong_call.keras_arguments import (
    ARGUMENTS,
    CALLBACKS,
    OF_KERAS_2,
    misspelt,
)
from fitdoctor.catalogue.model.argument_of_the_wrong_call.misspelt_names import (
    Misspelt,
    misspelt_names,
    refused_name,
)
from fitdoctor.catalogue.words import listing
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import (
    append_arguments,
    fix,
    merged_removal,
    remove_argument,
    rename_argument,
    spell,
    unsafe,
)
from fitdoctor.facts import Argument, Code, FailureFacts, Frame
from fitdoctor.failure.failed_line import at_frame, module_of
from fitdoctor.failure.patterns import NOT_CUSTOM, UnexpectedKeyword, unexpected_keyword
from fitdoctor.records import replace
from fitdoctor.source.conditions import knows_another_way
from fitdoctor.source.keras_3_api import PUBLIC_NAMES, SIGNATURES
from fitdoctor.source.keras_changes import changes
from fitdoctor.source.keras_objects import is_keras_model, may_define
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT302",
    slug="argument-of-the-wrong-call",
    severity=Severity.ERROR,
    raises=("TypeError", "ValueError"),
    explains=("FIT303", "FIT304", "FIT704"),
)


@CAUSE.in_source
def from_source(module: Module) -> Iterator[Finding]:
    """Report keywords that a Keras model's `fit` or `compile` does not accept."""
    for site in module.method_calls("fit", "compile", "evaluate", "predict"):
        known = SIGNATURES[site.method]
        if all(keyword.arg in known for keyword in site.node.keywords) or not _is_keras_own(module, site):
            continue
        code = module.code(site.node)
        for argument in code.arguments:
            if argument.name.isidentifier() and argument.name not in SIGNATURES[site.method]:
                if argument.name in changes("argument", f"Model.{site.method}") or _of_keras_2(
                    module, site, argument
                ):
                    continue
                yield _of_argument(module, site, code, argument, sure=False)
        yield from _spread(module, site)


def _spread(module: Module, site: CallSite) -> Iterator[Finding]:
    """Report wrong keys in `compile(**OPTIONS)`, for a literal dict that nothing modifies."""
    for keyword in site.node.keywords:
        if keyword.arg is not None or not isinstance(keyword.value, ast.Name):
            continue
        made = module.made_by(keyword.value)
        if not isinstance(made, ast.Dict) or _is_changed(module, keyword.value.id):
            continue
        for key in made.keys:
            name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
            owner = _owner(name, site.method) if name and name not in SIGNATURES[site.method] else ""
            if owner and key is not None and name not in changes("argument", f"Model.{site.method}"):
                passed = Evidence("the dict is passed here", location=module.location(site.node))
                remedy = fix(f"remove `{name}` from the dict and pass it to `{owner}`")
                yield _finding(name, site.method, module.location(key), passed, remedy)


_READS = ("get", "items", "keys", "values", "copy")


def _is_changed(module: Module, name: str) -> bool:
    """Whether the program may modify a dict: `options["x"] = …`, `options.pop(…)`."""
    for node in module.nodes(ast.Name):
        parent = module.parent(node) if node.id == name else None
        if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
            return True
        if isinstance(parent, ast.Attribute) and parent.attr not in _READS:
            return True
    return False


def _of_keras_2(module: Module, site: CallSite, argument: Argument) -> bool:
    """Whether Keras 2's `compile` still accepts the argument for graph mode."""
    of_graphs = ("target_tensors", "distribute", "sample_weight_mode")
    return module.keras == 2 and site.method == "compile" and argument.name in of_graphs


def _is_keras_own(module: Module, site: CallSite) -> bool:
    """Whether the receiver is certainly a Keras model that does not override the method."""
    return is_keras_model(module, site.receiver) and not may_define(module, site.receiver, site.method)


def _finding(
    name: str, method: str, location: Location | None, evidence: Evidence, *fixes: Fix, sure: bool = False
) -> Finding:
    owner = _owner(name, method)
    return CAUSE.finding(
        f"`{method}` does not accept `{name}`: it is an argument of `{owner}`"
        if owner
        else f"`{method}` has no argument `{name}`",
        location,
        evidence,
        *fixes,
        subject=f"argument {name} of {method}",
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
    )


def _of_argument(module: Module, site: CallSite, code: Code, argument: Argument, sure: bool) -> Finding:
    name, owner = argument.name, _owner(argument.name, site.method)
    evidence = Evidence(f"argument of `{site.method}`", name, owner and f"{owner}({name}=…)")
    fixes = _fixes(module, site, code, argument, owner)
    return _finding(name, site.method, argument.whole, evidence, *fixes, sure=sure)


def _owner(name: str, method: str) -> str:
    """Return the other method that accepts an argument of that name."""
    for other in ("compile", "fit", "evaluate"):
        if other != method and name in SIGNATURES[other]:
            return other
    return ""


def _fixes(module: Module, site: CallSite, code: Code, argument: Argument, owner: str) -> list[Fix]:
    if owner:
        return [fix(f"move `{argument.name}` to `{owner}`", _moved(module, site, code, owner))]
    # Correct all misspelled names at once: the next one would raise next.
    meant = {each.name: _meant(each.name, site.method) for each in code.arguments if each.name}
    if meant.get(argument.name):
        others = [name for name, right in meant.items() if right and name != argument.name]
        names = [argument.name, *others]
        title = f"use {listing([meant[name] for name in names])}"
        return [fix(title, *(rename_argument(code, name, meant[name]) for name in names))]
    removed = remove_argument(code, argument.name)
    if argument.name not in _OF_OPTIMIZERS or site.method != "compile":
        return [fix(f"remove `{argument.name}`", removed)]
    given = f"pass `{argument.name}` to the optimizer"
    taken = [fix(given, edits)] if (edits := _to_optimizer(code, argument)) else []
    return [*taken, unsafe(f"remove `{argument.name}` and use the optimizer's default", removed)]


def _meant(name: str, method: str) -> str:
    """Return the argument of a method that a misspelled name stands for."""
    if name in SIGNATURES[method] or not name.isidentifier() or _owner(name, method):
        return ""
    import difflib

    return next(iter(difflib.get_close_matches(name, SIGNATURES[method], n=1, cutoff=0.7)), "")


_OF_OPTIMIZERS = frozenset({"learning_rate", "lr", "weight_decay", "momentum", "clipnorm", "clipvalue"})
_OPTIMIZERS = {
    name.lower(): name
    for name in "Adam SGD RMSprop AdamW Nadam Adagrad Adadelta Adamax Ftrl Lion Adafactor".split()
}


def _to_optimizer(code: Code, argument: Argument) -> tuple[Edit, ...]:
    """Turn `optimizer="adam", learning_rate=0.01` into `optimizer=keras.optimizers.Adam(learning_rate=0.01)`."""
    optimizer = code.argument("optimizer", 0)
    name = _OPTIMIZERS.get(optimizer.text.strip("\"'").lower()) if optimizer is not None else None
    if optimizer is None or name is None or not optimizer.text.startswith(("'", '"')):
        return ()
    keras, imports = spell(code, "keras", "keras")
    setting = "learning_rate" if argument.name == "lr" else argument.name
    made = f"{keras}.optimizers.{name}({setting}={argument.text})"
    return (Edit(optimizer.location, made), *remove_argument(code, argument.name), *imports)


def _moved(module: Module, site: CallSite, code: Code, owner: str) -> tuple[Edit, ...]:
    """Move misplaced arguments to the other call on the same model, unless it has them already.

    All of them move at once: the next one would raise next.
    """
    others = [
        other
        for other in module.method_calls(owner)
        if module.segment(other.receiver) == module.segment(site.receiver) and other.function is site.function
    ]
    if len(others) != 1:
        return ()
    other = module.code(others[0].node)
    lost = [
        each
        for each in code.arguments
        if each.name not in SIGNATURES[site.method] and each.name in SIGNATURES[owner]
    ]
    taken = merged_removal(code, [each.name for each in lost])
    wanted = [each for each in lost if not _has(other, owner, each.name)]
    if not wanted:
        return taken
    text = ", ".join(f"{each.name}={each.text}" for each in wanted)
    return (*taken, *append_arguments(other, text))


def _has(code: Code, method: str, name: str) -> bool:
    """Whether a call passes an argument, by name or as the second positional one (`compile("adam", "mse")`)."""
    return code.argument(name, 1 if (method, name) == ("compile", "loss") else None) is not None


@CAUSE.rule(
    "Sequential",
    says=r"^(?:Expected `trainable` to be a boolean|Argument `name` must be a string)",
    anywhere=True,
)
def unlisted_layers(module: Module) -> Iterator[Finding]:
    """Report `Sequential(Dense(8), Dense(1))`, which passes the second layer as another argument."""
    for site in module.calls_under("keras."):
        call = site.node
        if len(call.args) < 2 or site.name.rpartition(".")[2] != "Sequential":
            continue
        second = module.origin(call.args[1])
        made = second.node if second.certain and not second.path else None
        if not isinstance(made, ast.Call) or not second.module.resolve(made.func).startswith("keras.layers."):
            continue
        first, last = module.location(call.args[0]).start, module.location(call.args[-1]).end
        inside = module.places.parentheses(call)
        if inside is not None and first.line > module.location(call.func).end_line:
            # A layer per line: the brackets go beside the parentheses.
            first, last = (module.places.between(each, each) for each in inside)
        yield CAUSE.certain(
            f"`Sequential` expects one list of layers, but receives {len(call.args)} arguments: "
            "the second one is `trainable`",
            module.location(call),
            Evidence("arguments", f"{len(call.args)} separate layers", "a list of layers"),
            fix("pass the layers as a list", (Edit(first, "["), Edit(last, "]"))),
            subject="layers of Sequential",
        )


@CAUSE.in_source
@mentions("compile", "activation")
def misspelt_in_source(module: Module, project: Project) -> Iterator[Finding]:
    """Report misspelled names of losses, metrics, optimizers and activations."""
    for each in misspelt_names(module, project):
        yield _misspelt_name(each, None, Confidence.LIKELY)


def _misspelt_name(each: Misspelt, frame: Frame | None, confidence: Confidence) -> Finding:
    location = frame.location if frame is not None else None
    edits: tuple[Edit, ...] = ()
    if each.module is not None and each.node is not None:
        location = each.module.location(each.node)
        if each.meant:
            edits = (Edit(location, each.module.segment(each.node).replace(each.name, each.meant)),)
    kind = each.kind.removesuffix(" function")
    return CAUSE.finding(
        f"Keras has no {kind} `{each.name}`" + (f": did you mean `{each.meant}`?" if each.meant else ""),
        location,
        Evidence(f"{kind} name", each.name, each.meant),
        fix(f"use `{each.meant}`", edits) if each.meant else fix(f"use the name of a Keras {kind}"),
        subject=f"{kind} {each.name}",
        confidence=confidence,
    )


@CAUSE.after_failure
def from_refused_name(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Read the unknown name from the Keras error."""
    if not failure.message.startswith(("Could not interpret", "Unknown ")):
        return
    found = refused_name(failure.message, project)
    if found is None:
        return
    unwritten = not found.meant and found.node is None and failure.called != "compile"
    if unwritten and _SAVED.search(failure.message) and found.name not in NOT_CUSTOM:
        return  # a saved model names it: FIT908
    yield _misspelt_name(found, failure.last_user_frame, Confidence.CERTAIN)


_SAVED = re.compile(r"^Unknown (?:layer|object|loss function|metric function): .* Please ensure")


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Read the argument and the function from the `TypeError`."""
    seen = unexpected_keyword(failure.message)
    if seen is None:
        return
    if seen.function not in SIGNATURES:
        yield from _misspelt(seen, failure, project)
        return
    method = seen.function
    if seen.name in changes("argument", f"Model.{method}"):
        return
    frame = failure.last_user_frame
    module = module_of(project, frame)
    spread: tuple[Edit, ...] = ()
    for site in module.method_calls(method) if module is not None and frame is not None else ():
        code = site.module.code(site.node)
        argument = code.argument(seen.name)
        if frame is not None and at_frame(site.module, site.node, frame):
            if argument is not None:
                yield _of_argument(site.module, site, code, argument, sure=True)
                return
            spread = _left_out_of_dict(site.module, site.node, seen.name)
    owner = _owner(seen.name, method)
    yield _finding(
        seen.name,
        method,
        failure.location,
        Evidence("Python rejects the argument", seen.name, fact="failure.message"),
        *([unsafe(f"do not pass `{seen.name}` to `{method}`", spread)] if spread else []),
        fix(f"move `{seen.name}` to `{owner}`" if owner else f"remove or rename `{seen.name}`"),
        sure=True,
    )


# --- misspelled constructor arguments ---------------------------------------------------------------------------------

_TAKES_ANY = frozenset({"Input", "LambdaCallback"})
"""`LambdaCallback` accepts every callback method (`on_batch_begin`, `on_test_end`) as an argument."""
_MAKERS = ("keras.layers.", "keras.optimizers.", "keras.callbacks.", "keras.losses.", "keras.metrics.")


@CAUSE.in_source
def from_constructors(module: Module) -> Iterator[Finding]:
    """Report constructor arguments that Keras does not have, a letter or two away from one that it has."""
    for site in module.calls_under(*_MAKERS):
        home, _dot, made = site.name.rpartition(".")
        if not made[:1].isupper() or made in _TAKES_ANY:
            continue
        if made not in PUBLIC_NAMES.get(home, (made,)):
            continue  # from another Keras version, whose arguments are not known
        known = ARGUMENTS | OF_KERAS_2 if module.keras == 2 else ARGUMENTS
        closed = home == "keras.callbacks" and made in CALLBACKS and module.keras == 3
        if closed:
            known = frozenset(CALLBACKS[made].split())
        if known.issuperset(keyword.arg or "" for keyword in site.node.keywords):
            continue
        code = module.code(site.node)
        taken = {argument.name for argument in code.arguments}
        for argument in code.arguments:
            if not argument.name.isidentifier() or argument.name in known:
                continue
            if argument.name in changes("argument", site.name) or knows_another_way(module, site.node):
                continue  # FIT902, or the name of another Keras
            meant = misspelt(argument.name)
            if meant and meant not in taken or closed and not meant:
                finding = _constructor(made, argument.name, meant, argument.whole, code, Confidence.LIKELY)
                if module.keras == 2 and made == "ModelCheckpoint":
                    finding = replace(
                        finding,
                        message=f"`ModelCheckpoint` ignores `{argument.name}`, which is not one of its arguments",
                        severity=Severity.WARNING,
                    )
                yield finding


def _constructor(
    made: str, name: str, meant: str, location: Location | None, code: Code | None, confidence: Confidence
) -> Finding:
    return CAUSE.finding(
        f"`{made}` has no argument `{name}`" if made else f"there is no argument `{name}`",
        location,
        Evidence(f"argument of `{made}`", name, meant),
        fix(f"use `{meant}`", rename_argument(code, name, meant) if code is not None else ())
        if meant
        else fix(f"remove `{name}`", remove_argument(code, name) if code is not None else ()),
        subject=f"argument {name} of {made}",
        confidence=confidence,
    )


def _misspelt(seen: UnexpectedKeyword, failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Find the constructor argument that a rejected name is a letter or two away from, or that a callback rejects."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    meant = misspelt(seen.name)
    if frame is None or not (meant or seen.owner in CALLBACKS):
        return
    for site in module.calls if module is not None else ():
        code = site.module.code(site.node) if at_frame(site.module, site.node, frame) else None
        argument = code.argument(seen.name) if code is not None else None
        if argument is not None and site.name.startswith("keras."):
            made = site.name.rpartition(".")[2]
            yield _constructor(made, seen.name, meant, argument.whole, code, Confidence.CERTAIN)
            return
    if not project:
        made = seen.owner or failure.called
        yield _constructor(made, seen.name, meant, frame.location, None, Confidence.LIKELY)


def _left_out_of_dict(module: Module, call: ast.Call, name: str) -> tuple[Edit, ...]:
    """Filter one option out of `fit(x, y, **options)`, leaving the dict unchanged for other users."""
    given = [word.value for word in call.keywords if word.arg is None]
    if len(given) != 1 or not isinstance(given[0], (ast.Name, ast.Attribute)):
        return ()
    options = module.segment(given[0])
    rest = f'{{name: value for name, value in {options}.items() if name != "{name}"}}'
    return (Edit(module.location(given[0]), rest),)


CAUSE.message(
    r"Expected `trainable` argument to be a boolean, but got: (?P<value>\S{1,40})",
    "Keras reads {value} as `trainable`, because the layer does not take this value by position",
    "pass the argument by its name, or remove it",
    subject="argument",
    types=("TypeError",),
)
