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
from collections.abc import Iterable, Iterator

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
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.failed_line import at_frame, module_of, raised_here
from fitdoctor.failure.patterns import attribute_missing
from fitdoctor.records import dataclass
from fitdoctor.source.conditions import is_fallback, is_switched_off, knows_another_way
from fitdoctor.source.definitions import argument_of
from fitdoctor.source.index import Scope
from fitdoctor.source.line_edits import delete_lines
from fitdoctor.source.module import CallSite, Module
from fitdoctor.source.project import Project
from fitdoctor.source.session_edits import run_eagerly, without_session

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
_GONE_FROM_V1 = ("estimator", "contrib")
"""Names that `tf.compat.v1` does not have either."""
_NO_UPDATES = "object has no attribute 'get_updates'"
"""Keras 2 error without eager execution: only its legacy optimizers have this method."""
_NEEDS_EAGER = "Keras 3 needs eager execution to train"
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
        if short.removeprefix("compat.v1.") in _GONE_FROM_V1:
            short = short.removeprefix("compat.v1.")
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
    function, parent = module.function_of(node), module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.Try) and parent.handlers:
            return True
        test = module.segment(parent.test) if isinstance(parent, (ast.If, ast.IfExp)) else ""
        if "eager" in test or "TF1" in test.upper():
            return True
        parent = module.parent(parent)
    # A function that asks handles both execution modes.
    asks = function is not None and "executing_eagerly" in module.segment(function.node)
    return asks or knows_another_way(module, node) or is_switched_off(module, node)


def _switches(module: Module, project: Project) -> Iterator[_Old]:
    if module.keras == 3 and uses_keras(module) and trains_keras(project):
        yield from _of_calls(module.calls_to(*SWITCHES[:2]), _NEEDS_EAGER)


def _of_calls(sites: Iterable[CallSite], why: str) -> Iterator[_Old]:
    for site in sites:
        if not _is_guarded(site.module, site.node):
            yield _Old(site.module, site.node, site.name.removeprefix("tensorflow."), why)


def _fed_eagerly(module: Module, project: Project) -> Iterator[_Old]:
    """Find placeholders and running sessions in a program that stays in eager mode and creates no graph."""
    if switched_off(project) is not None or makes_graphs(project):
        return
    plain = [
        site
        for site in module.calls_to(*_FED, *_OF_GRAPHS)
        if runs_plainly(module, site.function) and _session_block(module, site.node) is None
    ]
    fed = [site for site in plain if site.name in _FED]
    # Keras 3 has no `gradients` at all.
    derived = [
        site
        for site in plain
        if site.name in _OF_GRAPHS
        and not (module.keras == 3 and module.dotted(site.node.func).startswith("keras."))
    ]
    run = [site for site in module.calls_to(*_SESSIONS) if _is_run(module, site.node)]
    yield from _of_calls(fed, "eager execution has no placeholders to feed")
    yield from _of_calls(derived, "eager execution has no graph to differentiate")
    yield from _of_calls(run, "eager execution has no graph for a session to run")
    for site in module.calls_under(f"{_V1}layers.") if module.keras == 3 else ():
        yield _Old(
            module, site.node, site.name.removeprefix("tensorflow."), "it is not available with Keras 3"
        )


def _session_block(module: Module, node: ast.AST) -> ast.With | None:
    """Return the `with` block of a session around a node: in it, TensorFlow builds a graph."""
    for block in module.parents(node):
        if isinstance(block, ast.With):
            if any(module.called(item.context_expr) in _SESSIONS for item in block.items):
                return block
    return None


def _is_run(module: Module, call: ast.Call) -> bool:
    """Return whether the session runs something (`sess.run(…)`) that its own `with` block did not create."""

    def named(node: ast.AST) -> tuple[str, Scope | None]:
        name = getattr(node, "id", "")
        return name, module.index.lookup(name, module.scope(node))

    around = ast.walk(module.statement(call))
    bound = {named(node) for node in around if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    block = _session_block(module, call)
    created = {
        named(node) for node in ast.walk(block or call) if isinstance(getattr(node, "ctx", None), ast.Store)
    }
    return any(
        block is None or any(named(each) not in created for each in _fetched(module, site))
        for site in module.method_calls("run")
        if named(site.receiver) in bound
    )


def _fetched(module: Module, run: CallSite) -> Iterator[ast.Name]:
    """Yield the variables in the first argument of `sess.run`."""
    for node in ast.walk(run.argument("fetches", 0) or run.node.func):
        if isinstance(node, ast.Name) and not module.resolve(node) and node is not run.receiver:
            yield node


@CAUSE.after_failure
def from_failure(failure: FailureFacts, project: Project) -> Iterator[Finding]:
    """Report removed or graph-only names, or a Keras failure after eager execution was disabled."""
    frame = failure.last_user_frame
    module = module_of(project, frame)
    if _names_old(failure):
        uses = list(_old_uses(module, project)) if module is not None and project else []
        here = [use for use in uses if frame is not None and at_frame(use.module, use.node, frame)]
        if here:
            yield certain(_finding(here[0], uses), failure)
        else:
            problem = "this is TensorFlow 1 API, which does not work with eager execution"
            yield _from_words(failure, problem, _advice(failure), Confidence.CERTAIN)
        return
    switch = switched_off(project) if project else None
    proof = _NOT_EAGER in failure.message or _NO_UPDATES in failure.message
    if switch is not None and _is_of_keras(failure):
        why = _WITHOUT_UPDATES if _NO_UPDATES in failure.message else _NEEDS_EAGER
        old = _Old(switch[0], switch[1].node, switch[1].name.removeprefix("tensorflow."), why)
        confidence = Confidence.CERTAIN if proof else Confidence.LIKELY
        yield certain(_finding(old, [old]), failure, confidence=confidence)
    elif switch is None and _NOT_EAGER in failure.message:
        graphs = project and any(True for each in project.modules for _ in graph_blocks(each))
        if not graphs:
            problem = "Keras 3 cannot train because eager execution is disabled"
            switches = "`disable_eager_execution()`, `disable_v2_behavior()` and `tf.Graph().as_default()`"
            yield _from_words(failure, problem, fix(f"remove {switches}"), Confidence.LIKELY)


def _from_words(failure: FailureFacts, problem: str, remedy: Fix, confidence: Confidence) -> Finding:
    evidence = raised_here(failure)
    return CAUSE.finding(
        problem, evidence.location, evidence, remedy, subject="TensorFlow 1 API", confidence=confidence
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
    part = "" if part == "compat.v1" and missing.name in _GONE_FROM_V1 else part
    if missing.owner.endswith("keras.backend"):
        return missing.name in ("set_session", "get_session")
    if not missing.owner.startswith("tensorflow"):
        return False
    if not part:
        return missing.name.lower() in {name.lower() for name in GONE}  # also a misspelt one: `tf.session`
    return f"{part.rpartition('.')[2]}.{missing.name}" in GONE_INSIDE


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
        return [fix("remove this call", (delete_lines(old.module, old.module.statement(old.node)),))]
    # `tf.compat.v1` has neither of the two.
    gone = any(use.name.removeprefix("tensorflow.").startswith(("contrib", "estimator")) for use in every)
    older = [_as_before(old.module)] if not gone and not uses_keras(old.module) else []
    if old.name.rpartition(".")[2] == "placeholder":
        # What a session is fed, TensorFlow operations compute with, which a `keras.Input` does not reach.
        given = _as_input(old) if "Session(" not in old.module.text else None
        return [*older, *([given] if given is not None else []), fix("use a `keras.Input` instead")]
    advice = _ADVICE.get(old.name.rpartition(".")[2], "rewrite it with TensorFlow 2 functions")
    if "session" in advice or "memory growth" in advice:
        remedy = without_session(old.module, old.node, advice)
        eager = run_eagerly(old.module, old.node) if not remedy.edits and uses_keras(old.module) else ()
        if eager:
            inside = [edit.location for edit in eager]
            rest = [edit for use in every for edit in _renamed(use) if edit.location not in inside]
            remedy = fix("remove the session, and compute its tensors directly", eager, rest)
        return [remedy] if remedy.edits else [*older, remedy]
    return [*older, fix(advice)]


_ADVICE = {
    "AdamOptimizer": "use `tf.keras.optimizers.Adam`",
    "RMSPropOptimizer": "use `tf.keras.optimizers.RMSprop`",
    "GradientDescentOptimizer": "use `tf.keras.optimizers.SGD`",
    "MomentumOptimizer": "use `tf.keras.optimizers.SGD` with `momentum`",
    "AdagradOptimizer": "use `tf.keras.optimizers.Adagrad`",
    "enable_eager_execution": "remove this call: TensorFlow 2 executes eagerly",
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
    name = next((each for each in _ADVICE if each.lower() == name.lower()), name)
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
        alone = len(statement.names) == 1 and module.parent(statement) is module.tree
        if alone and alias.name == "tensorflow":
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


def _as_input(old: _Old) -> Fix | None:
    """Replace `placeholder(tf.float32, shape=(None, 4))` with `keras.Input(shape=(4,))`."""
    module, call, keras = old.module, old.node, dict(old.module.spellings).get("keras")
    match argument_of(call, "shape", 1) if isinstance(call, ast.Call) and keras is not None else None:
        case (
            ast.Tuple(elts=[ast.Constant(value=None), *sizes])
            | ast.List(elts=[ast.Constant(value=None), *sizes])
        ):
            inner = ", ".join(module.segment(size) for size in sizes) + ("," if len(sizes) == 1 else "")
            named = argument_of(call, "name") if isinstance(call, ast.Call) else None
            name = f", name={module.segment(named)}" if named is not None else ""
            text = f"{keras}.Input(shape=({inner}){name})"
            return fix("use a `keras.Input`", (Edit(module.location(call), text),))
    return None


CAUSE.message(
    r"Only call `(?P<name>\w+)` with named arguments",
    "`{name}` is called as in TensorFlow before 1.0: with positional arguments",
    "name the arguments: `labels=…, logits=…`",
    subject="TensorFlow 1 API",
    types=("ValueError",),
    confidence=Confidence.CERTAIN,
)
