"""Id without a row in the Embedding.

## What happens

`Embedding(input_dim=7)` has rows for the ids 0 to 6. An id of 7 ends the training at the first batch that contains
it, with a `Graph execution error`: `indices[3,0] = 7 is not in [0, 7)`.

## Why

Ids start at 1, an id reserved for padding or unknown words was not counted, or raw ids (of users or items) are used
although `input_dim` is their count: 50 users whose ids go up to 1999.

## Fix

Set `input_dim` to the largest id plus 1. Renumber raw ids with large gaps first (`np.unique(ids,
return_inverse=True)`, `IntegerLookup`), and use the same numbering for training and validation.

## Known limits

For a subclassed model, the lookup is known before `fit` only if `call` passes its argument, or a part of it,
directly to the Embedding. `lint` detects one case: `len(tokenizer.word_index)` rows for a Keras tokenizer without
`num_words`, which numbers the words from 1. Negative ids raise nothing: see FIT115 (`embedding-fed-floats`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.inputs.embeddings import Lookup, embeddings, lookups
from fitdoctor.catalogue.knowledge.data.data_trail import node_of, origin_of
from fitdoctor.catalogue.knowledge.models.size_sources import decided_size
from fitdoctor.catalogue.words import number, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, replace_code, set_argument, wrap
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    LayerFacts,
    ModelFacts,
    Statistics,
    Unknown,
)
from fitdoctor.failure.patterns import index_out_of_range
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT113",
    slug="embedding-index-out-of-range",
    severity=Severity.ERROR,
    aspect="range",
    raises="InvalidArgumentError",
)


@CAUSE.in_source
@mentions("Embedding")
@CAUSE.before_fit
def from_data(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report an id that is not below `input_dim`."""
    short = list(_too_small(lookups(model, data, project)))
    for lookup, statistics, rows in short:
        highest = int(statistics.maximum or 0)
        row = statistics.first_maximum
        whole = fit.steps_per_epoch is None and data.role == "training"
        # XLA does not check the id and reads another row.
        yield CAUSE.finding(
            f"`{lookup.array.path}` contains ids up to {highest}, but the Embedding `{lookup.layer.name}` "
            f"has {rows} rows: ids 0 to {rows - 1}",
            _line(lookup.layer, lookup.array, project),
            Evidence(
                f"id {highest}" + (f" appears in row {row:,}" if row is not None else " has no row"),
                f"{number(statistics.minimum or 0)}..{highest}",
                f"0..{rows - 1}",
                fact="data.x.statistics",
                location=place(lookup.array.code, lookup.array.use),
            ),
            Evidence("the number of rows is set here", location=place(lookup.layer.code)),
            *_fixes(lookup, short, project),
            subject=f"ids of {lookup.layer.name}",
            confidence=Confidence.CERTAIN if whole else Confidence.LIKELY,
            severity=Severity.WARNING if model.jit_compile else Severity.ERROR,
        )


@CAUSE.in_source
@mentions("word_index")
def from_tokenizer(module: Module) -> Iterator[Finding]:
    """Report `Embedding(len(tokenizer.word_index), …)`: the tokenizer numbers the words from 1."""
    if "texts_to_sequences" not in module.text or _shifts_down(module):
        return
    for site in module.calls_to("keras.layers.Embedding"):
        given = site.argument("input_dim", 0)
        count = module.origin(given) if given is not None else None
        if count is None or count.module is not module or not _counts_words(module, count.node):
            continue
        yield CAUSE.finding(
            "the Embedding has one row per word, but the tokenizer numbers the words from 1",
            module.location(count.node),
            Evidence(
                "the largest id equals the number of words",
                "1..number of words",
                "0..number of words - 1",
                location=module.location(site.node),
            ),
            fix("add a row for id 0", wrap(module.code(count.node), "{} + 1")),
            subject="input_dim of the Embedding",
        )


def _shifts_down(module: Module) -> bool:
    """Whether the module subtracts 1 anywhere, perhaps from the ids, which then start at 0."""
    changes: list[tuple[ast.operator, ast.expr]] = [
        *((node.op, node.right) for node in module.nodes(ast.BinOp)),
        *((node.op, node.value) for node in module.nodes(ast.AugAssign)),
    ]
    return any(
        isinstance(operator, ast.Sub) and isinstance(by, ast.Constant) and by.value == 1
        for operator, by in changes
    )


def _counts_words(module: Module, node: ast.AST) -> bool:
    """Whether the node is `len(tokenizer.word_index)` of a tokenizer that keeps every word."""
    if not isinstance(node, ast.Call) or module.resolve(node.func) != "len" or len(node.args) != 1:
        return False
    words = module.made_by(node.args[0])
    if (
        not isinstance(words, ast.Attribute)
        or words.attr != "word_index"
        or _adds_words(module, node.args[0])
    ):
        return False
    tokenizer = module.made_by(words.value)
    return (
        isinstance(tokenizer, ast.Call)
        and module.resolve(tokenizer.func).endswith(".text.Tokenizer")
        and not tokenizer.args
        and not any(keyword.arg in (None, "num_words") for keyword in tokenizer.keywords)
        and all(
            isinstance(site.node.func, ast.Attribute) and module.made_by(site.node.func.value) is tokenizer
            for site in module.method_calls("texts_to_sequences")
        )
    )


def _adds_words(module: Module, counted: ast.expr) -> bool:
    """Whether the file puts an entry of its own into the dictionary: `word_index["<pad>"] = 0`."""
    name = ast.unparse(counted)
    return any(
        isinstance(node.ctx, ast.Store) and ast.unparse(node.value).endswith((name, ".word_index"))
        for node in module.nodes(ast.Subscript)
    )


_RESERVED = 3
"""How many ids are usually reserved at most: for padding, unknown words, and the start of a sentence."""

_Short = tuple[Lookup, Statistics, int]
"""An Embedding with too few rows: the ids, their statistics, and the number of rows."""


def _too_small(looked_up: Iterable[Lookup]) -> Iterator[_Short]:
    for lookup in looked_up:
        statistics, rows = lookup.statistics, lookup.rows
        if statistics is not None and rows is not None and statistics.maximum is not None:
            if int(statistics.maximum) >= rows:
                yield lookup, statistics, rows


def _fixes(lookup: Lookup, short: list[_Short], project: Project) -> list[Fix]:
    """Add rows to every Embedding that lacks them, so that the fixed program runs."""
    highest, rows = next(
        (int(statistics.maximum or 0), rows) for each, statistics, rows in short if each is lookup
    )
    title = f"set `input_dim={highest + 1}`: the largest id plus 1"
    far = highest >= 4 * rows
    edits = list(rows_edit(lookup.layer.code, highest, rows, project))
    others = [
        rows_edit(each.layer.code, int(statistics.maximum or 0), size, project)
        for each, statistics, size in short
        if each.layer is not lookup.layer and not far and int(statistics.maximum or 0) < 4 * size
    ]
    for edit in (edit for each in others for edit in each):
        if edits and edit.location not in [known.location for known in edits]:
            edits.append(edit)
            title = "set `input_dim` of each Embedding to its largest id plus 1"
    if far:
        number_them = "renumber the ids with `np.unique(ids, return_inverse=True)`, the same way for training and validation"
        return [fix(number_them), fix(title, edits)]
    return [fix(title, edits)]


def rows_edit(code: Code | Unknown, highest: int, rows: int, project: Project) -> tuple[Edit, ...]:
    """Set `input_dim`; an expression that does not count the reserved ids gets `+ 1` or `+ 2`."""
    if isinstance(code, Unknown):
        return ()
    argument = code.argument("input_dim", 0)
    named = decided_size(project, argument)
    missing = highest + 1 - rows
    if named is not None and missing <= _RESERVED and not named.code.text.isdigit():
        return wrap(named.code, f"{{}} + {missing}")
    if named is not None and named.alone:
        return replace_code(named.code, str(highest + 1))
    computed = argument is not None and not argument.text.isdigit()
    if argument is not None and computed and missing <= _RESERVED:
        return set_argument(code, "input_dim", f"{argument.text} + {missing}", position=0)
    return set_argument(code, "input_dim", str(highest + 1), position=0)


def _line(layer: LayerFacts, array: ArrayFacts | None, project: Project) -> Location | None:
    """Return what sets the size of the Embedding, or the data if the size is a parameter with many callers."""
    argument = layer.code.argument("input_dim", 0) if isinstance(layer.code, Code) else None
    named = decided_size(project, argument)
    if named is not None:
        return named.code.location
    if array is not None and _size_is_parameter(layer.code, project):
        return place(array.code, array.use, layer.code)
    return place(layer.code, array.code if array else None)


def _size_is_parameter(code: Code | Unknown, project: Project) -> bool:
    found = node_of(project, code)
    argument = code.argument("input_dim", 0) if isinstance(code, Code) else None
    if found is None or argument is None:
        return False
    function = found[0].function_of(found[1])
    return function is not None and argument.text in function.parameters


def _is_of_embedding(failure: FailureFacts) -> bool:
    """Whether the node is one that an Embedding made, whatever its name."""
    made = any(frame.path.endswith("embedding.py") for frame in failure.definition if frame.library)
    return made or "embedding" in failure.node.lower()


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, data: DataFacts | Unknown, project: Project
) -> Iterator[Finding]:
    """Report the id and the range that TensorFlow names for an Embedding."""
    said = index_out_of_range(failure.message)
    if said is None:
        return
    layer = None
    if isinstance(model, ModelFacts):
        if isinstance(data, DataFacts) and data.role != "training":
            return
        layers = [one for one in embeddings(model) if one.setting("input_dim") == str(said.high)]
        if not layers and not failure.from_text:
            return
        untold = [one for one in embeddings(model) if one.setting("input_dim") is None]
        spoken = [one for one in untold if f"/{one.name}" in failure.node]
        if not layers and (len(untold) == 1 or all(_size_is_parameter(one.code, project) for one in untold)):
            layers = untold
        layers = layers or spoken
        named = [one for one in layers if f"/{one.name}" in failure.node or failure.node.startswith(one.name)]
        layer = next(iter(named or layers), None)
    if layer is None and not _is_of_embedding(failure):
        return
    array = data.x[0] if isinstance(data, DataFacts) and len(data.x) == 1 else None
    if array is not None:
        array = replace(array, code=origin_of(project, array))
    location = _line(layer, array, project) if layer is not None else None
    yield CAUSE.certain(
        f"the data contains id {said.value}, but the Embedding has {said.high} rows: ids 0 to {said.high - 1}",
        location or failure.location,
        Evidence(
            "id rejected by TensorFlow", str(said.value), f"0..{said.high - 1}", location=failure.location
        ),
        fix(
            f"set `input_dim={said.value + 1}`: the largest id plus 1"
            if said.value == said.high
            else "map missing and unknown values to a separate id: ids start at 0"
            if said.value < 0
            else "set `input_dim` to the largest id plus 1",
            rows_edit(layer.code, said.value, said.high, project)
            if layer is not None and said.value == said.high and not _size_is_parameter(layer.code, project)
            else (),
        ),
        subject=f"ids of {layer.name}" if layer is not None else "ids of the Embedding",
    )
