"""Reads names, values and dtypes from normalized messages; shapes are in `shapes`."""

from __future__ import annotations

from fitdoctor.facts import Shape
from fitdoctor.failure.shapes import (
    SHAPE,
    ExhaustedDimension,
    InputCount,
    InputMismatch,
    OperationShapes,
    ReshapeSizes,
    TargetOutput,
    exhausted_dimension,
    input_count,
    input_mismatch,
    kernel_mismatch,
    names_in,
    operation_shapes,
    parse_shape,
    reshape_sizes,
    shapes_in,
    target_and_output,
)
from fitdoctor.patterns import pattern
from fitdoctor.records import dataclass

__all__ = [
    "AllocationFailed",
    "ArgumentCount",
    "AttributeMissing",
    "Cardinality",
    "DtypeMismatch",
    "ExhaustedDimension",
    "IndexOutOfRange",
    "InputCount",
    "InputMismatch",
    "LabelOutOfRange",
    "MissingGradients",
    "NamedTensor",
    "OperationShapes",
    "ReshapeSizes",
    "TargetOutput",
    "UnexpectedKeyword",
    "allocation_failed",
    "argument_count",
    "attribute_missing",
    "cardinality",
    "dtype_mismatch",
    "exhausted_dimension",
    "index_out_of_range",
    "input_count",
    "input_mismatch",
    "kernel_mismatch",
    "label_out_of_range",
    "missing_gradients",
    "named_tensor",
    "operation_shapes",
    "parse_shape",
    "reshape_sizes",
    "shapes_in",
    "target_and_output",
    "unexpected_keyword",
]


# --- values -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelOutOfRange:
    """A class label without a unit in the output layer; `high` is exclusive."""

    value: int
    low: int
    high: int
    batch: tuple[int, ...] = ()
    """The labels of the batch that the message shows."""


_LABEL = pattern(
    r"label value of (?P<value>-?\d+) which is outside the valid range of \[(?P<low>-?\d+), ?(?P<high>-?\d+)\)"
    r"(?:\.\s*Label values: (?P<batch>[-\d ]+))?"
)
_WHOLE = pattern(r"-?\d+")


def label_out_of_range(message: str) -> LabelOutOfRange | None:
    """Return the label that a sparse loss rejected."""
    match = _LABEL.search(message)
    if match is None:
        return None
    batch = tuple(int(word) for word in _WHOLE.findall(match["batch"] or "")[:1000])
    return LabelOutOfRange(int(match["value"]), int(match["low"]), int(match["high"]), batch)


@dataclass(frozen=True)
class IndexOutOfRange:
    """An index out of range for an embedding or gather; `high` is exclusive."""

    position: tuple[int, ...]
    value: int
    low: int
    high: int


_INDEX = pattern(
    r"indices\[(?P<position>[\d, ]*)\] = (?P<value>-?\d+) is not in \[(?P<low>-?\d+), ?(?P<high>-?\d+)\)"
)
_SCALAR_INDEX = pattern(r"indices = (?P<value>-?\d+) is not in \[(?P<low>-?\d+), ?(?P<high>-?\d+)\)")


def index_out_of_range(message: str) -> IndexOutOfRange | None:
    """Return the index that a gather rejected."""
    match = _INDEX.search(message) or _SCALAR_INDEX.search(message)
    if match is None:
        return None
    position = match.groupdict().get("position") or ""
    return IndexOutOfRange(
        position=tuple(int(part) for part in position.split(",") if part.strip()),
        value=int(match["value"]),
        low=int(match["low"]),
        high=int(match["high"]),
    )


@dataclass(frozen=True)
class Cardinality:
    """The number of samples of each argument, by name."""

    sizes: tuple[tuple[str, tuple[int, ...]], ...]

    def of(self, name: str) -> tuple[int, ...]:
        """The sizes of one argument."""
        return dict(self.sizes).get(name, ())


_SIZES = pattern(r"(?:^|[\s.])'?(?P<name>x|y|sample_weight)'? sizes: (?P<sizes>\d+(?:, ?\d+)*)")


_SPLIT_OF_LIST = pattern(
    r"`validation_split` is only supported.*\[<class '(?:int|float|bool|str|list|tuple)'>"
)


def splits_list(message: str) -> bool:
    """Whether `validation_split` was rejected because of a list of numbers, not a dataset."""
    return _SPLIT_OF_LIST.search(message) is not None


def cardinality(message: str) -> Cardinality | None:
    """Return the sample counts that differ."""
    if "cardinality is ambiguous" not in message:
        return None
    found = [
        (match["name"], tuple(int(size) for size in match["sizes"].split(",")))
        for match in _SIZES.finditer(message)
    ]
    return Cardinality(tuple(found)) if found else None


# --- names --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnexpectedKeyword:
    """A keyword that a function or class does not accept."""

    function: str
    """The plain name: `fit`, `compile`, `__init__`, `Dense`; "" if unknown."""
    name: str
    owner: str = ""
    """The class of a method, if known."""


_UNEXPECTED = pattern(
    r"(?<![\w.<>])(?P<function>[\w.<>]{1,200})\(\) got an unexpected keyword argument '(?P<name>\w+)'"
)
_UNBOUND = pattern(r"got an unexpected keyword argument '(?P<name>\w+)'")
_NOT_RECOGNIZED = pattern(
    r"""(?x)(?:Argument\(s\)[ ]not[ ]recognized:[ ]\{\s*
      | Unrecognized[ ]keyword[ ]arguments(?:[ ]passed[ ]to[ ](?P<owner>\w+))?:[ ]\{\s*
      | Unexpected[ ]keyword[ ]argument(?:s|\(s\))?:?[ ][\[{(]?\s*
      | Invalid[ ]keyword[ ]argument\(s\)[ ]in[ ]`(?P<function>\w+)\(?\)?`:[ ]\(?\{?
      | \('Keyword[ ]argument[ ]not[ ]understood:',[ ])
    ["'](?P<name>\w+)["']"""
)


def unexpected_keyword(message: str) -> UnexpectedKeyword | None:
    """Return the rejected keyword and the function that rejected it."""
    match = _UNEXPECTED.search(message)
    if match:
        owner, _, function = match["function"].rpartition(".")
        return UnexpectedKeyword(function, match["name"], owner.rpartition(".")[2])
    refused = _NOT_RECOGNIZED.search(message)
    if refused:
        return UnexpectedKeyword(refused["function"] or "", refused["name"], refused["owner"] or "")
    unbound = _UNBOUND.search(message)
    return UnexpectedKeyword("", unbound["name"]) if unbound else None


@dataclass(frozen=True)
class ArgumentCount:
    """A call with too few or too many arguments."""

    function: str
    owner: str = ""
    missing: tuple[str, ...] = ()
    takes: int | None = None
    given: int | None = None


_MISSING = pattern(
    r"(?<![\w.<>])(?P<function>[\w.<>]{1,200})\(\) missing \d+ required "
    r"(?:positional|keyword-only) arguments?: (?P<names>'[^\n]{1,500})"
)
_MISSING_BOUND = pattern(r"missing a required (?:keyword-only )?argument: (?P<names>'\w+')")
_TAKES = pattern(
    r"(?<![\w.<>])(?P<function>[\w.<>]{1,200})\(\) takes (?:from \d+ to )?(?P<takes>\d+) positional arguments? "
    r"but (?P<given>\d+) (?:was|were) given"
)


def argument_count(message: str) -> ArgumentCount | None:
    """Return the missing or surplus arguments of a call."""
    takes = _TAKES.search(message)
    if takes:
        owner, _, function = takes["function"].rpartition(".")
        return ArgumentCount(
            function, owner.rpartition(".")[2], takes=int(takes["takes"]), given=int(takes["given"])
        )
    missing = _MISSING.search(message)
    if missing:
        owner, _, function = missing["function"].rpartition(".")
        return ArgumentCount(function, owner.rpartition(".")[2], names_in(missing["names"]))
    bound = _MISSING_BOUND.search(message)
    return ArgumentCount("", missing=names_in(bound["names"])) if bound else None


@dataclass(frozen=True)
class AttributeMissing:
    """An attribute that an object, class or module does not have."""

    owner: str
    """The class or module."""
    name: str
    kind: str = "object"
    """`object`, `type` or `module`."""
    suggestion: str = ""


_ATTRIBUTE = pattern(
    r"(?:(?P<kind>[Mm]odule|type object) )?'(?P<owner>[^'\n]{1,300})'(?: object)? "
    r"has no attribute '(?P<name>[^'\n]{1,300})'"
)
_DID_YOU_MEAN = pattern(r"Did you mean: '(?P<name>\w+)'")


def attribute_missing(message: str) -> AttributeMissing | None:
    """Return the missing attribute."""
    match = _ATTRIBUTE.search(message)
    if match is None:
        return None
    kind = {"module": "module", "type object": "type"}.get((match["kind"] or "").lower(), "object")
    hint = _DID_YOU_MEAN.search(message)
    return AttributeMissing(match["owner"], match["name"], kind, hint["name"] if hint else "")


@dataclass(frozen=True)
class MissingGradients:
    """The variables that got no gradient."""

    every: bool
    """Whether no variable of the model got a gradient."""
    variables: tuple[str, ...] = ()


_VARIABLE_PATH = pattern(r"<(?:Keras)?Variable (?:path|name)=(?P<path>[^,\s>]+)")
_VARIABLE_NAME = pattern(r"'(?P<name>[\w./ -]{1,200}:0)'")


def missing_gradients(message: str) -> MissingGradients | None:
    """Return the variables that the loss does not depend on."""
    every = "No gradients provided for any variable" in message
    if not every and "Gradients do not exist for variables" not in message:
        return None
    # After `grads_and_vars`, old messages list everything again with values.
    named = message.partition("Provided `grads_and_vars`")[0][:20_000]
    paths = [match["path"] for match in _VARIABLE_PATH.finditer(named)]
    names = [match["name"] for match in _VARIABLE_NAME.finditer(named)]
    return MissingGradients(every, tuple(dict.fromkeys(paths or names)))


@dataclass(frozen=True)
class NamedTensor:
    """The symbolic tensor that a message is about."""

    name: str
    shape: Shape | None = None
    dtype: str = ""


_TENSORS = (
    pattern(
        rf"<tf\.Tensor '(?P<name>[^'\n]{{1,500}})' shape=(?P<shape>{SHAPE}|<unknown>) dtype=(?P<dtype>\w+)>"
    ),
    pattern(
        rf'Tensor\("(?P<name>[^"\n]{{1,500}})"(?:, shape=(?P<shape>{SHAPE}))?(?:, dtype=(?P<dtype>\w+))?\)'
    ),
    pattern(r"symbolic (?:tf\.)?Tensor \((?P<name>[^)\n]{1,500})\) to a numpy array"),
    pattern(r"The graph tensor has name: (?P<name>\S+)"),
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
    pattern(
        r"Input '(?P<argument>\w+)' of '(?P<operation>\w+)' Op has type (?P<found>\w+) "
        r"that does not match (?:expected )?type (?:of )?(?P<expected>\w+)"
    ),
    # Operations that join parts: `tf.concat`, `tf.stack`.
    pattern(
        r"Tensors in list passed to '(?P<argument>\w+)' of '(?P<operation>\w+)' Op have types "
        r"\[(?P<types>(?P<expected>\w+)(?:, (?P=expected))*, (?P<found>\w+)[\w, ]*)\]"
    ),
    pattern(
        r"Value passed to parameter '(?P<argument>\w+)' has DataType (?P<found>\w+) "
        r"not in list of allowed values: (?P<allowed>[\w, ]+)"
    ),
    # The eager wording.
    pattern(
        r"Value for attr '\w+' of (?P<found>\w+) is not in the list of allowed values: (?P<allowed>[\w, ]+)"
        r"(?:\s*; NodeDef: \{\{node (?P<operation>\w+)\}\})?"
    ),
    pattern(
        r"cannot compute (?P<operation>\w+) as input #(?P<argument>\d+)\(zero-based\) "
        r"was expected to be an? (?P<expected>\w+) tensor but is an? (?P<found>\w+) tensor"
    ),
    # `/` compares the dtypes itself, before it creates an operation.
    pattern(r"`x` and `y` must have the same dtype, got tf\.(?P<found>\w+) != tf\.(?P<expected>\w+)"),
    pattern(r"Tensor conversion requested dtype (?P<expected>\w+) for Tensor with dtype (?P<found>\w+)"),
    pattern(r"Cast (?P<found>\w+) to (?P<expected>\w+) is not supported"),
    pattern(r"Unsupported object type (?P<found>[\w.]+)"),
    pattern(r"Invalid dtype: (?P<found>[\w\[\], ]+)"),
    pattern(r"dtype='?(?P<found>\w+)'? is not a valid dtype for Keras type promotion"),
)


def dtype_mismatch(message: str) -> DtypeMismatch | None:
    """Return the rejected dtype."""
    for expected in _DTYPES:
        match = expected.search(message)
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
    dtype: str = ""
    device: str = ""


_OOM = pattern(
    r"OOM when allocating tensor with shape ?(?P<shape>[\[(][\d, ]*[\])]) and type (?P<dtype>\w+)"
    r"(?: on (?P<device>\S+))?"
)


def allocation_failed(message: str) -> AllocationFailed | None:
    """Return the tensor or size that could not be allocated."""
    match = _OOM.search(message)
    if match:
        return AllocationFailed(parse_shape(match["shape"]), match["dtype"], match["device"] or "")
    words = ("failed to allocate memory", "Out of memory while trying to allocate", "Unable to allocate ")
    return AllocationFailed() if any(part in message for part in words) else None
