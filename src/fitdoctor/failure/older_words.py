"""Rewrites the wordings of older Keras and TensorFlow versions into those of today, which the causes know."""

from __future__ import annotations

import re
from collections.abc import Callable

from fitdoctor.facts import Shape
from fitdoctor.failure.shapes import SHAPE, parse_shape

_CHECKED = re.compile(
    rf"(?:(?:Error )?when checking (?:model )?(?P<which>input|target|): )?expected (?P<name>\S{{1,200}}) to have "
    rf"(?:shape ?(?P<expected>{SHAPE})|(?P<rank>\d{{1,2}}) ?dimensions),?\s+but got "
    rf"(?:an )?array with shape (?P<found>{SHAPE})"
)
"""Keras before 2.4 compared arrays with inputs and outputs before it trained."""
_FOR_OUTPUT = re.compile(
    rf"A target array with shape (?P<target>{SHAPE}) was passed for an output of shape (?P<output>{SHAPE}) ?"
    r"(?:while using as loss `?(?P<loss>\w+)`?)?"
)
_FOR_CLASSES = re.compile(
    rf"You are passing a target array of shape (?P<target>{SHAPE}) while using as loss `categorical_crossentropy`"
)
_LOSSES = (
    "mean_squared_error|mean_absolute_error|mean_squared_logarithmic_error|binary_crossentropy|huber|log_cosh"
)
_IN_LOSS = re.compile(
    rf"Dimensions must be equal, but are \d+ and \d+ for '\{{\{{node (?:\w+/)?(?P<loss>{_LOSSES})/(?:weighted_loss/)?"
    r"(?P<step>SquaredDifference|sub|mul|logistic_loss/mul)\}\} = (?P<operation>\w+)\[[^\n]{0,2000}' "
    r"with input shapes: (?P<first>\[[\d,?]*\]), (?P<second>\[[\d,?]*\])"
)
_OF_LOSS = re.compile(
    rf"Incompatible shapes: (?P<first>{SHAPE}) vs\. (?P<second>{SHAPE})(?P<rest>[^\n]*)(?P<tail>[\s\S]*)"
)
_LOSS_NODE = re.compile(
    rf"^(?:gradient_tape/)?(?:loss(?:_\d+)?/\w+_loss|(?:\w+/)?(?P<loss>{_LOSSES}))/(?P<step>sub|SquaredDifference|mul)(?:_\d+)?$"
)
"""Before Keras 3, a loss was in the graph under its own name; in TensorFlow 1, under that of the output."""


_LONG = re.compile(r"(?<=\d)L(?=[,)\]])")
"""Python 2 on Windows writes the sizes of a shape as `(32L, 1L)`."""


def in_todays_words(text: str, node: str = "", operation: str = "") -> str:
    """Return a message as today's version would word it.

    Args:
        text: the message without its wrappers.
        node: the node of the graph that failed, if the message named one.
        operation: the operation that failed, if the message named one.
    """
    text = _LONG.sub("", text)
    for said in dict.fromkeys((text, " ".join(text.split()))):  # mail programs and pages wrap lines
        for expected, rewrite in _WORDINGS:
            found = expected.search(said)
            if found is not None:
                return said[: found.start()] + rewrite(found) + said[found.end() :]
    return _of_loss(text, node, operation)


def _checked(found: re.Match[str]) -> str:
    shape = parse_shape(found["found"])
    assert shape is not None
    if shape[:1] == (0,):
        return "Expected input data to be non-empty."
    if found["rank"]:
        expected: Shape = (None,) * int(found["rank"])
    else:
        whole = parse_shape(found["expected"])
        assert whole is not None
        # Since Keras 2.1.3 the batch axis is left out of both.
        bare = not whole or whole[0] is not None
        expected, shape = ((None, *whole), (None, *shape)) if bare else (whole, shape)
    if found["which"] == "target" or found["which"] is None and "input" not in found["name"]:
        if found["rank"] and len(expected) == 3 and len(shape) == 2 and shape[1] != 1:
            return found[0]  # labels per time step, or one row per sample: FIT217 decides
        rule = "rank (ndim)" if len(shape) != len(expected) else "shape"
        return _compared(rule, shape, expected)
    if len(shape) == len(expected) == 2 and shape == (expected[1], 1) and shape[0] != 1:
        shape = shape[:1]  # Keras made a column of one sample that lacks its batch axis
    if len(shape) != len(expected):
        ranks = f"expected ndim={len(expected)}, found ndim={len(shape)}. Full shape received: {shape}"
        return f'Input 0 of layer "{_model(found["name"])}" is incompatible with the layer: {ranks}'
    return (
        f'Input 0 of layer "{_model(found["name"])}" is incompatible with the layer: '
        f"expected shape={expected}, found shape={shape}"
    )


def _ranks(expected: str, found: str) -> str:
    """Return what Keras says today of a tensor with the wrong number of axes; Theano and Keras 0 had words of their own."""
    shape = parse_shape(found)
    assert shape is not None
    ranks = f"expected ndim={expected}, found ndim={len(shape)}. Full shape received: {shape}"
    return f'Input 0 of layer "model" is incompatible with the layer: {ranks}'


def _model(name: str) -> str:
    """Return the name of the layer that an input belongs to, without its number: the data goes into it."""
    return re.sub(r"(?:_\d+)?(?:_input)?$", "", name) or "model"


def _compared(rule: str, target: Shape, output: Shape) -> str:
    return (
        f"Arguments `target` and `output` must have the same {rule}. "
        f"Received: target.shape={target}, output.shape={output}"
    )


def _for_output(found: re.Match[str]) -> str:
    target, output = parse_shape(found["target"]), parse_shape(found["output"])
    assert target is not None
    assert output is not None
    if found["loss"] in (None, "categorical_crossentropy", "binary_crossentropy"):
        return _compared("shape", target, output)
    return _subtracted(found["loss"], target, output)


def _for_classes(found: re.Match[str]) -> str:
    target = parse_shape(found["target"])
    assert target is not None
    return _compared("rank (ndim)", target[:1], (None, None))


def _subtracted(loss: str, target: Shape, output: Shape) -> str:
    """Return what TensorFlow says today if a loss cannot subtract the output from the labels."""
    pair = next(
        ((one, two) for one, two in zip(target[::-1], output[::-1], strict=False) if one != two), (0, 0)
    )
    shapes = ", ".join(
        f"[{','.join('?' if size is None else str(size) for size in s)}]" for s in (target, output)
    )
    return (
        f"Dimensions must be equal, but are {pair[0]} and {pair[1]} for "
        f"'{{{{node compile_loss/{loss}/sub}}}} = Sub[T=DT_FLOAT](data, output)' with input shapes: {shapes}."
    )


def _in_loss(found: re.Match[str]) -> str:
    first, second = parse_shape(found["first"]), parse_shape(found["second"])
    assert first is not None
    assert second is not None
    # `squared_difference(y_pred, y_true)` and `y_pred - y_true`: the labels come second.
    return _subtracted(found["loss"], second, first)


def _of_loss(text: str, node: str, operation: str) -> str:
    """Rewrite shapes that a loss could not subtract while it ran."""
    found = _OF_LOSS.match(text)
    in_loss = _LOSS_NODE.match(node)
    if found is None or not (in_loss or operation == "SquaredDifference" and not node):
        return text
    first, second = parse_shape(found["first"]), parse_shape(found["second"])
    if first is None or second is None:
        return text
    loss = in_loss["loss"] if in_loss else None
    labels_first = in_loss is not None and in_loss["loss"] is None
    target, output = (first, second) if labels_first else (second, first)
    return _subtracted(loss or "mean_squared_error", target, output)


def _rows_of(shapes: str) -> str:
    found = (parse_shape(match[0]) for match in re.compile(SHAPE).finditer(shapes[1:-1]))
    return ", ".join(str(shape[0]) for shape in found if shape)


def _fed(found: re.Match[str]) -> str:
    """Return today's words for a value that a placeholder of TensorFlow 1 rejected."""
    shape, expected = parse_shape(found["found"]), parse_shape(found["expected"])
    assert shape is not None
    assert expected is not None
    if "target" in found["name"] or "label" in found["name"]:
        return _compared("shape" if len(shape) == len(expected) else "rank (ndim)", shape, expected)
    return f'Input 0 of layer "model" is incompatible with the layer: expected shape={expected}, found shape={shape}'


_WORDINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_CHECKED, _checked),
    (_FOR_OUTPUT, _for_output),
    (_FOR_CLASSES, _for_classes),
    (_IN_LOSS, _in_loss),
    (re.compile(rf"Wrong number of dimensions: expected (?P<expected>\d+), got (?P<found>\d+) with shape (?P<shape>{SHAPE})"
                rf"|Layer expects input ndim=(?P<wanted>\d+), was provided with input shape (?P<given>{SHAPE})"),
     lambda found: _ranks(found["expected"] or found["wanted"], found["shape"] or found["given"])),
    (re.compile(r"except for the concat axis\. Got inputs shapes: "),
     lambda _: "except for the concatenation axis. Received: input_shape="),
    (re.compile(r'"concat" mode can only merge layers with matching output shapes except for the concat axis\. '
                r"Layer shapes: "),
     lambda _: "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
               "Received: input_shape="),
    (re.compile(r"Failed to find data adapter that can handle input: ?(?P<types>[^\n]{1,2000})"),
     lambda found: _unrecognized(found["types"])),
    (re.compile(r"Please provide as model inputs either a single array or a list of arrays\. You passed: x=(?P<x>[^\n]*)"),
     lambda found: f"Unrecognized data type: x={found['x']} (of type <class 'list'>)"),
    (re.compile(r"^Unknown (?P<kind>layer|loss function|metric function|object): ?'?(?P<name>\w+(?:>\w+)*)"
                r"(?![\w>]|'?\.? Please)'?"),
     lambda found: f"Unknown {found['kind']}: '{found['name']}'. Please ensure you are using a `custom_object_scope`"),
    (re.compile(r"^(?P<what>No module named|cannot import name) (?P<name>[\w.]+)$"),
     lambda found: f"{found['what']} '{found['name']}'"),
    (re.compile(r"^module (?P<name>(?:tensorflow|keras)[\w.]*) has no attribute (?P<missing>\w+)"),
     lambda found: f"module '{found['name']}' has no attribute '{found['missing']}'"),
    (re.compile(r"When subclassing the `Model` class, you should implement a `call(?:\(\))?` method"),
     lambda _: "Model Model does not have a `call()` method implemented"),
    (re.compile(r"Input arrays should have the same number of samples as target arrays\. Found (?P<x>\d+) input samples and "
             r"(?P<y>\d+) target samples"),
     lambda found: f"Data cardinality is ambiguous:\n  x sizes: {found['x']}\n  y sizes: {found['y']}"),
    (re.compile(r"All input arrays \(x\) should have the same number of samples\. "
             rf"Got array shapes: (?P<shapes>\[(?:{SHAPE},? ?)+\])"),
     lambda found: f"Data cardinality is ambiguous:\n  x sizes: {_rows_of(found['shapes'])}"),
    (re.compile(r"Error when checking model input: the list of Numpy arrays that you are passing to your model is not the "
             r"size the model expected\. Expected to see (?P<expected>\d+) array(?:\(s\)|s)?,?[\s\S]{0,120}?"
             r"list of (?P<found>\d+) arrays"),
     lambda found: f'Layer "model" expects {found["expected"]} input(s), but it received {found["found"]} input tensors'),
    (re.compile(rf"Cannot feed value of shape (?P<found>{SHAPE}) for Tensor u?'(?P<name>[^']+)', "
             rf"which has shape '(?P<expected>{SHAPE})'"),
     _fed),
    (re.compile(r"You are passing KerasTensor[\s\S]{0,2000}?, an intermediate Keras symbolic input/output, to a TF API that "
             r"does not"),
     lambda _: "A KerasTensor cannot be used as input to a TensorFlow function: this one does not"),
    (re.compile(r'(?:"(?P<owner>\w+)" object )?has no attribute "(?P<name>\w+)"'),
     lambda found: (f"'{found['owner']}' object " if found["owner"] else "") + f"has no attribute '{found['name']}'"),
    (re.compile(r"^'Tensor' object is not iterable\.?$"),
     lambda _: "Tensor objects are only iterable when eager execution is enabled."),
    (re.compile(r"Output tensors to a \w+ must be the output of a \w+ `?Layer`?[^\n]{0,80}"
                r"Found: <(?P<kind>[\w.]*layers[\w.]*) object"),
     lambda found: f"Inputs to a layer should be tensors. Got: <{found['kind']} object at 0x0>"),
    (re.compile(r"Layer \S+ was called with an input that isn't a symbolic tensor\. Received type: "
             r"<class '(?P<kind>[\w.]*layers[\w.]*)'>"),
     lambda found: f"Inputs to a layer should be tensors. Got: <{found['kind']} object at 0x0>"),
    (re.compile(r"GradientTape\.\w+ can only be called once on non-persistent tapes"),
     lambda _: "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"),
    (re.compile(r"The model cannot be compiled because it has no loss to optimize\.?"),
     lambda _: "No loss to compute. Provide a `loss` argument in `compile()`."),
)  # fmt: skip
"""An older wording, and the function that returns today's; the first that is found counts."""

_TYPE = re.compile(r"<class '(?P<name>[\w.<>]+)'>")
_HELD = re.compile(r"\(<class '(?P<name>[\w.]+)'> containing (?P<what>[^()]*)\)")


_NESTED = re.compile(r"\(<class '(?P<name>[\w.]+)'> containing ")
"""A list of lists, the inner of which has types of its own."""


def _unrecognized(given: str) -> str:
    """Return today's words for the types that `x` and `y` had: the one to blame is named."""
    first = _NESTED.match(given)
    parts = _parts(given) or ([(first["name"], "")] if first else [])
    return "Unrecognized data type: " + " and ".join(
        f"{name}=… (of type <class '{kind}'>{held})" for name, kind, held in _blamed(parts)
    )


def _parts(given: str) -> list[tuple[str, str]]:
    """Return the types of `x` and `y`, each with the types that it contains."""
    parts: list[tuple[str, str]] = []
    at = 0
    while at < len(given) and len(parts) < 2:
        held = _HELD.match(given, at)
        found = held or _TYPE.match(given, at)
        if found is None:
            break
        parts.append((found["name"], held["what"] if held else ""))
        at = found.end() + 2
    return parts


_OF_ARRAYS = re.compile(r"keys and \{[^{}]*<class '(?:numpy|pandas|tensorflow)\.[^{}]*\} values")
"""A dict of arrays is one of the forms that Keras takes."""
_TAKEN = ("numpy.", "pandas.", "tensorflow.", "NoneType")


def _blamed(parts: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Return `x` unless its type is one that Keras takes; then `y`."""
    named = [(name, kind, held) for name, (kind, held) in zip("xy", parts, strict=False)]
    odd = [
        one for one in named if not (one[1].startswith(_TAKEN) and not one[2] or _OF_ARRAYS.search(one[2]))
    ]
    return [(name, kind, f" containing {held}" if held else "") for name, kind, held in (odd[:1] or named)]
