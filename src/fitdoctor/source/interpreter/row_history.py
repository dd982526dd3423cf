"""What happened to the rows of data: where they began, what reordered them, what was fitted to them, which columns are left.

Judges compare the histories of what meets in one call of `fit`. A function that is not known here begins a new history, so
nothing that it may have done is held against the data. The kinds of events:

- `made`: the rows began here, or their values were overwritten.
- `order`: a random order; `pick`: rows selected by a mask or index; `rows`: a range of rows.
- `columns`, `without`, `set`: columns that were selected, dropped or assigned; their names are the text.
- `fit`: an encoder that was fitted (its class is the text) prepared the values.
- `copy`: the array was copied, so the program still has it as it was.
- `reshape`: the axes of a sample changed places without being moved; the shapes are the text.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from fitdoctor.facts import Unknown
from fitdoctor.records import replace
from fitdoctor.source.interpreter.values import (
    UNTOLD,
    Arguments,
    Array,
    DictRecord,
    Event,
    History,
    InstanceRecord,
    Items,
    ListRecord,
    Made,
    Mapping,
    Method,
    Named,
    Plain,
    Ref,
    Span,
    Value,
)

if TYPE_CHECKING:
    from fitdoctor.source.interpreter.interpret import Interpreter

_LATER = 10**15
"""The time of a write that may come after everything else."""
_OVERWRITTEN = Event("made", "overwritten", _LATER)

_SAME_ROWS = frozenset(
    (
        "array asarray ascontiguousarray asanyarray convert_to_tensor constant to_categorical one_hot pad_sequences "
        "abs absolute exp log log2 log10 log1p expm1 sqrt square sin cos tan tanh arctan round rint floor ceil sign clip "
        "nan_to_num isnan isfinite logical_not add subtract multiply divide maximum minimum where digitize zeros_like "
        "map replace fillna interpolate get_dummies factorize cast take_along_axis flip_left_right copy ravel flatten "
        "Series DataFrame expand_dims squeeze reshape astype float32 float64 int32 int64 normalize preprocess_input"
    ).split()
)
"""Functions and methods whose result has the rows of their arguments, in the same order."""
_REDUCTIONS = frozenset("sum mean std var max min amax amin prod median any all argmax argmin".split())
_OTHER_COLUMNS = frozenset("merge join assign set_index reset_index".split())
"""Methods of tables that keep the rows and their order, a merge of the left table's."""
_FEWER_ROWS = frozenset("dropna drop_duplicates query head tail".split())
_GENERATORS = frozenset(
    ("numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random")
)
_MODULES = frozenset(("numpy.random", "random"))
_READ = ("numpy.loadtxt", "numpy.genfromtxt", "sklearn.datasets.")
"""What reads data that has no type of its own here."""
_FITTED = frozenset(
    f"sklearn.{name}"
    for name in (
        "preprocessing.StandardScaler preprocessing.MinMaxScaler preprocessing.RobustScaler preprocessing.MaxAbsScaler "
        "preprocessing.PowerTransformer preprocessing.QuantileTransformer preprocessing.LabelEncoder "
        "preprocessing.OrdinalEncoder preprocessing.OneHotEncoder decomposition.PCA decomposition.TruncatedSVD "
        "feature_extraction.text.CountVectorizer feature_extraction.text.TfidfVectorizer compose.ColumnTransformer "
        "compose.make_column_transformer pipeline.Pipeline pipeline.make_pipeline"
    ).split()
) | {"keras.preprocessing.text.Tokenizer", "keras_preprocessing.text.Tokenizer"}
_FITS = frozenset("fit fit_transform fit_on_texts".split())
_TRANSFORMS = frozenset("transform fit_transform texts_to_sequences texts_to_matrix".split())


# --- reading and extending ------------------------------------------------------------------------------------------


def made(run: Interpreter, node: ast.AST | None = None) -> History:
    """Return the history of rows that begin now."""
    now = run.fresh()
    return (Event("made", str(now), now, node=node),)


def history_of(run: Interpreter, value: Value | None) -> History | None:
    """Return what happened to the rows of a value; () for one without rows, None if unknown."""
    if isinstance(value, Array):
        return () if value.dims == () else value.history
    if isinstance(value, Ref):
        record = run.record(value)
        if isinstance(record, ListRecord):
            return record.history or (Event("made", str(value.id), value.id),)
        return None
    if isinstance(value, Made) and value.identity and value.name.startswith(_READ):
        return (Event("made", str(value.identity), value.identity, node=value.node),)
    return () if isinstance(value, (Plain, Named)) else None


def extended(value: Value, *events: Event) -> Value:
    """Return the value with events added to the history of each array in it."""
    return _changed(value, lambda array: _with(array, _joined([array.history or (), events])))


def _with(array: Array, history: History | None) -> Array:
    return replace(array, history=history)


def _changed(value: Value, change: Callable[[Array], Array]) -> Value:
    if isinstance(value, Array):
        return change(value)
    if isinstance(value, Items):
        return Items(tuple(_changed(item, change) for item in value.items))
    if isinstance(value, Mapping):
        return Mapping(tuple((key, _changed(item, change)) for key, item in value.items))
    return value


def _joined(histories: Iterable[Iterable[Event]]) -> History:
    return tuple(dict.fromkeys(event for history in histories for event in history))


def _given(run: Interpreter, value: Value, history: History) -> Value:
    """Return an array or list with this history."""
    record = run.record(value) if isinstance(value, Ref) else None
    if isinstance(value, Ref) and isinstance(record, ListRecord):
        run.update(value, replace(record, history=history))
    return _with(value, history) if isinstance(value, Array) else value


def overwritten(history: History | None) -> History | None:
    """Return the history after values were written in place: the order of rows stays, their origin is open."""
    return history if history is None or _OVERWRITTEN in history else (*history, _OVERWRITTEN)


def with_set_column(table: Array, key: Value, value: Value) -> History | None:
    """Return the history of a table after `table[key] = value`."""
    inside = value.history if isinstance(value, Array) else None
    fits = [event for event in inside or () if event.kind == "fit"]
    return _joined([table.history or (), [_columns("set", _names(key))], fits])


def without(table: Array, names: tuple[str, ...] | None) -> History | None:
    """Return the history of a table after columns were dropped."""
    return None if table.history is None else (*table.history, _columns("without", names))


_changes = itertools.count(1)


def _columns(kind: str, names: Sequence[str] | None, node: ast.AST | None = None) -> Event:
    text = "?" if names is None else "\n".join(names)
    mark = text if kind == "columns" else f"{text} {next(_changes)}"
    return Event(kind, mark, text=text, node=node)


def _names(key: Value, items: Sequence[Value] | None = None) -> tuple[str, ...] | None:
    parts = (key,) if items is None else items
    names = [part.value for part in parts if isinstance(part, Plain) and isinstance(part.value, (str, int))]
    return tuple(map(str, names)) if len(names) == len(parts) else None


def combined(run: Interpreter, operands: Sequence[Value], value: Value, node: ast.AST | None = None) -> Value:
    """Return the result of a row-by-row operation with the history of its operands."""
    if not isinstance(value, Array) or value.history is not None:
        return value
    told = [history_of(run, operand) for operand in operands]
    known = [history for history in told if history]
    if not known:
        return value if None in told else _with(value, ())
    if len({frozenset(event for event in one if event.kind in ("order", "pick")) for one in known}) > 1:
        return value  # rows of several orders are mixed
    more = made(run, node) if None in told else ()
    return _with(value, _joined([*known, more]))


# --- random orders --------------------------------------------------------------------------------------------------


def new_order(run: Interpreter, source: object, node: ast.Call, seed: Value | None = None) -> Event:
    """Return the event of a random order; equal to an earlier one if both start from the same seed."""
    now = run.fresh()
    mark = str(now)
    if seed is not None and seed != Plain(None):
        mark = f"{source} {_seed_text(seed, node)}"
    elif run.seeds.get(source, ("", 0))[0]:
        label, drawn = run.seeds[source]
        mark, run.seeds[source] = f"{label} {drawn}", (label, drawn + 1)
    # What starts from the same seed happened, for the rows of another array, when it was first drawn.
    return Event("order", mark, run.drawn.setdefault(mark, now), node=node)


def _seed_text(seed: Value, node: ast.Call) -> str:
    if isinstance(seed, Plain):
        return str(seed.value)
    given = [keyword.value for keyword in node.keywords if keyword.arg in ("random_state", "seed")]
    return ast.dump(given[0] if given else node.args[-1]) if given or node.args else ""


def _note_seed(run: Interpreter, name: str, arguments: Arguments) -> None:
    """Follow what seeds the random numbers of a module."""
    module, _, function = name.rpartition(".")
    sources = _MODULES if name == "keras.utils.set_random_seed" else _MODULES & {module}
    for source in sources:
        if function in ("seed", "set_random_seed"):
            started = arguments.positional[0] if arguments.positional else None
            label = "" if started is None else f"{source} {_seed_text(started, arguments.node)}"
            run.seeds[source] = (label, 0)
        elif function in ("get_state", "getstate"):
            run.seeds[source] = (f"{source} state {run.fresh()}", 0)
        elif function in ("set_state", "setstate"):
            run.seeds[source] = (run.seeds.get(source, ("restored", 0))[0] or "restored", 0)


def _reorder(run: Interpreter, value: Value, order: Event) -> None:
    """Reorder an array or list in place, under all its names."""
    if isinstance(value, Ref):
        _given(run, value, _joined([history_of(run, value) or (), [order]]))
        return
    if not isinstance(value, Array) or not value.buffer:
        return
    node = order.node.args[0] if isinstance(order.node, ast.Call) and order.node.args else None
    # Part of an array, its transpose or a copy: what the shuffle does to the whole is open.
    whole = isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute) and node.attr not in ("T", "values")
    )
    event = order if whole else _OVERWRITTEN

    def change(array: Array) -> Array:
        if array.buffer != value.buffer:
            return array
        return replace(array, numbers=None, history=_joined([array.history or (), [event]]))

    for frame in list(run.state.frames):
        names = run.state.names(frame)
        names.update({name: _changed(held, change) for name, held in names.items()})
    for number, record in list(run.state.heap.items()):
        if isinstance(record, InstanceRecord):
            attributes = tuple((name, _changed(held, change)) for name, held in record.attributes)
            run.update(Ref(number), replace(record, attributes=attributes))
        elif isinstance(record, (ListRecord, DictRecord)) and record.items:
            if isinstance(record, ListRecord):
                items = tuple(_changed(held, change) for held in record.items)
                run.update(Ref(number), replace(record, items=items))
            else:
                pairs = tuple((key, _changed(held, change)) for key, held in record.items)
                run.update(Ref(number), replace(record, items=pairs))


# --- calls ----------------------------------------------------------------------------------------------------------


def after_call(run: Interpreter, callee: Value, arguments: Arguments, value: Value) -> Value:
    """Return the result of a call of a library, with the history of its rows."""
    if isinstance(callee, Named):
        return _after_function(run, callee.name, arguments, value)
    if isinstance(callee, Method) and isinstance(callee.receiver, Array):
        return _after_array_method(run, callee.receiver, callee.name, arguments, value)
    if isinstance(callee, Method) and isinstance(callee.receiver, Made):
        return _after_object_method(run, callee.receiver, callee.name, arguments, value)
    return value


def _after_function(run: Interpreter, name: str, arguments: Arguments, value: Value) -> Value:
    first = arguments.positional[0] if arguments.positional else None
    module, _, last = name.rpartition(".")
    if isinstance(value, Made) and name.startswith(_READ):
        return replace(value, identity=run.fresh())
    if isinstance(value, Made) and (name in _FITTED or name in _GENERATORS):
        number = run.fresh()
        label = f"{name} {_seed_text(first, arguments.node)}" if first is not None else f"{name} {number}"
        run.seeds[number] = (label, 0)
        return replace(value, identity=number)
    _note_seed(run, name, arguments)
    if module in _MODULES and first is not None and last in ("shuffle", "permutation", "sample", "choice"):
        return _drawn(run, module, last, arguments, arguments.positional, value)
    if name in ("sklearn.utils.shuffle", "tensorflow.random.shuffle"):
        seed = arguments.get("random_state") or arguments.get(
            "seed", 1 if module == "tensorflow.random" else None
        )
        order = new_order(run, name, arguments.node, seed)
        data = arguments.positional[: 1 if module == "tensorflow.random" else None]
        return _all_shuffled(run, data, order, arguments.get("n_samples") is not None)
    if name.endswith("model_selection.train_test_split"):
        return _split(run, arguments, value)
    if name == "numpy.load" and isinstance(value, Made):
        return Array(history=made(run, arguments.node), node=arguments.node)
    if last in ("concatenate", "stack", "hstack", "column_stack", "concat"):
        axis = arguments.get("axis", 1)
        beside = last == "column_stack" or (isinstance(axis, Plain) and axis.value in (1, -1, 2, 3))
        parts = run.sequence(first) if beside else None
        return combined(run, parts, _fresh(value), arguments.node) if parts else _begun(run, value, arguments)
    return _after_rowwise(run, last, arguments.positional, arguments, value)


def _after_rowwise(
    run: Interpreter, last: str, operands: Sequence[Value], arguments: Arguments, value: Value
) -> Value:
    if last in _REDUCTIONS:
        axis = arguments.get("axis", 1 if len(operands) > 0 and operands[0] in arguments.positional else 0)
        along = isinstance(axis, Plain) and axis.value in (1, -1, 2, 3)
        return (
            combined(run, operands[:1], _fresh(value))
            if along
            else _changed(value, lambda one: _with(one, ()))
        )
    if last in ("reshape", "transpose") and operands and isinstance(operands[0], Array):
        return _reshaped(run, operands[0], last, arguments, value)
    if last in _SAME_ROWS:
        data = [one for one in operands if isinstance(one, (Array, Ref, Unknown))]
        value = combined(
            run, data[: None if last in ("where", "add", "multiply") else 1], value, arguments.node
        )
    return _begun(run, value, arguments)


def _fresh(value: Value) -> Value:
    return _with(value, None) if isinstance(value, Array) else value


def _begun(run: Interpreter, value: Value, arguments: Arguments) -> Value:
    """Return the value with a new history for each array that has none; one call makes them together."""
    given = (*arguments.positional, *(given for _, given in arguments.keywords))
    inside = [part for one in given for part in (run.sequence(one) or (one,))]
    if any(event.kind in ("order", "pick") for part in inside for event in history_of(run, part) or ()):
        return value  # what became of that order is not known
    begun = made(run, arguments.node)
    return _changed(value, lambda array: array if array.history is not None else _with(array, begun))


def _drawn(
    run: Interpreter, source: object, last: str, arguments: Arguments, data: Sequence[Value], value: Value
) -> Value:
    """Follow `shuffle`, `permutation`, `sample` and `choice`."""
    if not data or arguments.get("axis") is not None:
        return value
    replaced = arguments.get("replace", len(arguments.positional) - len(data) + 2)
    if last == "choice" and replaced != Plain(False):
        return _begun(run, value, arguments)
    order = new_order(run, source, arguments.node)
    if last == "shuffle":
        if len(data) > 1:
            return value  # with a function that draws the numbers
        _reorder(run, data[0], order)
        return value
    history = _joined([history_of(run, data[0]) or (), [order]])
    if last == "sample":
        return run.allocate(ListRecord(None, arguments.node, history=history))
    return _with(value if isinstance(value, Array) else Array(node=arguments.node), history)


def _all_shuffled(run: Interpreter, data: Sequence[Value], order: Event, fewer: bool) -> Value:
    shuffled: list[Value] = []
    for one in data:
        if not isinstance(one, Array):
            shuffled.append(UNTOLD)
            continue
        dims = one.dims if isinstance(one.dims, Unknown) or not fewer else (UNTOLD, *one.dims[1:])
        copied = replace(one, numbers=None, dims=dims, buffer=0, node=None)
        shuffled.append(_with(copied, None if one.history is None else _joined([one.history, [order]])))
    return shuffled[0] if len(shuffled) == 1 else Items(tuple(shuffled))


def _split(run: Interpreter, arguments: Arguments, value: Value) -> Value:
    """Follow `train_test_split`: one order for everything that it is given."""
    if not isinstance(value, Items) or len(value.items) != 2 * len(arguments.positional):
        return value
    order = new_order(run, "split", arguments.node, arguments.get("random_state"))
    if arguments.get("shuffle") == Plain(False):
        order = Event("rows", "split")
    for part, given in enumerate(arguments.positional):
        for side in (2 * part, 2 * part + 1):
            history = history_of(run, given)
            if history is not None:
                parts = list(value.items)
                parts[side] = _given(run, parts[side], _joined([history, [order]]))
                value = Items(tuple(parts))
    return value


def _after_array_method(
    run: Interpreter, receiver: Array, name: str, arguments: Arguments, value: Value
) -> Value:
    history = receiver.history
    if name == "sample" and isinstance(value, Array):
        order = new_order(run, "sample", arguments.node, arguments.get("random_state"))
        return _with(value, None if history is None else _joined([history, [order]]))
    if name == "sort_values" and isinstance(value, Array) and history is not None:
        now = run.fresh()
        if any(_sorts_alike(event, arguments.node) for event in history):
            return _with(value, history)
        return _with(value, (*history, Event("order", str(now), now, node=arguments.node)))
    if name in _OTHER_COLUMNS and isinstance(value, Array) and receiver.container == "pandas.DataFrame":
        how = arguments.get("how", 1) or Plain("left" if name == "join" else "inner")
        kept = name not in ("merge", "join") or how == Plain("left")
        return _with(value, history) if kept else _begun(run, value, arguments)
    if name == "copy" and isinstance(value, Array) and history is not None:
        now = run.fresh()
        return _with(value, (*history, Event("copy", str(now), now)))
    if name == "sort_index":
        return _begun(run, _fresh(value), arguments)
    if name == "drop" and isinstance(value, Array) and value.history:
        dropped = replace(value.history[-1], node=arguments.node)
        return _with(value, (*value.history[:-1], dropped))
    if name in ("toarray", "todense"):
        return replace(receiver, node=arguments.node)
    if name in _FEWER_ROWS and isinstance(value, Array):
        now = run.fresh()
        return _with(value, None if history is None else (*history, Event("pick", str(now), now)))
    if name == "pop" and isinstance(value, Array) and receiver.container == "pandas.DataFrame":
        chosen = _columns("columns", _names(arguments.get("item", 0) or UNTOLD), arguments.node)
        return _with(value, None if history is None else (*history, chosen))
    if name in ("tolist", "to_list") and history is not None:
        return _given(run, value, history)
    return _after_rowwise(run, name, (receiver,), arguments, value)


def _sorts_alike(event: Event, call: ast.Call) -> bool:
    """Whether rows were sorted by the same call before."""
    node = event.node
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "sort_values":
        return False
    parts = [[ast.dump(each) for each in (*one.args, *one.keywords)] for one in (node, call)]
    return parts[0] == parts[1]


def _reshaped(run: Interpreter, before: Array, name: str, arguments: Arguments, value: Value) -> Value:
    """Note a reshape that gives the axes of a sample each other's lengths, which mixes their values up."""
    if not isinstance(value, Array) or value.history is None:
        return combined(run, (before,), value, arguments.node)
    if name == "transpose" or isinstance(before.dims, Unknown) or isinstance(value.dims, Unknown):
        return value
    old, new = before.dims[1:], value.dims[1:]
    known = all(isinstance(one, int) and one > 1 for one in (*old, *new))
    if not known or len(old) < 2 or old == new or sorted(map(str, old)) != sorted(map(str, new)):
        return value
    if (
        len(old) == 2
        and isinstance(before.node, ast.Call)
        and getattr(before.node.func, "attr", "") == "reshape"
    ):
        return value  # a series that is cut into windows of another length
    text = f"{', '.join(map(str, old))}\n{', '.join(map(str, new))}"
    undone = "\n".join(reversed(text.split("\n")))
    if any(event.kind == "reshape" and event.text == undone for event in value.history):
        return _with(value, tuple(event for event in value.history if event.text != undone))
    now = run.fresh()
    return _with(value, (*value.history, Event("reshape", str(now), now, text, arguments.node)))


def _after_object_method(
    run: Interpreter, receiver: Made, name: str, arguments: Arguments, value: Value
) -> Value:
    if receiver.name in _GENERATORS and name in ("shuffle", "permutation", "sample", "choice"):
        # Handlers of methods get the receiver first; these arguments are without it.
        return _drawn(run, receiver.identity, name, arguments, arguments.positional, value)
    if receiver.name not in _FITTED or not receiver.identity:
        return _begun(run, value, arguments)
    data = next(iter((*arguments.positional, *(given for _, given in arguments.keywords))), UNTOLD)
    if name in _FITS:
        now = run.fresh()
        text = receiver.name.rpartition(".")[2]
        mark = _which(data) or str(now)
        run.fitted[receiver.identity] = Event("fit", mark, now, text, arguments.node)
    fitted = run.fitted.get(receiver.identity)
    if name not in _TRANSFORMS or fitted is None:
        return value
    history = _joined([history_of(run, data) or made(run, arguments.node), [fitted]])
    if isinstance(value, Unknown) or (isinstance(value, Made) and value.name == f"{receiver.name}.{name}"):
        value = Array(node=arguments.node)
    return _given(run, value, history)


def _which(data: Value) -> str:
    """Return words for the data that an encoder is fitted to, the same for the same data; "" if unknown."""
    if isinstance(data, Ref):
        return f"list {data.id}"
    if not isinstance(data, Array) or not data.buffer or data.history is None:
        return ""
    # A hash: in a loop that fits an encoder to its own result, each mark would contain all before it.
    history = hash(tuple((event.kind, event.mark, event.text) for event in data.history))
    return f"array {data.buffer} {history}"


def after_attribute(run: Interpreter, receiver: Value, value: Value) -> Value:
    """Return `receiver.name` with the history of what was read: `load_iris().data`."""
    history = history_of(run, receiver) if isinstance(receiver, Made) else None
    return _with(value, history) if isinstance(value, Array) and history else value


# --- indexing -------------------------------------------------------------------------------------------------------


def after_index(run: Interpreter, receiver: Value, key: Value, node: ast.AST, value: Value) -> Value:
    """Return `receiver[key]` with the history of its rows."""
    if isinstance(receiver, Made) and isinstance(value, Unknown) and history_of(run, receiver):
        value = Array(node=node if isinstance(node, ast.expr) else None)
    if not isinstance(value, Array):
        return value
    placed = isinstance(receiver, Method) and receiver.name == "iloc"
    table = receiver.receiver if isinstance(receiver, Method) else receiver
    if isinstance(table, Made) and history_of(run, table):
        table = Array(history=history_of(run, table))
    if not isinstance(table, Array) or table.history is None:
        return value
    if table.container == "pandas.DataFrame" and not placed and not isinstance(key, Array):
        names = _names(key, run.sequence(key))
        return _with(value, (*table.history, _columns("columns", names, node)))
    if isinstance(key, Plain) and isinstance(key.value, str):  # an array of an archive
        return _with(value, table.history)
    keys = list(key.items) if isinstance(key, Items) else [key]
    rows = keys.pop(0) if keys else UNTOLD
    rest = [one for one in keys if not _is_whole(one)]
    index = getattr(node, "slice", None)
    history = _after_rows(run, table, rows, index, node)
    if rest and history is not None:
        column = keys[0].value if len(keys) == 1 and isinstance(keys[0], Plain) else None
        text = f"column {column}" if isinstance(column, int) else "?"
        mark = ast.dump(index) if isinstance(index, ast.AST) else "?"
        history = (*history, Event("columns", mark, text=text, node=node))
    return _with(value, history)


def _after_rows(
    run: Interpreter, table: Array, rows: Value, index: ast.AST | None, node: ast.AST
) -> History | None:
    history = table.history or ()
    if _is_whole(rows) or rows == Plain(Ellipsis):
        return history
    now = run.fresh()
    if isinstance(rows, Span):
        written = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
        mark = ast.dump(written) if written is not None else str(now)
        return (*history, Event("rows", mark, now))
    if isinstance(rows, (Array, Ref)):
        chosen = history_of(run, rows)
        orders = [replace(one, node=node) for one in chosen or () if one.kind == "order"]
        if table.unit_rows:
            return chosen  # np.eye(n)[labels]
        if orders:
            return _joined([history, orders])
        number = rows.buffer if isinstance(rows, Array) else rows.id
        return (*history, Event("pick", f"by {number}", now))
    if isinstance(rows, Plain):
        return made(run, node)
    return (*history, Event("pick", str(now), now))


def _is_whole(key: Value) -> bool:
    return key == Span(Plain(None), Plain(None), Plain(None)) or key in (Plain(None), Plain(Ellipsis))
