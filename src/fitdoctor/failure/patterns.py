"""Reads names, values and dtypes from normalized messages; shapes are in `shapes`."""

from __future__ import annotations

import re

from fitdoctor.facts import Shape
from fitdoctor.failure.shapes import SHAPE, names_in, parse_shape
from fitdoctor.records import dataclass

# --- values -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelOutOfRange:
    """A class label without a unit in the output layer; `high` is exclusive."""

    value: int
    high: int
    batch: tuple[int, ...] = ()
    """The labels of the batch that the message shows."""


_LABEL = (
    r"label value of (?P<value>-?\d+) which is outside the valid range of \[-?\d+, ?(?P<high>-?\d+)\)"
    r"(?:\.\s*Label values: (?P<batch>[-\d ]+))?"
)
_WHOLE = r"-?\d+"


def label_out_of_range(message: str) -> LabelOutOfRange | None:
    """Return the label that a sparse loss rejected."""
    match = re.search(_LABEL, message)
    if match is None:
        return None
    batch = tuple(int(word) for word in re.findall(_WHOLE, match["batch"] or "")[:1000])
    return LabelOutOfRange(int(match["value"]), int(match["high"]), batch)


@dataclass(frozen=True)
class IndexOutOfRange:
    """An index out of range for an embedding or gather; `high` is exclusive."""

    value: int
    high: int


_INDEX = r"indices(?:\[[\d, ]*\])? = (?P<value>-?\d+) is not in \[-?\d+, ?(?P<high>-?\d+)\)"


def index_out_of_range(message: str) -> IndexOutOfRange | None:
    """Return the index that a gather rejected."""
    match = re.search(_INDEX, message)
    return IndexOutOfRange(int(match["value"]), int(match["high"])) if match else None


@dataclass(frozen=True)
class Cardinality:
    """The number of samples of each argument, by name."""

    sizes: tuple[tuple[str, tuple[int, ...]], ...]

    def of(self, name: str) -> tuple[int, ...]:
        """The sizes of one argument."""
        return dict(self.sizes).get(name, ())


_SIZES = r"(?:^|[\s.])'?(?P<name>x|y|sample_weight)'? sizes: (?P<sizes>\d+(?:, ?\d+)*)"


_SPLIT_OF_LIST = r"`validation_split` is only supported.*\[<class '(?:int|float|bool|str|list|tuple)'>"


def splits_list(message: str) -> bool:
    """Whether `validation_split` was rejected because of a list of numbers, not a dataset."""
    return re.search(_SPLIT_OF_LIST, message) is not None


def cardinality(message: str) -> Cardinality | None:
    """Return the sample counts that differ."""
    if "cardinality is ambiguous" not in message:
        return None
    found = [
        (match["name"], tuple(int(size) for size in match["sizes"].split(",")))
        for match in re.finditer(_SIZES, message)
    ]
    return Cardinality(tuple(found)) if found else None


@dataclass(frozen=True)
class RejectedInteger:
    """A size that is an integer, but not of the type `int`."""

    name: str
    """The argument of the layer."""
    number: str
    """As the message shows it; "" if it does not."""


_REJECTED_INTEGER = (
    r"invalid value for (?:argument )?`(?P<name>\w+)`, expected a positive integer\. "
    r"Received: \w+=(?P<number>[1-9]\d*)(?![\d.])"
    r"|`(?P<named>\w+)` must be a positive integer\. Received: \w+=(?P<given>[1-9]\d*) \(of type (?:u?int\d+|str)\)"
    r"|Expected an integer value for `(?P<expected>\w+)`, got <class 'numpy\.u?int\d+'>"
    r"|(?P<state>output|state)_size must be an integer"
)


def rejected_integer(message: str) -> RejectedInteger | None:
    """Return the size that a Keras 3 layer rejected because of its type: a NumPy integer, or a string."""
    match = re.search(_REJECTED_INTEGER, message)
    if match is None:
        return None
    name = match["name"] or match["named"] or match["expected"] or "units"
    return RejectedInteger(name, match["number"] or match["given"] or "")


# --- names --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnexpectedKeyword:
    """A keyword that a function or class does not accept."""

    function: str
    """The plain name: `fit`, `compile`, `__init__`, `Dense`; "" if unknown."""
    name: str
    owner: str = ""
    """The class of a method, if known."""


_UNEXPECTED = (
    r"(?<![\w.<>])(?P<function>[\w.<>]{1,200})\(\) got an unexpected keyword argument '(?P<name>\w+)'"
)
_UNBOUND = r"got an unexpected keyword argument '(?P<name>\w+)'"
_NOT_RECOGNIZED = r"""(?x)(?:Argument\(s\)[ ]not[ ]recognized:[ ]\{\s*
      | Unrecognized[ ]keyword[ ]arguments(?:[ ]passed[ ]to[ ](?P<owner>\w+))?:[ ]\{\s*
      | Unexpected[ ]keyword[ ]argument(?:s|\(s\))?:?[ ][\[{(]?\s*
      | Invalid[ ]keyword[ ]argument\(s\)[ ]in[ ]`(?P<function>\w+)\(?\)?`:[ ]\(?\{?
      | \('Keyword[ ]argument[ ]not[ ]understood:',[ ])
    ["'](?P<name>\w+)["']"""


def unexpected_keyword(message: str) -> UnexpectedKeyword | None:
    """Return the rejected keyword and the function that rejected it."""
    match = re.search(_UNEXPECTED, message)
    if match:
        owner, _, function = match["function"].rpartition(".")
        return UnexpectedKeyword(function, match["name"], owner.rpartition(".")[2])
    refused = re.search(_NOT_RECOGNIZED, message)
    if refused:
        return UnexpectedKeyword(refused["function"] or "", refused["name"], refused["owner"] or "")
    unbound = re.search(_UNBOUND, message)
    return UnexpectedKeyword("", unbound["name"]) if unbound else None


@dataclass(frozen=True)
class ArgumentCount:
    """A call with too few or too many arguments."""

    function: str
    owner: str = ""
    missing: tuple[str, ...] = ()


_MISSING = (
    r"(?<![\w.<>])(?P<function>[\w.<>]{1,200})\(\) missing \d+ required "
    r"(?:positional|keyword-only) arguments?: (?P<names>'[^\n]{1,500})"
)
_MISSING_BOUND = r"missing a required (?:keyword-only )?argument: (?P<names>'\w+')"
_TAKES = (
    r"(?<![\w.<>])(?P<function>[\w.<>]{1,200})\(\) takes (?:from \d+ to )?\d+ positional arguments? "
    r"but \d+ (?:was|were) given"
)


def argument_count(message: str) -> ArgumentCount | None:
    """Return the missing or surplus arguments of a call."""
    takes = re.search(_TAKES, message)
    if takes:
        owner, _, function = takes["function"].rpartition(".")
        return ArgumentCount(function, owner.rpartition(".")[2])
    missing = re.search(_MISSING, message)
    if missing:
        owner, _, function = missing["function"].rpartition(".")
        return ArgumentCount(function, owner.rpartition(".")[2], names_in(missing["names"]))
    bound = re.search(_MISSING_BOUND, message)
    return ArgumentCount("", missing=names_in(bound["names"])) if bound else None


@dataclass(frozen=True)
class AttributeMissing:
    """An attribute that an object, class or module does not have."""

    owner: str
    """The class or module."""
    name: str
    kind: str = "object"
    """`object`, `type` or `module`."""


_ATTRIBUTE = (
    r"(?:(?P<kind>[Mm]odule|type object) )?'(?P<owner>[^'\n]{1,300})'(?: object)? "
    r"has no attribute '(?P<name>[^'\n]{1,300})'"
)
NOT_CUSTOM = frozenset({"accuracy", "acc", "loss", "val_loss", "val_accuracy", "val_acc"})
"""What `fit` reports: these are no names of losses and custom metrics."""


def attribute_missing(message: str) -> AttributeMissing | None:
    """Return the missing attribute."""
    match = re.search(_ATTRIBUTE, message)
    if match is None:
        return None
    kind = {"module": "module", "type object": "type"}.get((match["kind"] or "").lower(), "object")
    return AttributeMissing(match["owner"], match["name"], kind)


@dataclass(frozen=True)
class MissingGradients:
    """The variables that got no gradient."""

    every: bool
    """Whether no variable of the model got a gradient."""
    variables: tuple[str, ...] = ()


_VARIABLE_PATH = r"<(?:Keras)?Variable (?:path|name)=(?P<path>[^,\s>]+)"
_VARIABLE_NAME = r"'(?P<name>[\w./ -]{1,200}:0)'"


def missing_gradients(message: str) -> MissingGradients | None:
    """Return the variables that the loss does not depend on."""
    every = "No gradients provided for any variable" in message
    if not every and "Gradients do not exist for variables" not in message:
        return None
    # After `grads_and_vars`, old messages list everything again with values.
    named = message.partition("Provided `grads_and_vars`")[0][:20_000]
    paths = [match["path"] for match in re.finditer(_VARIABLE_PATH, named)]
    names = [match["name"] for match in re.finditer(_VARIABLE_NAME, named)]
    return MissingGradients(every, tuple(dict.fromkeys(paths or names)))


@dataclass(frozen=True)
class NamedTensor:
    """The symbolic tensor that a message is about."""

    name: str
    shape: Shape | None = None
    dtype: str = ""


_TENSORS = (
    re.compile(
        rf"<tf\.Tensor '(?P<name>[^'\n]{{1,500}})' shape=(?P<shape>{SHAPE}|<unknown>) dtype=(?P<dtype>\w+)>"
    ),
    re.compile(
        rf'Tensor\("(?P<name>[^"\n]{{1,500}})"(?:, shape=(?P<shape>{SHAPE}))?(?:, dtype=(?P<dtype>\w+))?\)'
    ),
    re.compile(r"symbolic (?:tf\.)?Tensor \((?P<name>[^)\n]{1,500})\) to a numpy array"),
    re.compile(r"The graph tensor has name: (?P<name>\S+)"),
)


def named_tensor(message: str) -> NamedTensor | None:
    """Return the first symbolic tensor that the message names."""
    for expected in _TENSORS:
        match = expected.search(message)
        if match:
            fields = match.groupdict()
            shape = parse_shape(fields.get("shape") or "x")
            return NamedTensor(match["name"], shape, fields.get("dtype") or "")
    return None


# --- types and memory ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DtypeMismatch:
    """A dtype that an operation does not accept; unknown fields are ""."""

    found: str
    expected: str = ""
    """The dtype of another argument, or the first allowed one."""
    allowed: tuple[str, ...] = ()
    operation: str = ""
    argument: str = ""
    types: tuple[str, ...] = ()
    """The dtypes of all parts, if the operation joins several."""


_DTYPES = (
    (
        r"Input '(?P<argument>\w+)' of '(?P<operation>\w+)' Op has type (?P<found>\w+) "
        r"that does not match (?:expected )?type (?:of )?(?P<expected>\w+)"
    ),
    # Operations that join parts: `tf.concat`, `tf.stack`.
    (
        r"Tensors in list passed to '(?P<argument>\w+)' of '(?P<operation>\w+)' Op have types "
        r"\[(?P<types>(?P<expected>\w+)(?:, (?P=expected))*, (?P<found>\w+)[\w, ]*)\]"
    ),
    (
        r"Value passed to parameter '(?P<argument>\w+)' has DataType (?P<found>\w+) "
        r"not in list of allowed values: (?P<allowed>[\w, ]+)"
    ),
    r"DataType (?P<found>\w+) for attr '\w+' not in list of allowed values: (?P<allowed>[\w, ]+)",
    # The eager wording.
    (
        r"Value for attr '\w+' of (?P<found>\w+) is not in the list of allowed values: (?P<allowed>[\w, ]+)"
        r"(?:\s*; NodeDef: \{\{node (?P<operation>\w+)\}\})?"
    ),
    (
        r"cannot compute (?P<operation>\w+) as input #(?P<argument>\d+)\(zero-based\) "
        r"was expected to be an? (?P<expected>\w+) tensor but is an? (?P<found>\w+) tensor"
    ),
    # `/` compares the dtypes itself, before it creates an operation.
    r"`x` and `y` must have the same dtype, got tf\.(?P<found>\w+) != tf\.(?P<expected>\w+)",
    r"Tensor conversion requested dtype (?P<expected>\w+) for Tensor with dtype (?P<found>\w+)",
    r"Cast (?P<found>\w+) to (?P<expected>\w+) is not supported",
    r"Unsupported object type (?P<found>[\w.]+)",
    r"Invalid dtype: (?P<found>[\w\[\], ]+)",
    r"dtype='?(?P<found>\w+)'? is not a valid dtype for Keras type promotion",
)


def dtype_mismatch(message: str) -> DtypeMismatch | None:
    """Return the rejected dtype."""
    for expected in _DTYPES:
        match = re.search(expected, message)
        if match:
            fields = match.groupdict()
            allowed = tuple(part.strip() for part in (fields.get("allowed") or "").split(",") if part.strip())
            return DtypeMismatch(
                found=match["found"].strip(),
                expected=fields.get("expected") or (allowed[0] if allowed else ""),
                allowed=allowed,
                operation=fields.get("operation") or "",
                argument=fields.get("argument") or "",
                types=tuple((fields.get("types") or "").split(", ")) if fields.get("types") else (),
            )
    return None


@dataclass(frozen=True)
class AllocationFailed:
    """A tensor that could not be allocated."""

    shape: Shape | None = None
    by_numpy: bool = False


_OOM = r"OOM when allocating tensor (?:with|of) shape ?(?P<shape>[\[(][\d, ]*[\])])"
_OF_NUMPY = r"Unable to allocate \S+ \w+ for an array with shape (?P<shape>\([\d, ]*\))"


def allocation_failed(message: str) -> AllocationFailed | None:
    """Return the tensor or size that could not be allocated."""
    match = re.search(_OOM, message)
    if match:
        return AllocationFailed(parse_shape(match["shape"]))
    match = re.search(_OF_NUMPY, message)
    if match:
        return AllocationFailed(parse_shape(match["shape"]), by_numpy=True)
    words = ("failed to allocate memory", "Out of memory while trying to allocate", "Unable to allocate ")
    return AllocationFailed() if any(part in message for part in words) else None
