"""Reads shapes, and pairs of conflicting shapes, from a message."""

from __future__ import annotations

import re

from fitdoctor.facts import Shape
from fitdoctor.records import dataclass

_DIMENSION = r"(?:-?\d{1,18}|None|\?|<unknown>)"
SHAPE = rf"[\[(][ ]?(?:{_DIMENSION}(?:,[ ]?{_DIMENSION}){{0,11}},?)?[ ]?[\])]"
"""A shape as any version writes it: `(None, 28)`, `[?,28]`, `(8,)`, `()`."""
_ONE_SHAPE = SHAPE
_NUMBER = _DIMENSION


def parse_shape(text: str) -> Shape | None:
    """Parse a shape; None if the text is not one."""
    text = (
        text.strip().removeprefix("TensorShape(").removesuffix(")") if "TensorShape" in text else text.strip()
    )
    if not re.fullmatch(_ONE_SHAPE, text):
        return None
    return tuple(int(part) if part.lstrip("-").isdigit() else None for part in re.findall(_NUMBER, text))


def shapes_in(message: str) -> tuple[Shape, ...]:
    """Return all shapes in a message in order, except lone bracketed numbers, which may be something else."""
    found = (match[0] for match in re.finditer(_ONE_SHAPE, message[:20_000]))
    shapes = [parse_shape(text) for text in found if "," in text or text in ("()", "[]")]
    return tuple(shape for shape in shapes if shape is not None)


def _shape(match: re.Match[str], group: str) -> Shape | None:
    text = match.groupdict().get(group)
    return parse_shape(text) if text else None


# --- what goes into a layer ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class InputMismatch:
    """An input that a layer or model rejected; unknown fields are None."""

    layer: str = ""
    index: int | None = None
    name: str = ""
    expected: Shape | None = None
    found: Shape | None = None
    expected_rank: int | None = None
    rank_rule: str = ""
    """`exact`, `least` or `most`."""
    found_rank: int | None = None
    axis: int | None = None
    axis_length: int | None = None
    """The expected size of the axis."""
    target: bool = False
    """Whether the message is about the labels (Keras before 2.4 checked them the same way)."""

    @property
    def ranks(self) -> tuple[int | None, int | None]:
        """Return the expected and the found rank, derived from shapes if needed."""
        expected = self.expected_rank if self.expected is None else len(self.expected)
        return expected, self.found_rank if self.found is None else len(self.found)


_LAYER_INPUT = r"""(?x)Input[ ](?P<index>\d+)
    (?:[ ]with[ ]name[ ]'(?P<name>[^'\n]*)')?
    [ ](?:of[ ]layer[ ]["']?(?P<layer>[^\s"':]+)["']?[ ]is[ ]incompatible[ ]with[ ]the\s+layer
      | is[ ]incompatible[ ]with[ ]layer[ ]["']?(?P<model>[^\s"':]+)["']?):[ ]?:?[ ]?(?P<rest>.*)"""
_EXPECTED_SHAPE = rf"expected shape=(?P<expected>{SHAPE}), found shape=(?P<found>{SHAPE})"
_EXPECTED_RANK = (
    rf"expected (?P<rule>min_|max_)?ndim=(?P<rank>\d+), found ndim=(?P<found_rank>\d+)"
    rf"(?:\. Full shape received: (?P<found>{SHAPE}))?"
)
_EXPECTED_AXIS = (
    rf"expected axis (?P<axis>-?\d+) of input shape to have value (?P<length>\d+),? but received input with shape "
    rf"(?P<found>{SHAPE})"
)
_INVALID_INPUT = "Invalid input shape for input "
"""The received value follows, perhaps an array with many values."""
_LONGEST_VALUES = 40_000
_OTHER_INPUT = (
    rf"(?: with name '(?P<name>[^'\n]*)')?(?: and path '[^'\n]*')?\. "
    rf"Expected shape (?P<expected>{SHAPE}), but input has incompatible shape (?P<found>{SHAPE})"
)
_CHECKING = (
    rf"Error when checking (?:model )?(?P<which>input|target|): expected (?P<name>\S{{1,200}}) to have "
    rf"(?:shape (?P<expected>{SHAPE})|(?P<rank>\d+) dimensions),? but got array with shape (?P<found>{SHAPE})"
)


def input_mismatch(message: str) -> InputMismatch | None:
    """Return the rejected input, for the wording of any Keras version."""
    checking = re.search(_CHECKING, message)
    if checking:
        rank = int(checking["rank"]) if checking["rank"] else None
        found = _shape(checking, "found")
        return InputMismatch(
            name=checking["name"],
            expected=_shape(checking, "expected"),
            found=found,
            expected_rank=rank,
            rank_rule="exact" if rank else "",
            found_rank=len(found) if rank and found is not None else None,
            target=checking["which"] == "target",
        )
    at = message.find(_INVALID_INPUT)
    invalid = re.search(_OTHER_INPUT, message[at : at + _LONGEST_VALUES]) if at >= 0 else None
    if invalid:
        return InputMismatch(
            name=invalid["name"] or "", expected=_shape(invalid, "expected"), found=_shape(invalid, "found")
        )
    refused = re.search(_LAYER_INPUT, message)
    return _refused(refused) if refused else None


def _refused(refused: re.Match[str]) -> InputMismatch:
    rest = refused["rest"]
    shapes, ranks, axis = (
        re.search(_EXPECTED_SHAPE, rest),
        re.search(_EXPECTED_RANK, rest),
        re.search(_EXPECTED_AXIS, rest),
    )
    name = refused["name"] or ""
    found = shapes or ranks or axis
    return InputMismatch(
        layer=refused["layer"] or refused["model"] or "",
        index=int(refused["index"]),
        name="" if name == "None" else name,
        expected=_shape(shapes, "expected") if shapes else None,
        found=_shape(found, "found") if found else None,
        expected_rank=int(ranks["rank"]) if ranks else None,
        rank_rule={"min_": "least", "max_": "most", None: "exact"}[ranks["rule"]] if ranks else "",
        found_rank=int(ranks["found_rank"]) if ranks else None,
        axis=int(axis["axis"]) if axis else None,
        axis_length=int(axis["length"]) if axis else None,
    )


_KERNEL_NODE = (
    r"^(?:StatefulPartitionedCall/)?(?:functional|sequential|model)(?:_\d+)?/"
    r"(?P<layer>(?P<kind>dense|lstm|gru|simple_rnn)(?:_\d+)?)/"
)
_KERNEL_SIZES = (
    r"Matrix size-incompatible: In\[0\]: \[\d+,(?P<found>\d+)\], In\[1\]: \[(?P<kernel>\d+),\d+\]"
    r"|but are (?P<found_first>\d+) and (?P<kernel_first>\d+) for '\{\{node \S+_cell(?:_\d+)?/MatMul\}\}"
)


def kernel_mismatch(message: str, node: str) -> InputMismatch | None:
    """Return the mismatch of a layer inside the model whose kernel was built for another last axis."""
    sizes, layer = re.search(_KERNEL_SIZES, message), re.search(_KERNEL_NODE, node)
    if sizes is None or layer is None:
        return None
    found, wanted = sizes["found"] or sizes["found_first"], sizes["kernel"] or sizes["kernel_first"]
    axes = (None,) if layer["kind"] == "dense" else (None, None)
    return InputMismatch(layer=layer["layer"], found=(*axes, int(found)), axis=-1, axis_length=int(wanted))


@dataclass(frozen=True)
class InputCount:
    """A model that got the wrong number or names of inputs."""

    layer: str = ""
    expected: int | None = None
    received: int | None = None
    expected_keys: tuple[str, ...] = ()
    received_keys: tuple[str, ...] = ()
    missing: str = ""


_COUNT = (
    r"""Layer ["']?(?P<layer>[^\s"']+)["']? expects (?P<expected>\d+) (?:named )?input(?:\(s\)|s)?"""
    r"""(?: with keys (?P<keys>\[[^\]\n]{0,2000}\]))?,? but it received (?P<received>\d+) input"""
)
_KEYS = (
    r"""Missing data for input ["'](?P<missing>[^"'\n]*)["']\. You passed a data dictionary with keys """
    r"""(?P<given>\[[^\]\n]{0,2000}\])\. Expected the following keys: (?P<keys>\[[^\]\n]{0,2000}\])"""
)
_QUOTED = r"""'([^'\n]{0,200})'|"([^"\n]{0,200})\""""


def names_in(text: str) -> tuple[str, ...]:
    """Return the quoted names of a list in a message."""
    return tuple(first or second for first, second in re.findall(_QUOTED, text))


def input_count(message: str) -> InputCount | None:
    """Return the wrong number of inputs, or the wrong keys."""
    keys = re.search(_KEYS, message)
    if keys:
        return InputCount(
            expected_keys=names_in(keys["keys"]),
            received_keys=names_in(keys["given"]),
            missing=keys["missing"],
        )
    count = re.search(_COUNT, message)
    if count is None:
        return None
    return InputCount(
        layer=count["layer"],
        expected=int(count["expected"]),
        received=int(count["received"]),
        expected_keys=names_in(count["keys"] or ""),
    )


# --- labels against outputs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class TargetOutput:
    """The shapes of labels and output that a loss could not compare."""

    target: Shape
    output: Shape
    rule: str
    """`same shape`, `same rank` or `one rank less` (sparse labels)."""


_TARGET, _OUTPUT = rf"(?P<target>{SHAPE})", rf"(?P<output>{SHAPE})"
_RECEIVED = rf"\. Received: target\.shape={_TARGET}, output\.shape={_OUTPUT}"
_PAIRS = (
    ("same rank", r"must have the same rank \(ndim\)" + _RECEIVED),
    ("same shape", r"must have the same shape" + _RECEIVED),
    ("one rank less", r"must have rank \(ndim\) `target\.ndim - 1`" + _RECEIVED),
    ("one rank less", r"must have the same shape,? except for the last dimension" + _RECEIVED),
    (
        "one rank less",
        r"must have the same shape up until the last dimension: "
        rf"target\.shape={_TARGET}, output\.shape={_OUTPUT}",
    ),
    ("same shape", rf"Shapes {_TARGET} and {_OUTPUT} are incompatible"),
    (
        "same shape",
        rf"`?logits`? and `?labels`? must have the same shape,? (?:received )?\({_OUTPUT} vs {_TARGET}\)",
    ),
    (
        "same shape",
        rf"logits and labels must be (?:broadcastable|(?:the )?same size): logits_size={_OUTPUT} labels_size={_TARGET}",
    ),
    (
        "one rank less",
        r"logits and labels must have the same first dimension, "
        rf"got logits shape {_OUTPUT} and labels shape {_TARGET}",
    ),
    (
        "one rank less",
        rf"`labels\.shape` must equal `logits\.shape` except for the last dimension\. "
        rf"Received: labels\.shape={_TARGET} and logits\.shape={_OUTPUT}",
    ),
    (
        "one rank less",
        rf"`labels\.shape\.rank` must equal `logits\.shape\.rank - 1`\. Received: labels\.shape={_TARGET} "
        rf"of rank \d+ and logits\.shape={_OUTPUT}",
    ),
    (
        "one rank less",
        rf"The shape of labels \(received {_TARGET}\) should equal the shape of logits "
        rf"except for the last dimension \(received {_OUTPUT}\)",
    ),
)


_FLATTENED = ("same first dimension", "`labels.shape` must equal", "The shape of labels (received")
"""Words of sparse losses, which flatten labels and outputs first."""


def target_and_output(message: str) -> TargetOutput | None:
    """Return the incompatible shapes of labels and output in a loss."""
    for rule, expected in _PAIRS:
        match = re.search(expected, message)
        if match:
            target, output = _shape(match, "target"), _shape(match, "output")
            if target is not None and output is not None:
                if any(words in match[0] for words in _FLATTENED):
                    target, output = _before_flattening(target, output)
                return TargetOutput(target, output, rule)
    return None


def _before_flattening(target: Shape, output: Shape) -> tuple[Shape, Shape]:
    """Restore the shapes that a sparse loss flattened before comparing them.

    32 rows of 10 units with 320 labels were one-hot labels; 1600 rows with 32 labels were 50 steps per sample.
    """
    if len(target) != 1 or len(output) != 2:
        return target, output
    labels, (rows, units) = target[0], output
    if not labels or not rows or not units:
        return target, output
    if labels == rows * units:
        return (rows, units), output
    if rows > labels and rows % labels == 0:
        return target, (labels, rows // labels, units)
    return target, output


# --- operations ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OperationShapes:
    """Shapes that an operation could not combine."""

    shapes: tuple[Shape, ...]
    operation: str = ""
    node: str = ""

    @property
    def is_product(self) -> bool:
        """Whether the operation multiplies matrices."""
        return "MatMul" in self.operation


_FOR_NODE = r"""(?mx)for[ ]'(?:\{\{node[ ](?P<node>[^}\s]+)\}\}[ ]=[ ](?P<operation>\w+)\[[^\n]{0,4000}?
      | (?P<old_node>[^'\s]+))'
    (?:[ ]\(op:[ ]'(?P<old_operation>\w+)'\))?
    [ ]with[ ]input[ ]shapes:[ ](?P<shapes>[\[\]\d,?. <>a-z]{2,1000}?)(?:[ ]and[ ]with|\.$|\.\s|$)"""
_AGAINST = (
    rf"(?:Incompatible shapes: |Inputs have incompatible shapes\. Received shapes |"
    rf"Matrix size-incompatible: In\[0\]: |mismatching shapes? |Shapes of all inputs must match: values\[\d+\]\.shape = )"
    rf"(?P<one>{SHAPE})(?:,? vs\.? |, In\[1\]: | != values\[\d+\]\.shape = |, | and )(?P<two>{SHAPE})"
)
_LISTED = (
    rf"(?:Received: input_shape=|Got inputs shapes: |inputs with (?:compatible|matching) shapes[^\[\n]{{0,200}})"
    rf"(?P<shapes>\[(?:{SHAPE}(?:, )?){{1,20}}\])"
)


def operation_shapes(message: str) -> OperationShapes | None:
    """Return the shapes that an operation or merging layer rejected."""
    node = re.search(_FOR_NODE, message)
    if node:
        return OperationShapes(
            shapes=_listed_shapes(node["shapes"]),
            operation=node["operation"] or node["old_operation"] or "",
            node=node["node"] or node["old_node"] or "",
        )
    against = re.search(_AGAINST, message)
    if against:
        shapes = (_shape(against, "one"), _shape(against, "two"))
        return OperationShapes(tuple(shape for shape in shapes if shape is not None))
    listed = re.search(_LISTED, message)
    return OperationShapes(_listed_shapes(listed["shapes"][1:-1])) if listed else None


def _listed_shapes(text: str) -> tuple[Shape, ...]:
    shapes = (parse_shape(match[0]) for match in re.finditer(_ONE_SHAPE, text))
    return tuple(shape for shape in shapes if shape is not None)


@dataclass(frozen=True)
class ReshapeSizes:
    """A reshape to a different number of elements."""

    given: int | None = None
    wanted: int | None = None
    multiple_of: int | None = None
    input_shape: Shape | None = None
    target_shape: Shape | None = None


_RESHAPES = (
    (
        rf"Cannot reshape a tensor with (?P<given>\d+) elements to shape (?P<target>{SHAPE}) "
        r"\((?P<needed>\d+) elements\)"
    ),
    (
        r"Input to reshape is a tensor with (?P<given>\d+) values, but the requested shape "
        r"(?:has (?P<needed>\d+)|requires a multiple of (?P<multiple>\d+))"
    ),
    (
        r"Dimension size must be evenly divisible by (?P<multiple>\d+) but is (?P<given>\d+) for '[^']{0,400}Reshape"
    ),
    (
        r"total size of (?:the tensor|new array) must be unchanged[.,] ?(?:Received: )?"
        rf"input_shape ?= ?(?P<input>{SHAPE}), (?:target|output)_shape ?= ?(?P<target>{SHAPE})"
    ),
    r"cannot reshape array of size (?P<given>\d+) into shape (?P<target>\([\d, -]{1,200}\))",
)


def reshape_sizes(message: str) -> ReshapeSizes | None:
    """Return the sizes of an impossible reshape."""
    for expected in _RESHAPES:
        match = re.search(expected, message)
        if match:
            fields = match.groupdict()
            return ReshapeSizes(
                given=_integer(fields.get("given")),
                wanted=_integer(fields.get("needed")),
                multiple_of=_integer(fields.get("multiple")),
                input_shape=_shape(match, "input"),
                target_shape=_shape(match, "target"),
            )
    return None


def _integer(text: str | None) -> int | None:
    return int(text) if text else None


@dataclass(frozen=True)
class ExhaustedDimension:
    """A convolution or pooling whose window is larger than its input."""

    input: Shape | None
    kernel: Shape | None


_EXHAUSTED = (
    rf"output size would be (?:zero or )?negative\. Received:? `inputs shape=(?P<input>{SHAPE})`(?: and |, )"
    rf"`(?:kernel shape|pool_size|pool size)=(?P<kernel>{SHAPE})`"
)


_DOWNSAMPLED = (
    r"dimensions in the output is <= 0 due to downsampling in [\w/]+\.[^\n]{0,80}"
    rf"Received input shape (?P<input>{SHAPE})"
)
"""The Keras 2 wording."""


def exhausted_dimension(message: str) -> ExhaustedDimension | None:
    """Return the layer input with an axis too short for the window."""
    match = re.search(_EXHAUSTED, message)
    if match:
        return ExhaustedDimension(_shape(match, "input"), _shape(match, "kernel"))
    older = re.search(_DOWNSAMPLED, message)
    if older:
        return ExhaustedDimension(_shape(older, "input"), None)
    if "Negative dimension size caused by subtracting" in message:
        found = operation_shapes(message)
        shapes = found.shapes if found else ()
        return ExhaustedDimension(shapes[0] if shapes else None, shapes[1] if len(shapes) > 1 else None)
    if "output size would be" in message and "negative" in message:
        return ExhaustedDimension(None, None)
    return None
