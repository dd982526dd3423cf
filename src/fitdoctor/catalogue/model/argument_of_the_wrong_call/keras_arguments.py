"""Constructor arguments of Keras layers, optimizers, callbacks, losses and metrics."""

from __future__ import annotations

import functools

ARGUMENTS = frozenset(
    """activation activity_regularizer adam_beta_1 adam_beta_2 adam_lr_ratio adam_weight_decay add_history add_progbar
    addition_factor all_ops allow_last_axis_squeeze alpha alpha_constraint alpha_initializer alpha_regularizer
    amsgrad antialias append apply_class_balancing arguments attention_axes autocast average axes axis backup_dir
    backward_layer baseline batch_input_shape batch_shape batch_size beta beta_1 beta_2 beta_2_decay beta_constraint
    beta_initializer beta_regularizer bias_axes bias_constraint bias_initializer bias_regularizer bin_boundaries
    bins boundaries bounding_box_format brightness_factor call_endpoint call_fn call_training_endpoint callbacks
    cell cells center centered chain_depth class_aggregation class_id clip_limit clip_threshold clipnorm clipvalue
    confusion_matrix_cond contrast_factor cooldown crop_to_aspect_ratio cropping curve cycle data_format decay
    decay_rate decay_steps default_optimizer delete_checkpoint delta depth_multiplier depthwise_constraint
    depthwise_initializer depthwise_regularizer dilation_rate dims directory distribution double_checkpoint dropout
    dtype dynamic_growth_steps ema_momentum ema_overwrite_frequency embeddings_constraint embeddings_freq
    embeddings_initializer embeddings_metadata embeddings_regularizer encoding end_learning_rate epsilon epsilon_1
    epsilon_2 equation exclude_embeddings exclude_layers expand_dims factor fft_length field filename filepath
    fill_mode fill_value filters first_decay_steps flash_attention fn frame_length frame_step from_logits
    from_sorted_ids function gain gamma gamma_constraint gamma_initializer gamma_regularizer global_clipnorm
    go_backwards gptq_unpacked_column_size gradient_accumulation_steps groups head_dim headers height height_factor
    histogram_freq hue_factor idf_weights ignore_class init_fn initial_accumulator_value initial_learning_rate
    initial_scale initial_value_threshold inner_optimizer input_axes input_dim input_length input_shape input_tensor
    interpolation invert k keepdims kernel_constraint kernel_initializer kernel_regularizer kernel_size key_dim l1
    l1_regularization_strength l2 l2_regularization_strength l2_shrinkage_regularization_strength label_smoothing
    label_weights layer layers learning_rate learning_rate_power log_dir logit_soft_cap lora_alpha lora_rank
    loss_scale_factor lr m_mul mag_exp margin mask mask_token mask_value mask_zero max_freq max_ndim max_number
    max_to_keep max_tokens max_value maxval mean merge_mode method min_delta min_freq min_lr min_ndim min_power
    minval mode model module momentum monitor moving_mean_initializer moving_variance_initializer multi_label muon_a
    muon_b muon_c n name native_serialization_platforms ndim negative_slope nesterov ngrams noise_shape normalize
    ns_steps num_bins num_chains num_classes num_heads num_key_value_heads num_labels num_mel_bins num_oov_indices
    num_ops num_query_heads num_regressors num_thresholds num_tokens offset on_epoch_begin on_epoch_end
    on_train_batch_begin on_train_batch_end on_train_begin on_train_end oov_method oov_token optimizer_map optional
    output_axes output_dim output_mode output_padding output_sequence_length output_shape output_size
    pad_to_aspect_ratio pad_to_max_tokens padding params path patience periodic pointwise_constraint
    pointwise_initializer pointwise_regularizer pool_dimensions pool_mode pool_size power power_iterations
    power_to_db precision profile_batch q quantization_config ragged raise_error rank rate recall
    recurrent_activation recurrent_constraint recurrent_dropout recurrent_initializer recurrent_regularizer
    reduction ref_power relative_step remove_diagonal renorm renorm_clipping renorm_momentum reset_after
    restore_best_weights return_sequences return_state reverse_dtype rho rms_rate root salt sampling_rate
    saturation_factor save_best_only save_freq save_on_background save_weights_only scale scaling schedule
    score_mode seed send_as_json sensitivity separator sequence_length sequence_stride shape shared_axes side sigma
    size sliding_window sparse sparse_y_pred sparse_y_true specificity split staircase standardize start_from_epoch
    state stateful stddev strides summation_method swap_on_epoch synchronized t_mul target_class_ids target_shape
    threshold threshold_factor thresholds tie_weights tile_grid_size top_db top_k trainable unit_forget_bias units
    unroll update_freq use_bias use_cudnn use_ema use_gate use_scale value value_dim value_range values variables
    variance verbose vocabulary vocabulary_dtype warmup_steps warmup_target weight_decay weights width width_factor
    window write_graph write_images write_steps_per_second x_factor y_factor zero_output_for_mask""".split()
)
"""For every public class of Keras 3.15, plus the Keras 2 arguments that it still accepts."""
OF_KERAS_2 = frozenset(
    """batch_size constraint embeddings_data embeddings_layer_names epsilon load_weights_on_restart max_values options
    period vocabulary_size write_grads""".split()
)
"""Further arguments that Keras 2 accepts, most of them for even older programs."""

CALLBACKS = {
    "BackupAndRestore": "backup_dir save_freq double_checkpoint delete_checkpoint",
    "CSVLogger": "filename separator append",
    "EarlyStopping": "monitor min_delta patience verbose mode baseline restore_best_weights start_from_epoch",
    "LearningRateScheduler": "schedule verbose",
    "ModelCheckpoint": "filepath monitor verbose save_best_only save_weights_only mode save_freq initial_value_threshold",
    "TensorBoard": "log_dir histogram_freq write_graph write_images write_steps_per_second update_freq profile_batch "
    "embeddings_freq embeddings_metadata",
}
"""All arguments of the callbacks of Keras 3.15 that accept no others."""


@functools.cache
def misspelt(name: str) -> str:
    """Return the argument that a name is a letter or two away from; "" if it exists or resembles none."""
    if name in ARGUMENTS:
        return ""
    import difflib

    near = difflib.get_close_matches(name, sorted(ARGUMENTS), n=1, cutoff=0.8)
    return near[0] if near and abs(len(near[0]) - len(name)) <= 2 else ""
