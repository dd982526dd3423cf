"""TensorFlow 1 names that `import tensorflow as tf` no longer has, and the current names of some of them."""

from __future__ import annotations

RENAMED = {
    **{
        name: f"math.{name}"
        for name in (
            "log log1p expm1 log_sigmoid ceil is_nan is_inf is_finite squared_difference count_nonzero bincount "
            "confusion_matrix erf erfc lgamma digamma rsqrt reciprocal cumprod segment_sum segment_mean "
            "segment_max segment_min unsorted_segment_sum unsorted_segment_mean unsorted_segment_max real imag "
            "angle conj rint logical_xor polygamma betainc igamma igammac zeta invert_permutation accumulate_n"
        ).split()
    },
    **{
        name: f"linalg.{name}" for name in ("cholesky", "svd", "qr", "trace", "global_norm", "cholesky_solve")
    },
    **{
        name: f"io.{name}"
        for name in (
            "read_file write_file decode_raw decode_csv parse_example parse_single_example parse_tensor "
            "serialize_tensor decode_base64 encode_base64 FixedLenFeature VarLenFeature FixedLenSequenceFeature "
            "SparseFeature matching_files"
        ).split()
    },
    "floordiv": "math.floordiv",
    "floormod": "math.floormod",
    "mod": "math.floormod",
    "div": "math.divide",
    "div_no_nan": "math.divide_no_nan",
    "set_random_seed": "random.set_seed",
    "random_normal": "random.normal",
    "random_uniform": "random.uniform",
    "random_shuffle": "random.shuffle",
    "random_crop": "image.random_crop",
    "random_gamma": "random.gamma",
    "truncated_normal": "random.truncated_normal",
    "matrix_inverse": "linalg.inv",
    "matrix_determinant": "linalg.det",
    "matrix_band_part": "linalg.band_part",
    "matrix_solve": "linalg.solve",
    "matrix_transpose": "linalg.matrix_transpose",
    "matrix_diag": "linalg.diag",
    "matrix_diag_part": "linalg.diag_part",
    "diag": "linalg.tensor_diag",
    "diag_part": "linalg.tensor_diag_part",
    "depth_to_space": "nn.depth_to_space",
    "space_to_depth": "nn.space_to_depth",
    "check_numerics": "debugging.check_numerics",
    "lin_space": "linspace",
    "where_v2": "where",
    "py_func": "numpy_function",
    "arg_max": "argmax",
    "arg_min": "argmin",
    "string_join": "strings.join",
    "string_to_number": "strings.to_number",
    "substr": "strings.substr",
    "regex_replace": "strings.regex_replace",
    "sparse_tensor_to_dense": "sparse.to_dense",
    "sparse_tensor_dense_matmul": "sparse.sparse_dense_matmul",
    "assert_positive": "debugging.assert_positive",
    "assert_non_negative": "debugging.assert_non_negative",
    "assert_integer": "debugging.assert_integer",
    "assert_rank_at_least": "debugging.assert_rank_at_least",
    "fft": "signal.fft",
    "ifft": "signal.ifft",
    "glorot_uniform_initializer": "keras.initializers.GlorotUniform",
    "glorot_normal_initializer": "keras.initializers.GlorotNormal",
    "truncated_normal_initializer": "keras.initializers.TruncatedNormal",
    "orthogonal_initializer": "keras.initializers.Orthogonal",
}
"""Functions with a new name and the same arguments."""

GONE = frozenset(
    (
        "AUTO_REUSE ConfigProto ConditionalAccumulator Dimension FIFOQueue GPUOptions GraphDef GraphKeys "
        "GraphOptions HistogramProto InteractiveSession MetaGraphDef NodeDef OpError PaddingFIFOQueue Print "
        "PriorityQueue QueueBase RandomShuffleQueue RunMetadata RunOptions Session Summary TFRecordReader "
        "TextLineReader VariableScope WholeFileReader add_to_collection add_to_collections all_variables app "
        "assign assign_add assign_sub batch_gather colocate_with contrib disable_eager_execution "
        "disable_v2_behavior distributions enable_eager_execution enable_v2_behavior estimator "
        "executing_eagerly_outside_functions flags get_collection get_collection_ref get_default_graph "
        "get_default_session get_local_variable get_seed get_variable get_variable_scope gfile "
        "global_variables global_variables_initializer initialize_all_variables initialize_local_variables "
        "initialize_variables is_variable_initialized layers local_variables local_variables_initializer "
        "logging make_template model_variables moving_average_variables multinomial no_regularizer op_scope "
        "placeholder placeholder_with_default python_io report_uninitialized_variables reset_default_graph "
        "scatter_add scatter_nd_update scatter_update setdiff1d sparse_placeholder sparse_to_dense "
        "string_split tables_initializer to_bfloat16 to_double to_float to_int32 to_int64 "
        "trainable_variables variable_op_scope variable_scope variables_initializer "
        "variance_scaling_initializer"
    ).split()
) | frozenset(RENAMED)
"""Removed attributes of the `tensorflow` module."""

GONE_INSIDE = frozenset(
    (
        "train.AdadeltaOptimizer train.AdagradOptimizer train.AdamOptimizer train.FtrlOptimizer "
        "train.GradientDescentOptimizer train.MomentumOptimizer train.Optimizer train.RMSPropOptimizer "
        "train.Saver train.Supervisor train.MonitoredTrainingSession train.MonitoredSession "
        "train.SessionRunHook train.exponential_decay train.cosine_decay train.polynomial_decay "
        "train.piecewise_constant train.get_global_step train.get_or_create_global_step train.create_global_step "
        "train.start_queue_runners train.shuffle_batch train.batch train.string_input_producer "
        "train.import_meta_graph train.summary_iterator nn.dynamic_rnn nn.bidirectional_dynamic_rnn "
        "nn.static_rnn nn.rnn_cell nn.softmax_cross_entropy_with_logits_v2 nn.xw_plus_b nn.fused_batch_norm "
        "image.resize_images image.resize_bilinear image.resize_bicubic image.resize_nearest_neighbor "
        "image.resize_image_with_crop_or_pad image.resize_image_with_pad random.set_random_seed "
        "random.multinomial summary.FileWriter summary.merge_all summary.merge "
        "data.make_one_shot_iterator data.make_initializable_iterator"
    ).split()
)
"""Removed attributes of its submodules."""

RENAMED_INSIDE = {
    "nn.softmax_cross_entropy_with_logits_v2": "nn.softmax_cross_entropy_with_logits",
    "image.resize_images": "image.resize",
    "image.resize_image_with_crop_or_pad": "image.resize_with_crop_or_pad",
    "image.resize_image_with_pad": "image.resize_with_pad",
    "random.set_random_seed": "random.set_seed",
}

CASTS = {"to_float": "float32", "to_double": "float64", "to_int32": "int32", "to_int64": "int64"}
"""Cast functions, with their dtypes."""
