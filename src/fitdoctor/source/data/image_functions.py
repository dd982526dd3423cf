"""TensorFlow image functions: height, width and channels after decoding, resizing and cropping."""

from __future__ import annotations

from fitdoctor.facts import Unknown
from fitdoctor.source.data import arrays
from fitdoctor.source.data.array_arguments import array_argument, dtype_of
from fitdoctor.source.interpreter.interpret import Interpreter
from fitdoctor.source.interpreter.library import handles
from fitdoctor.source.interpreter.values import NONE, UNTOLD, Arguments, Array, Plain, Value
from fitdoctor.source.models.layer_settings import Dim

_TENSOR = "tensorflow.Tensor"
_IMAGE = "tensorflow.image."
_AS_LARGE = """flip_left_right flip_up_down random_flip_left_right random_flip_up_down stateless_random_flip_left_right
    stateless_random_flip_up_down adjust_brightness adjust_contrast adjust_hue adjust_saturation adjust_gamma
    random_brightness random_contrast random_hue random_saturation per_image_standardization""".split()


def _picture(array: Array | None, height: Dim, width: Dim, channels: Dim | None = None) -> Value:
    """Return an image, or a batch of images, with a new size; `channels` is None to keep them."""
    dims = arrays.known_dims(array) if array is not None else None
    if array is None or dims is None or len(dims) not in (3, 4):
        return UNTOLD
    last = dims[-1] if channels is None else channels
    return Array((*dims[:-3], height, width, last), UNTOLD, _TENSOR)


def _length(value: Value | None) -> Dim:
    number = arrays.whole(value)
    return UNTOLD if number is None else number


@handles(f"{_IMAGE}resize", "keras.ops.image.resize")
def _resize(run: Interpreter, arguments: Arguments) -> Value:
    size = run.sequence(arguments.get("size", 1))
    stretched = arguments.get("preserve_aspect_ratio") in (None, NONE, Plain(False))
    if size is None or len(size) != 2 or not stretched or "data_format" in arguments.names():
        return UNTOLD
    return _picture(array_argument(run, arguments, "images"), _length(size[0]), _length(size[1]))


@handles(f"{_IMAGE}resize_with_pad", f"{_IMAGE}resize_with_crop_or_pad")
def _resize_whole(run: Interpreter, arguments: Arguments) -> Value:
    height, width = arguments.get("target_height", 1), arguments.get("target_width", 2)
    return _picture(array_argument(run, arguments, "image"), _length(height), _length(width))


@handles(f"{_IMAGE}crop_to_bounding_box", f"{_IMAGE}pad_to_bounding_box")
def _crop(run: Interpreter, arguments: Arguments) -> Value:
    height, width = arguments.get("target_height", 3), arguments.get("target_width", 4)
    return _picture(array_argument(run, arguments, "image"), _length(height), _length(width))


@handles(f"{_IMAGE}random_crop")
def _random_crop(run: Interpreter, arguments: Arguments) -> Value:
    size = run.sequence(arguments.get("size", 1))
    return UNTOLD if size is None else Array(tuple(_length(one) for one in size), UNTOLD, _TENSOR)


@handles(f"{_IMAGE}rgb_to_grayscale", f"{_IMAGE}grayscale_to_rgb")
def _colours(run: Interpreter, arguments: Arguments) -> Value:
    image = array_argument(run, arguments, "images")
    dims = arrays.known_dims(image) if image is not None else None
    if dims is None or len(dims) < 3:
        return UNTOLD
    grey = getattr(arguments.node.func, "attr", "") == "rgb_to_grayscale"
    return _picture(image, dims[-3], dims[-2], 1 if grey else 3)


@handles(*(f"{_IMAGE}{name}" for name in _AS_LARGE), f"{_IMAGE}convert_image_dtype")
def _as_large(run: Interpreter, arguments: Arguments) -> Value:
    image = array_argument(run, arguments, "image", "images")
    if image is None or isinstance(image.dims, Unknown):
        return UNTOLD
    kind = (
        dtype_of(arguments.get("dtype", 1)) if "convert" in getattr(arguments.node.func, "attr", "") else None
    )
    return Array(image.dims, UNTOLD if kind is None else kind, _TENSOR)


@handles(*(f"tensorflow.{home}.decode_{kind}" for home in ("io", "image") for kind in ("jpeg", "png")))
def _decoded(run: Interpreter, arguments: Arguments) -> Value:
    channels = arrays.whole(arguments.get("channels", 1))
    return Array((UNTOLD, UNTOLD, channels if channels else UNTOLD), "uint8", _TENSOR)
