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
import functools
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.model.argument_of_the_wrong_call.misspelt_names import (
    Misspelt,
    misspelt_names,
    refused_name,
)
from fitdoctor.catalogue.rules import certain
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
from fitdoctor.facts import Argument, Code, FailureFacts
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
    raises=("TypeError", "ValueError", "AttributeError", "ImportError"),
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
        yield _misspelt_name(each, None)


def _misspelt_name(each: Misspelt, location: Location | None) -> Finding:
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
    yield certain(_misspelt_name(found, failure.location), failure)


_ABSENT = re.compile(
    r"module '(?:tensorflow\.)?(?P<module>keras(?:\.\w+)*)' has no attribute '(?P<name>\w+)'"
    r"|cannot import name '?(?P<part>\w+)'? from '(?:tensorflow\.)?(?P<package>keras(?:\.\w+)*)'"
)
_NOT_PUBLIC = re.compile(
    r"(?<=keras)\.(?:_tf_keras\.keras|api(?:\._v\d)?(?:\.keras)?|src|_v2\.keras)(?=\.|$)"
)


@CAUSE.after_failure
def from_absent_name(failure: FailureFacts) -> Iterator[Finding]:
    """Report a layer, loss or other public name that is misspelt: `layers.Dence`."""
    absent = _ABSENT.search(failure.message) if failure.type in ("AttributeError", "ImportError") else None
    if absent is None:
        return
    module = _NOT_PUBLIC.sub("", absent["module"] or absent["package"])
    name, public = absent["name"] or absent["part"], PUBLIC_NAMES.get(module, ())
    # `AvgPool` lacks its number of axes: it is not misspelt.
    import difflib

    by_case = {each.lower(): each for each in public if abs(len(each) - len(name)) < 2}
    close = difflib.get_close_matches(name.lower(), by_case, 1, _ALIKE)
    if not close or name in changes("name", module) or name in public:
        return
    meant = by_case[close[0]]
    yield CAUSE.finding(
        f"`{module}` has no `{name}`: did you mean `{meant}`?",
        failure.location,
        Evidence("name", name, meant),
        fix(f"use `{meant}`"),
        subject=f"name {name}",
    )


_ON_MODEL = re.compile(r"^'(?:Sequential|Functional|Model)' object has no attribute '(?P<name>[a-z][a-z_]*)'")
_OF_OTHER_MODELS = {
    "train": "fit", "learn": "fit", "fit_transform": "fit", "partial_fit": "train_on_batch", "test": "evaluate",
    "score": "evaluate", "transform": "predict", "forecast": "predict", "inference": "predict",
}  # fmt: skip
"""What the models of other libraries call a method, and what Keras calls it."""
_OF_HISTORY = ("history", "epoch", "epochs", "params")
_METHODS = (
    *(
        "compile",
        "fit",
        "evaluate",
        "predict",
        "summary",
        "save",
        "save_weights",
        "load_weights",
        "get_layer",
    ),
    *(
        "layers",
        "weights",
        "trainable_weights",
        "trainable_variables",
        "get_weights",
        "set_weights",
        "inputs",
    ),
    *("outputs", "input_shape", "output_shape", "train_on_batch", "predict_on_batch", "metrics_names"),
)


@CAUSE.after_failure
def from_absent_method(failure: FailureFacts) -> Iterator[Finding]:
    """Report a method that no Keras model has: a misspelled one, that of another library, or what `fit` returns."""
    absent = _ON_MODEL.match(failure.message) if failure.type == "AttributeError" else None
    if absent is None or absent["name"] in changes("attribute", "Model"):
        return
    import difflib

    name = absent["name"]
    meant = _OF_OTHER_MODELS.get(name) or next(iter(difflib.get_close_matches(name, _METHODS, 1, 0.8)), "")
    if name in _OF_HISTORY:
        problem = f"`{name}` belongs to the `History` that `fit` returns, but this is the model"
        remedy = f"keep what `fit` returns: `history = model.fit(…)`, then `history.{name.removesuffix('s')}`"
    elif meant and name not in _METHODS:
        problem, remedy = f"a Keras model has no `{name}`: did you mean `{meant}`?", f"use `{meant}`"
    else:
        return
    yield CAUSE.finding(
        problem, failure.location, Evidence("name", name, meant), fix(remedy), subject=f"name {name}"
    )


_ALIKE = 0.86
"""How similar two names are of which one is the other, misspelt."""
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
        Evidence("Python rejects the argument", seen.name),
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
                finding = _constructor(made, argument.name, meant, argument.whole, code)
                if module.keras == 2 and made == "ModelCheckpoint":
                    finding = replace(
                        finding,
                        message=f"`ModelCheckpoint` ignores `{argument.name}`, which is not one of its arguments",
                        severity=Severity.WARNING,
                    )
                yield finding


def _constructor(
    made: str, name: str, meant: str, location: Location | None, code: Code | None = None
) -> Finding:
    return CAUSE.finding(
        f"`{made}` has no argument `{name}`" if made else f"there is no argument `{name}`",
        location,
        Evidence(f"argument of `{made}`", name, meant),
        fix(f"use `{meant}`", rename_argument(code, name, meant) if code is not None else ())
        if meant
        else fix(f"remove `{name}`", remove_argument(code, name) if code is not None else ()),
        subject=f"argument {name} of {made}",
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
            yield certain(_constructor(made, seen.name, meant, argument.whole, code), failure)
            return
    of_class = seen.function in ("", "__init__") or seen.function[:1].isupper()
    if not project and of_class:
        made = seen.owner or failure.called
        yield _constructor(made, seen.name, meant, frame.location)


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


# --- which call takes an argument -------------------------------------------------------------------------------------

ARGUMENTS = frozenset(
    """activation activity_regularizer adam_beta_1 adam_beta_2 adam_lr_ratio adam_weight_decay add_history add_progbar
    addition_factor all_ops allow_last_axis_squeeze alpha alpha_constraint alpha_initializer alpha_regularizer
    amsgrad antialias append apply_class_balancing arguments attention_axes autocast average axes axis backup_dir
    backward_layer baseline batch_input_shape batch_shape batch_size beta beta_1 beta_2 beta_2_decay beta_constraint
    beta_initializer beta_regularizer bias_axes bias_constraint bias_initializer bias_regularizer bin_boundaries
    bins boundaries bounding_box_format brightness_factor call_endpoint call_fn call_training_endpoint callbacks
    cell cells center centered chain_depth class_aggregation class_id clip_limit clip_threshold clipnorm clipvalue
    confusion_matrix_cond contrast_factor cooldown crop_to_aspect_ratio cropping curve cycle data_format decay
    decay_rate decay_steps default_optimizer delete_checkpoint delta depth_multiplier depthwise_constraint
    depthwise_initializer depthwise_regularizer dilation_rate dims directory distribution double_checkpoint dropout
    dtype dynamic_growth_steps ema_momentum ema_overwrite_frequency embeddings_constraint embeddings_freq
    embeddings_initializer embeddings_metadata embeddings_regularizer encoding end_learning_rate epsilon epsilon_1
    epsilon_2 equation exclude_embeddings exclude_layers expand_dims factor fft_length field filename filepath
    fill_mode fill_value filters first_decay_steps flash_attention fn frame_length frame_step from_logits
    from_sorted_ids function gain gamma gamma_constraint gamma_initializer gamma_regularizer global_clipnorm
    go_backwards gptq_unpacked_column_size gradient_accumulation_steps groups head_dim headers height height_factor
    histogram_freq hue_factor idf_weights ignore_class init_fn initial_accumulator_value initial_learning_rate
    initial_scale initial_value_threshold inner_optimizer input_axes input_dim input_length input_shape input_tensor
    interpolation invert k keepdims kernel_constraint kernel_initializer kernel_regularizer kernel_size key_dim l1
    l1_regularization_strength l2 l2_regularization_strength l2_shrinkage_regularization_strength label_smoothing
    label_weights layer layers learning_rate learning_rate_power log_dir logit_soft_cap lora_alpha lora_rank
    loss_scale_factor lr m_mul mag_exp margin mask mask_token mask_value mask_zero max_freq max_ndim max_number
    max_to_keep max_tokens max_value maxval mean merge_mode method min_delta min_freq min_lr min_ndim min_power
    minval mode model module momentum monitor moving_mean_initializer moving_variance_initializer multi_label muon_a
    muon_b muon_c n name native_serialization_platforms ndim negative_slope nesterov ngrams noise_shape normalize
    ns_steps num_bins num_chains num_classes num_heads num_key_value_heads num_labels num_mel_bins num_oov_indices
    num_ops num_query_heads num_regressors num_thresholds num_tokens offset on_epoch_begin on_epoch_end
    on_train_batch_begin on_train_batch_end on_train_begin on_train_end oov_method oov_token optimizer_map optional
    output_axes output_dim output_mode output_padding output_sequence_length output_shape output_size
    pad_to_aspect_ratio pad_to_max_tokens padding params path patience periodic pointwise_constraint
    pointwise_initializer pointwise_regularizer pool_dimensions pool_mode pool_size power power_iterations
    power_to_db precision profile_batch q quantization_config ragged raise_error rank rate recall
    recurrent_activation recurrent_constraint recurrent_dropout recurrent_initializer recurrent_regularizer
    reduction ref_power relative_step remove_diagonal renorm renorm_clipping renorm_momentum reset_after
    restore_best_weights return_sequences return_state reverse_dtype rho rms_rate root salt sampling_rate
    saturation_factor save_best_only save_freq save_on_background save_weights_only scale scaling schedule
    score_mode seed send_as_json sensitivity separator sequence_length sequence_stride shape shared_axes side sigma
    size sliding_window sparse sparse_y_pred sparse_y_true specificity split staircase standardize start_from_epoch
    state stateful stddev strides summation_method swap_on_epoch synchronized t_mul target_class_ids target_shape
    threshold threshold_factor thresholds tie_weights tile_grid_size top_db top_k trainable unit_forget_bias units
    unroll update_freq use_bias use_cudnn use_ema use_gate use_scale value value_dim value_range values variables
    variance verbose vocabulary vocabulary_dtype warmup_steps warmup_target weight_decay weights width width_factor
    window write_graph write_images write_steps_per_second x_factor y_factor zero_output_for_mask""".split()
)
"""For every public class of Keras 3.15, plus the Keras 2 arguments that it still accepts."""
OF_KERAS_2 = frozenset(
    """batch_size constraint embeddings_data embeddings_layer_names epsilon load_weights_on_restart max_values options
    period vocabulary_size write_grads""".split()
)
"""Further arguments that Keras 2 accepts, most of them for even older programs."""

CALLBACKS = {
    "BackupAndRestore": "backup_dir save_freq double_checkpoint delete_checkpoint",
    "CSVLogger": "filename separator append",
    "EarlyStopping": "monitor min_delta patience verbose mode baseline restore_best_weights start_from_epoch",
    "LearningRateScheduler": "schedule verbose",
    "ModelCheckpoint": "filepath monitor verbose save_best_only save_weights_only mode save_freq initial_value_threshold",
    "TensorBoard": "log_dir histogram_freq write_graph write_images write_steps_per_second update_freq profile_batch "
    "embeddings_freq embeddings_metadata",
}
"""All arguments of the callbacks of Keras 3.15 that accept no others."""


@functools.cache
def misspelt(name: str) -> str:
    """Return the argument that a name is a letter or two away from; "" if it exists or resembles none."""
    if name in ARGUMENTS:
        return ""
    import difflib

    near = difflib.get_close_matches(name, sorted(ARGUMENTS), n=1, cutoff=0.8)
    return near[0] if near and abs(len(near[0]) - len(name)) <= 2 else ""
