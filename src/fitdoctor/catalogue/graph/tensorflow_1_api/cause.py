"""TensorFlow 1 API in a TensorFlow 2 program.

## What happens

- `tf.Session`, `tf.ConfigProto` and `tf.variable_scope` raise `AttributeError: module 'tensorflow' has no attribute
  …`.
- `tf.compat.v1.placeholder` raises `RuntimeError: tf.placeholder() is not compatible with eager execution`.
- A session's `run` raises `The Session graph is empty`.
- After `tf.compat.v1.disable_eager_execution()`, training a Keras 3 model raises `RuntimeError: tf.data.Dataset only
  supports Python-style iteration in eager mode`.

## Why

TensorFlow 2 executes eagerly and traces functions itself, so there are no sessions to run and no placeholders to
feed. The old API is still available as `tf.compat.v1`, for programs that use it throughout. Keras 3 does not work
with it.

## Fix

Replace placeholders with `keras.Input`, `tf.get_variable` with `self.add_weight`, and `ConfigProto` with `tf.config`.
Many functions only moved: `tf.log` is now `tf.math.log`. Remove `disable_eager_execution()`.

## Known limits

A program that uses `tf.compat.v1` throughout, without Keras and `tf.compat.v1.layers`, works and is not reported.
`tf.compat.v1.reset_default_graph()` is harmless and is not reported either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.graph.kept_reads import runs_plainly
from fitdoctor.catalogue.graph.own_graphs import (
    SWITCHES,
    graph_blocks,
    makes_graphs,
    switched_off,
    trains_keras,
    uses_keras,
)
from fitdoctor.catalogue.graph.tensorflow_1_api.tensorflow_1_names import (
    CASTS,
    GONE,
    GONE_INSIDE,
    RENAMED,
    RENAMED_INSIDE,
)
from fitdoctor.catalogue.rules import certain
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Severity
from fitdoctor.edits import fix, insert_after
from fitdoctor.facts import FailureFacts, Unknown
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.failure.patterns import attribute_missing
from fitdoctor.records import dataclass
from fitdoctor.source.conditions import is_fallback, is_switched_off, knows_another_way
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT406",
    slug="tensorflow-1-api",
    severity=Severity.ERROR,
    raises=("RuntimeError", "AttributeError", "TypeError", "ValueError"),
)

_V1 = "tensorflow.compat.v1."
_FED = (f"{_V1}placeholder", f"{_V1}placeholder_with_default", f"{_V1}sparse_placeholder")
_SESSIONS = (f"{_V1}Session", f"{_V1}InteractiveSession")
_OF_GRAPHS = ("keras.backend.gradients", "tensorflow.gradients", "tensorflow.hessians")
_OF_SESSIONS = ("keras.backend.set_session", "keras.backend.get_session")
_LAST_PARTS = frozenset(name.rpartition(".")[2] for name in (*GONE, *GONE_INSIDE, *_OF_SESSIONS))
"""Checking the last part of a name is cheap; resolving the name is not."""
_NO_UPDATES = "object has no attribute 'get_updates'"
"""Keras 2 error without eager execution: only its legacy optimizers have this method."""
_WITHOUT_UPDATES = "without eager execution, only the `optimizers.legacy` optimizers of Keras 2 can train"
_NOT_EAGER = "only supports Python-style iteration in eager mode"
_MESSAGES = (
    "is not compatible with eager execution",
    "The Session graph is empty",
    "No default session is registered",
    "is not available with Keras 3",
    "not supported when eager execution is enabled",
)


@dataclass(frozen=True, eq=False)
class _Old:
    """A use of the TensorFlow 1 API that cannot work here."""

    module: Module
    node: ast.expr
    name: str
    why: str


@CAUSE.in_source
@mentions("tensorflow")
def from_source(module: Module, project: Project) -> Iterator[Finding]:
    """Report removed names, placeholders fed in eager mode, and eager execution disabled under Keras."""
    found = [] if is_fallback(module) else list(_old_uses(module, project))
    if found:
        yield _finding(found[0], found)


def _old_uses(module: Module, project: Project) -> Iterator[_Old]:
    uses = [*_gone(module), *_switches(module, project), *_fed_eagerly(module, project)]
    yield from sorted(uses, key=lambda use: (use.node.lineno, use.node.col_offset))


def _gone(module: Module) -> Iterator[_Old]:
    candidates = (node for last in _LAST_PARTS & module.attributes.keys() for node in module.attributes[last])
    for node in candidates:
        name = module.resolve(node) if isinstance(node.ctx, ast.Load) else ""
        short = name.removeprefix("tensorflow.")
        if short == "enable_v2_behavior" and "compat.v2" in module.text:
            continue  # the only one of these names that `tf.compat.v2` still has
        if short == "estimator" and module.keras == 2:
            continue  # TensorFlow has it up to 2.15
        is_gone = name != short and (short in GONE or short in GONE_INSIDE)
        if not is_gone and (name not in _OF_SESSIONS or module.keras != 3) or _is_guarded(module, node):
            continue
        if is_gone:
            first = "2.16" if short == "estimator" else "2"
            yield _Old(module, node, short, f"TensorFlow {first} has no `tf.{short}`")
        else:
            yield _Old(module, node, name, "Keras 3 has no sessions")


def _is_guarded(module: Module, node: ast.AST) -> bool:
    """Return whether the program itself checks the TensorFlow version."""
    parent = module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.Try) and parent.handlers:
            return True
        if isinstance(parent, (ast.If, ast.IfExp)):
            test = module.segment(parent.test)
            if "eager" in test or "TF1" in test.upper():
                return True
        parent = module.parent(parent)
    if knows_another_way(module, node) or is_switched_off(module, node):
        return True
    function = module.function_of(node)
    # The function handles both execution modes.
    return function is not None and "executing_eagerly" in module.segment(function.node)


def _switches(module: Module, project: Project) -> Iterator[_Old]:
    if module.keras != 3 or not uses_keras(module) or not trains_keras(project):
        return
    for site in module.calls_to(*SWITCHES[:2]):
        if not _is_guarded(module, site.node):
            short = site.name.removeprefix("tensorflow.")
            yield _Old(module, site.node, short, "Keras 3 needs eager execution to train")


def _fed_eagerly(module: Module, project: Project) -> Iterator[_Old]:
    """Find placeholders and running sessions in a program that stays in eager mode and creates no graph."""
    if switched_off(project) is not None or makes_graphs(project):
        return
    for site in module.calls_to(*_FED):
        if runs_plainly(module, site.function) and not _is_guarded(module, site.node):
            yield _Old(
                module,
                site.node,
                site.name.removeprefix("tensorflow."),
                "eager execution has no placeholders to feed",
            )
    for site in module.calls_to(*_OF_GRAPHS):
        outside_tf = module.dotted(site.node.func).startswith("keras.")
        plain = runs_plainly(module, site.function) and not _is_guarded(module, site.node)
        if plain and not (outside_tf and module.keras == 3):
            yield _Old(
                module,
                site.node,
                site.name.removeprefix("tensorflow."),
                "eager execution has no graph to differentiate",
            )
    for site in module.calls_to(*_SESSIONS):
        if _is_run(module, site.node) and not _is_guarded(module, site.node):
            yield _Old(
                module,
                site.node,
                site.name.removeprefix("tensorflow."),
                "eager execution has no graph for a session to run",
            )
    for site in module.calls_under(f"{_V1}layers."):
        if module.keras == 3:
            yield _Old(
                module, site.node, site.name.removeprefix("tensorflow."), "it is not available with Keras 3"
            )


def _is_run(module: Module, call: ast.Call) -> bool:
    """Return whether the session runs something: `sess.run(…)`."""
    bound = {
        (node.id, module.index.lookup(node.id, module.scope(node)))
        for node in ast.walk(module.statement(call))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    receivers = (
        site.receiver for site in module.method_calls("run") if isinstance(site.node.func, ast.Attribute)
    )
    return any(
        isinstance(name, ast.Name) and (name.id, module.index.lookup(name.id, module.scope(name))) in bound
        for name in receivers
    )


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project | Unknown) -> Iterator[Finding]:
    """Report removed or graph-only names, or a Keras failure after eager execution was disabled."""
    frame = failure.last_user_frame
    evidence = [raised_here(failure)]
    module = module_of(project, frame)
    if _names_old(failure):
        uses = list(_old_uses(module, project)) if module is not None and isinstance(project, Project) else []
        here = [use for use in uses if frame is not None and at_frame(use.module, use.node, frame)]
        if here:
            yield certain(_finding(here[0], uses), failure)
            return
        yield CAUSE.finding(
            "this is TensorFlow 1 API, which does not work with eager execution",
            frame.location if frame is not None else None,
            *evidence,
            _advice(failure),
            subject="TensorFlow 1 API",
            confidence=Confidence.CERTAIN,
        )
        return
    switch = switched_off(project) if isinstance(project, Project) else None
    if switch is not None and _is_of_keras(failure):
        where, site = switch
        old = _Old(
            where,
            site.node,
            site.name.removeprefix("tensorflow."),
            _WITHOUT_UPDATES if _NO_UPDATES in failure.message else "Keras 3 needs eager execution to train",
        )
        proof = _NOT_EAGER in failure.message or _NO_UPDATES in failure.message
        yield certain(
            _finding(old, [old]), failure, confidence=Confidence.CERTAIN if proof else Confidence.LIKELY
        )
    elif switch is None and _NOT_EAGER in failure.message and not _makes_graphs(project):
        yield CAUSE.finding(
            "Keras 3 cannot train because eager execution is disabled",
            frame.location if frame is not None else None,
            *evidence,
            fix("remove `disable_eager_execution()`, `disable_v2_behavior()` and `tf.Graph().as_default()`"),
            subject="TensorFlow 1 API",
        )


def _makes_graphs(project: Project | Unknown) -> bool:
    return isinstance(project, Project) and any(
        True for module in project.modules for _ in graph_blocks(module)
    )


_GONE_PACKAGES = re.compile(
    r"No module named '(?:tensorflow\.(?:contrib|examples|flags|app)|tensorflow_core)\b"
)


def _names_old(failure: FailureFacts) -> bool:
    if any(words in failure.message for words in _MESSAGES) or _GONE_PACKAGES.search(failure.message):
        return True
    missing = attribute_missing(failure.message)
    if missing is None or missing.kind != "module":
        return False
    part = missing.owner.rpartition("tensorflow")[2].removeprefix(".")
    part = part.rpartition("v2.")[2] if "v2." in part else part
    if missing.owner.endswith("keras.backend"):
        return missing.name in ("set_session", "get_session")
    if not missing.owner.startswith("tensorflow"):
        return False
    return missing.name in GONE if not part else f"{part.rpartition('.')[2]}.{missing.name}" in GONE_INSIDE


def _is_of_keras(failure: FailureFacts) -> bool:
    return _NOT_EAGER in failure.message or any(
        {"keras", "tf_keras"} & set(frame.path.replace("\\", "/").split("/")) for frame in failure.frames
    )


def _finding(old: _Old, every: list[_Old]) -> Finding:
    module = old.module
    others = [use for use in every if use is not old and use.node.lineno != old.node.lineno]
    more: list[Evidence] = []
    if others:
        numbers = sorted({use.node.lineno for use in others})[:8]
        lines = ("line " if len(numbers) == 1 else "lines ") + ", ".join(str(number) for number in numbers)
        more = [Evidence("more TensorFlow 1 API in this file", lines)]
    return CAUSE.finding(
        f"`{module.segment(old.node)[:60]}` is TensorFlow 1 API: {old.why}",
        module.location(old.node),
        *more,
        *_fixes(old, every),
        subject="TensorFlow 1 API",
    )


# --- fixes --------------------------------------------------------------------------------------------------------


def _fixes(old: _Old, every: list[_Old]) -> list[Fix]:
    renamed = [_renamed(use) for use in every]
    if all(renamed):
        edits = tuple(dict.fromkeys(edit for use in renamed for edit in use))
        return [fix("use the TensorFlow 2 names", edits)]
    if old.name.endswith(("disable_eager_execution", "disable_v2_behavior")):
        return [_left_out(old)]
    # `tf.compat.v1` has neither of the two.
    gone = any(use.name.removeprefix("tensorflow.").startswith(("contrib", "estimator")) for use in every)
    older = [_as_before(old.module)] if not gone and not uses_keras(old.module) else []
    if old.name.rpartition(".")[2] == "placeholder":
        given = _as_input(old)
        return [*older, *([given] if given is not None else []), fix("use a `keras.Input` instead")]
    advice = _ADVICE.get(old.name.rpartition(".")[2], "rewrite it with TensorFlow 2 functions")
    if "session" in advice or "memory growth" in advice:
        from fitdoctor.source.session_edits import run_eagerly, without_session

        remedy = without_session(old.module, old.node, advice)
        eager = run_eagerly(old.module, old.node) if not remedy.edits and uses_keras(old.module) else ()
        if eager:
            inside = [edit.location for edit in eager]
            rest = [edit for use in every for edit in _renamed(use) if edit.location not in inside]
            remedy = fix("remove the session, and compute its tensors directly", eager, rest)
        return [remedy] if remedy.edits else [*older, remedy]
    return [*older, fix(advice)]


_ADVICE = {
    "ConfigProto": "set memory growth with `tf.config.experimental.set_memory_growth` and remove the session",
    "GPUOptions": "set memory growth with `tf.config.experimental.set_memory_growth` and remove the session",
    "Session": "remove the session: TensorFlow 2 executes eagerly",
    "InteractiveSession": "remove the session: TensorFlow 2 executes eagerly",
    "set_session": "remove the session: Keras 3 does not use sessions",
    "get_session": "remove the session: Keras 3 does not use sessions",
    "variable_scope": "create the weights with `self.add_weight` in `build`",
    "get_variable": "create the weight with `self.add_weight` in `build`",
    "layers": "use the layers in `tf.keras.layers`",
    "gradients": "compute the gradients with a `tf.GradientTape`",
    "estimator": "use a Keras model: TensorFlow 2.16 removed the estimators",
    "contrib": "use `tf.keras`, or the library that replaces this part of `tf.contrib`",
    "global_variables_initializer": "remove it: variables are initialized when they are created",
}


def _advice(failure: FailureFacts) -> Fix:
    missing = attribute_missing(failure.message)
    name = missing.name if missing is not None else ""
    new = RENAMED.get(name)
    if new is not None:
        return fix(f"use `tf.{new}`")
    default = "rewrite it with TensorFlow 2 functions: `keras.Input` replaces a placeholder, and no session is needed"
    return fix(_ADVICE.get(name, default))


def _as_before(module: Module) -> Fix:
    """Switch to `tf.compat.v1`, for programs that do not use Keras."""
    title = (
        "run it in TensorFlow 1 mode: `import tensorflow.compat.v1 as tf`, then `tf.disable_v2_behavior()`"
    )
    for statement in module.nodes(ast.Import):
        alias = statement.names[0]
        if (
            alias.name == "tensorflow"
            and len(statement.names) == 1
            and module.parent(statement) is module.tree
        ):
            name = alias.asname or "tensorflow"
            text = f"import tensorflow.compat.v1 as {name}"
            edits = insert_after(module.code(statement), f"{name}.disable_v2_behavior()")
            return fix(title, (Edit(module.location(statement), text),), edits)
    return fix(title)


def _renamed(old: _Old) -> tuple[Edit, ...]:
    module, node = old.module, old.node
    parent = module.parent(node)
    if old.name in CASTS and isinstance(parent, ast.Call) and parent.func is node and len(parent.args) == 1:
        tf, close = module.segment(node).rpartition(".")[0], module.code(parent).close_paren
        if close is None:
            return ()
        return (Edit(module.location(node), f"{tf}.cast"), Edit(close, f", {tf}.{CASTS[old.name]}"))
    new = RENAMED.get(old.name) or RENAMED_INSIDE.get(old.name)
    text = module.segment(node)
    if new is None or not text.endswith("." + old.name):
        return ()
    return (Edit(module.location(node), text.removesuffix(old.name) + new),)


def _left_out(old: _Old) -> Fix:
    """Delete the line that disables eager execution."""
    module = old.module
    statement = module.statement(old.node)
    title = "remove this call"
    return fix(title, (delete_lines(module, statement),))


def _as_input(old: _Old) -> Fix | None:
    """Replace `placeholder(tf.float32, shape=(None, 4))` with `keras.Input(shape=(4,))`."""
    module, call = old.module, old.node
    keras = dict(module.spellings).get("keras")
    if not isinstance(call, ast.Call) or keras is None:
        return None
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    shape = given.get("shape") or (call.args[1] if len(call.args) > 1 else None)
    if not isinstance(shape, (ast.Tuple, ast.List)) or not shape.elts or not _is_none(shape.elts[0]):
        return None
    sizes = [module.segment(size) for size in shape.elts[1:]]
    inner = ", ".join(sizes) + ("," if len(sizes) == 1 else "")
    name = f", name={module.segment(given['name'])}" if "name" in given else ""
    return fix("use a `keras.Input`", (Edit(module.location(call), f"{keras}.Input(shape=({inner}){name})"),))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


CAUSE.message(
    r"Only call `(?P<name>\w+)` with named arguments",
    "`{name}` is called as in TensorFlow before 1.0: with positional arguments",
    "name the arguments: `labels=…, logits=…`",
    subject="TensorFlow 1 API",
    types=("ValueError",),
    confidence=Confidence.CERTAIN,
)
