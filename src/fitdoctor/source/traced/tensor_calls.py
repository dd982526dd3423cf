"""Return kinds of TensorFlow and Keras functions: a tensor, several, a variable, or a Python value."""

from __future__ import annotations

# The parts of `tf` whose functions return tensors.
_TENSOR_PARTS = ("math", "nn", "linalg", "image", "signal", "strings", "random", "bitwise", "quantization")
_NOT_TENSORS = frozenset(
    "parse_example parse_single_example parse_single_sequence_example "  # dicts, in TensorFlow 1
    "global_variables local_variables trainable_variables all_variables get_collection "  # lists, in TensorFlow 1
    "broadcast_static_shape Assert GradientTape IndexedSlices Module Operation Tensor TensorArray "
    "TensorShape TensorSpec TypeSpec Variable assert_equal assert_greater assert_less assert_rank "
    "as_dtype as_string_list autodiff cond case switch_case control_dependencies "
    "convert_to_tensor_or_sparse device debugging ensure_eager executing_eagerly function "
    "get_current_name_scope get_logger get_static_value grad_pass_through group init_scope "
    "inside_function is_symbolic_tensor is_tensor load_library load_op_library make_ndarray "
    "make_tensor_proto name_scope no_gradient no_op numpy_function print py_func py_function recompute_grad "
    "register_tensor_conversion_function timestamp type_spec_from_value variable_creator_scope "
    "while_loop custom_gradient map_fn scan foldl foldr vectorized_map "
    "nondifferentiable_batch_function tuple ragged sparse lookup io data keras nest config distribute "
    "estimator feature_column set_seed Generator create_rng_state get_global_generator "
    "set_global_generator global_generator is_strictly_increasing static_regex_replace experimental".split()
)
_SEVERAL = frozenset(
    "tensorflow.split tensorflow.unstack tensorflow.meshgrid tensorflow.unique "
    "tensorflow.unique_with_counts tensorflow.nn.moments tensorflow.linalg.svd tensorflow.linalg.qr "
    "tensorflow.linalg.eigh tensorflow.linalg.eig tensorflow.nn.top_k tensorflow.math.top_k "
    "tensorflow.nn.weighted_moments tensorflow.math.frexp tensorflow.dynamic_partition "
    "tensorflow.linalg.slogdet tensorflow.image.non_max_suppression_with_scores "
    "tensorflow.nn.sufficient_statistics tensorflow.nn.max_pool_with_argmax "
    "tensorflow.required_space_to_batch_paddings "
    "tensorflow.nn.batch_normalization_with_moments tensorflow.image.sample_distorted_bounding_box "
    "tensorflow.image.stateless_sample_distorted_bounding_box "
    "tensorflow.image.combined_non_max_suppression keras.ops.split keras.ops.unstack "
    "keras.ops.meshgrid keras.ops.moments keras.ops.top_k keras.ops.svd keras.ops.qr keras.ops.eigh "
    "keras.ops.eig keras.ops.nonzero keras.ops.lstsq keras.ops.slogdet".split()
)
LIST_AND_TENSOR = frozenset(
    "tensorflow.clip_by_global_norm tensorflow.nn.ctc_greedy_decoder tensorflow.nn.ctc_beam_search_decoder".split()
)
"""A list of tensors, and one more: `grads, norm = tf.clip_by_global_norm(grads, 1.0)`."""
_SOME = frozenset(
    "tensorflow.cond tensorflow.case tensorflow.switch_case tensorflow.while_loop tensorflow.map_fn "
    "tensorflow.scan tensorflow.foldl tensorflow.foldr tensorflow.vectorized_map "
    "tensorflow.py_function tensorflow.py_func tensorflow.numpy_function keras.ops.cond keras.ops.while_loop "
    "keras.ops.map keras.ops.scan keras.ops.fori_loop keras.ops.vectorized_map keras.ops.switch".split()
)
"""A tensor, or a structure of tensors, as the function that is given has it."""
_OPS_PYTHON = frozenset(
    "shape ndim dtype size is_tensor convert_to_numpy cond while_loop map scan fori_loop switch "
    "associative_scan vectorized_map custom_gradient saturate_cast_dtype result_type device_scope "
    "isdtype".split()
)
_BACKEND = frozenset(
    "abs all any arange argmax argmin batch_dot batch_flatten bias_add binary_crossentropy cast "
    "categorical_crossentropy clip concatenate constant conv1d conv2d cos cumprod cumsum dot elu "
    "equal exp expand_dims eye flatten gather greater greater_equal hard_sigmoid l2_normalize less "
    "less_equal log logsumexp max maximum mean min minimum not_equal one_hot ones ones_like "
    "permute_dimensions pool2d pow prod random_normal random_uniform relu repeat repeat_elements "
    "reshape resize_images reverse round shape sigmoid sign sin softmax softplus softsign "
    "sparse_categorical_crossentropy sqrt square squeeze stack std stop_gradient sum tanh "
    "temporal_padding tile transpose truncated_normal var zeros zeros_like ctc_batch_cost "
    "random_bernoulli random_binomial".split()
)
_IO = (
    "tensorflow.io.decode_",
    "tensorflow.io.read_file",
    "tensorflow.io.parse_tensor",
    "tensorflow.audio.decode_",
)
_RANDOM_PYTHON = (
    "set_seed",
    "Generator",
    "get_global_generator",
    "set_global_generator",
    "create_rng_state",
    "SeedGenerator",
)

MAKES_LAYER = (
    "keras.layers.",
    "keras.Sequential",
    "keras.Model",
    "keras.applications.",
    "keras.models.",
    "keras.losses.",
)
"""Beginnings of the names of classes whose objects, called on tensors, give tensors."""
MAKES_VARIABLE = frozenset(("tensorflow.Variable", "keras.Variable"))


def returns(name: str) -> str:
    """What a call to a canonical name returns: `tensor`, `several`, `list and tensor`, `some`, `variable`, or ""."""
    if name in _SEVERAL:
        return "several"
    if name in LIST_AND_TENSOR:
        return "list and tensor"
    if name in _SOME:
        return "some"
    if name in MAKES_VARIABLE:
        return "variable"
    root, _, rest = name.partition(".")
    if root == "tensorflow":
        return "tensor" if _tensorflow_returns(name, rest) else ""
    if root == "keras":
        return "tensor" if _keras_returns(rest) else ""
    return ""


def _tensorflow_returns(name: str, rest: str) -> bool:
    if name.startswith(_IO):
        return True
    part, _, last = rest.rpartition(".")
    if not last or not last[0].islower() or last in _NOT_TENSORS or last.startswith("assert"):
        return False
    return part == "" or part in _TENSOR_PARTS


def _keras_returns(rest: str) -> bool:
    part, _, last = rest.rpartition(".")
    if not last or not last[0].islower():
        return False
    if part in ("ops", "ops.numpy", "ops.nn", "ops.image", "ops.linalg"):
        return last not in _OPS_PYTHON
    if part == "backend":
        return last in _BACKEND
    if part == "random":
        return last not in _RANDOM_PYTHON
    if part in ("losses", "metrics", "activations"):
        return last not in ("get", "serialize", "deserialize")
    return False
