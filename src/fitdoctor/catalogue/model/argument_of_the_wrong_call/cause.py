"""An argument that belongs to another call, or is misspelt.

## What happens

`TypeError: TensorFlowTrainer.fit() got an unexpected keyword argument 'loss'` (or `epoch`, `metric`, `optimizer` …),
before any step.

## Why

`optimizer`, `loss`, `metrics` belong to `compile`; `epochs`, `batch_size`, `callbacks`, `validation_data` belong to
`fit`. Or the name is misspelt: `epoch` for `epochs`, `validation_set` for `validation_data`.

## Fix

Move the argument to the call that takes it, or spell it as that call does.

## Known limits

Arguments passed on as `**options`, and misspelt arguments of layers and optimizers, are seen only when they raise. Names
that older versions of Keras took are `removed-in-keras-3`.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.catalogue.keras_renames import older_arguments
from fitdoctor.catalogue.keras_signatures import SIGNATURES
from fitdoctor.catalogue.traced import at_frame, module_of
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import append_arguments, fix, merged_removal, remove_argument, rename_argument
from fitdoctor.facts import Argument, Code, FailureFacts, Unknown
from fitdoctor.failure.patterns import UnexpectedKeyword, unexpected_keyword
from fitdoctor.source.keras_objects import defines, is_keras_model
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT302",
    slug="argument-of-the-wrong-call",
    severity=Severity.ERROR,
    raises=("TypeError", "ValueError"),
    explains=("FIT303",),
)


@CAUSE.in_source
def from_source(module: Module) -> Iterator[Finding]:
    """A keyword that `fit` or `compile` of a Keras model does not take."""
    for site in module.method_calls("fit", "compile", "evaluate", "predict"):
        if not _is_keras_own(module, site):
            continue
        code = module.code(site.node)
        for argument in code.arguments:
            if argument.name.isidentifier() and argument.name not in SIGNATURES[site.method]:
                if argument.name in older_arguments(site.method):
                    continue
                yield _finding(module, site, code, argument, Confidence.LIKELY)


def _is_keras_own(module: Module, site: CallSite) -> bool:
    """Whether the receiver is surely a Keras model whose method is Keras's own."""
    receiver = _receiver(site)
    return is_keras_model(module, receiver) and not defines(module, receiver, site.method)


def _receiver(site: CallSite) -> ast.expr:
    assert isinstance(site.node.func, ast.Attribute)
    return site.node.func.value


def _finding(
    module: Module, site: CallSite, code: Code, argument: Argument, confidence: Confidence
) -> Finding:
    name, method = argument.name, site.method
    owner = _owner(name, method)
    if owner:
        message = f"`{method}` takes no `{name}`: it belongs to `{owner}`"
    else:
        message = f"`{method}` takes no argument `{name}`"
    return CAUSE.finding(
        message,
        subject=f"argument {name} of {method}",
        location=argument.whole,
        evidence=[
            Evidence(
                claim=f"an argument of `{method}`", observed=name, expected=owner and f"{owner}({name}=…)"
            )
        ],
        fixes=_fixes(module, site, code, argument, owner),
        confidence=confidence,
    )


def _owner(name: str, method: str) -> str:
    """The other method that takes an argument of that name."""
    for other in ("compile", "fit", "evaluate"):
        if other != method and name in SIGNATURES[other]:
            return other
    return ""


def _fixes(module: Module, site: CallSite, code: Code, argument: Argument, owner: str) -> list[Fix]:
    if owner:
        return [
            fix(
                f"move `{argument.name}` to `{owner}`",
                _moved(module, site, code, argument, owner),
            )
        ]
    close = difflib.get_close_matches(argument.name, SIGNATURES[site.method], n=1, cutoff=0.7)
    if close:
        return [fix(f"write `{close[0]}`", rename_argument(code, argument.name, close[0]))]
    return [fix(f"remove `{argument.name}`", remove_argument(code, argument.name))]


def _moved(module: Module, site: CallSite, code: Code, argument: Argument, owner: str) -> tuple[Edit, ...]:
    """Out of this call and, unless they are there already, into the other call on the same model.

    Whatever else belongs there goes along: it would be refused next.
    """
    others = [
        other
        for other in module.method_calls(owner)
        if module.segment(_receiver(other)) == module.segment(_receiver(site))
        and other.function is site.function
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
    """Whether a call gives an argument, by name or as the second positional one (`compile("adam", "mse")`)."""
    return code.argument(name, 1 if (method, name) == ("compile", "loss") else None) is not None


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Python names the argument and the function."""
    seen = unexpected_keyword(failure.message)
    if seen is None:
        return
    if seen.function not in SIGNATURES:
        yield from _misspelt(seen, failure, project)
        return
    method = seen.function
    if seen.name in older_arguments(method):
        return
    frame = failure.last_user_frame
    module = module_of(project, frame)
    for site in module.method_calls(method) if module is not None and frame is not None else ():
        code = site.module.code(site.node)
        argument = code.argument(seen.name)
        if argument is not None and frame is not None and at_frame(site.module, site.node, frame):
            yield _finding(site.module, site, code, argument, Confidence.CERTAIN)
            return
    owner = _owner(seen.name, method)
    yield CAUSE.finding(
        f"`{method}` takes no `{seen.name}`" + (f": it belongs to `{owner}`" if owner else ""),
        subject=f"argument {seen.name} of {method}",
        location=frame.location if frame else None,
        evidence=[Evidence(claim="Python refused the argument", observed=seen.name, fact="failure.message")],
        fixes=[fix(f"move `{seen.name}` to `{owner}`" if owner else f"remove or rename `{seen.name}`")],
        confidence=Confidence.CERTAIN,
    )


# --- misspelt in making something ---------------------------------------------------------------------------------

_COMMON = tuple(
    "units filters kernel_size strides padding activation use_bias rate pool_size data_format dilation_rate "
    "kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer kernel_constraint "
    "recurrent_dropout recurrent_activation dropout return_sequences return_state go_backwards stateful input_shape "
    "input_dim output_dim embeddings_initializer mask_zero learning_rate momentum nesterov beta_1 beta_2 epsilon "
    "weight_decay clipnorm clipvalue monitor patience min_delta restore_best_weights verbose factor cooldown "
    "save_best_only save_weights_only filepath from_logits label_smoothing shape batch_size dtype trainable".split()
)
"""Arguments that layers, optimizers, callbacks and losses are given most."""


def _misspelt(
    seen: UnexpectedKeyword, failure: FailureFacts, project: Project | Unknown
) -> Iterator[Finding]:
    """An argument of a layer, optimizer or callback that is a letter or two away from one that there is."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    near = difflib.get_close_matches(seen.name, _COMMON, n=1, cutoff=0.8)
    if frame is None or module is None or not near or near[0] == seen.name:
        return
    for site in module.calls:
        code = module.code(site.node) if at_frame(module, site.node, frame) else None
        argument = code.argument(seen.name) if code is not None else None
        if code is None or argument is None or not site.name.startswith("keras."):
            continue
        made = site.name.rpartition(".")[2]
        yield CAUSE.finding(
            f"`{made}` takes no argument `{seen.name}`",
            subject=f"argument {seen.name} of {made}",
            location=argument.whole,
            evidence=[Evidence(claim=f"an argument of `{made}`", observed=seen.name, expected=near[0])],
            fixes=[fix(f"write `{near[0]}`", rename_argument(code, seen.name, near[0]))],
            confidence=Confidence.CERTAIN,
        )
        return
