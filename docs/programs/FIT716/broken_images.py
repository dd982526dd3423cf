"""`InvalidArgumentError: Graph execution error: … Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP
required.`

`Invalid JPEG data or crop window`
"""

import tensorflow as tf


def raised(data):
    try:
        tf.io.decode_image(data)
    except tf.errors.InvalidArgumentError as error:
        return str(error)
    return ""


picture = tf.io.encode_jpeg(tf.cast(tf.random.uniform((64, 64, 3), 0, 255, tf.int32), tf.uint8)).numpy()
message = "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
assert message in raised(b"a text, no picture")
assert "Invalid JPEG data or crop window" in raised(picture[: len(picture) // 2])
