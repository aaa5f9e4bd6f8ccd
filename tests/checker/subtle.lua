--- The test of the checker that catches each of the subtle faults (subtle/): by kind, test ->
--- names.
return {
  -- seen by no test: 10 % more in the frequency of a column, without a law; two numbers in static
  -- memory between two additions
  missed = { "column_uneven", "race_k" },
  samplers = {
    clock = "clocked",
    addresses = "seed_32 seed_index stream_added stream_8 stream_of_bias stream_beyond \z
      plane_4 plane_seed",
    apply = "apply_half",
    ["at-once"] = "race own_memory apply_race",
    batches = "by_address",
    characteristic = "factor_far factor_rows factor_sigma",
    distribution = "share_tail",
    ["far-options"] = "sigma_small sigma_large",
    instances = "first_call",
    law = "column_period coarse total_scaled mean_lost law_mean make_coarse",
    moments = "variance_little mean_little variance_up variance_down variance_far variance_late \z
      mean_moved tails_cut heavy \z
      twin_columns small_buffer rare_nan rare_huge law_scale_far",
    prepare = "prepared_place prepared_float",
    periods = "index_12 index_16 index_32 index_float sign_period",
    ["simple-form"] = "make_late",
    sizes = "few_columns long_batch packed_far column_byte apply_rows apply_dims learns_start \z
      learns_few_columns",
  },
  nonlinearities = {
    clock = "clocked_phi",
    ["at-once"] = "race_phi cached_phi wide_race",
    bound = "bound_low",
    breaks = "kink_far jump_small",
    ["code-dual"] = "codes_late",
    ["far-options"] = "beta_small beta_large smooth_large_v smooth_beta smooth_long dual_equal \z
      dual_zero dual_negative dual_apart dual_large dual_above code_dual_nan",
    harmonic = "wide_large harmonic_off",
    independence = "long_tail wide_cols",
    instances = "first_phi",
    ["large-numbers"] = "float32_large",
    lipschitz = "lipschitz_low lipschitz_steep",
    ["odd-numbers"] = "nan_at_1 nan_near_0",
    sizes = "long_row wide_stride",
    smoothing = "smooth_small_v smooth_negative",
    ["smoothing-blocks"] = "smooth_float32",
    ["special-numbers"] = "small_float32 half_at_0",
    threads = "wide_rows",
    ["threshold-dual"] = "threshold_order threshold_ends",
    ["two-valued"] = "scale_tiny high_at_0",
  },
  kernels = {
    clock = "clocked_k",
    ["at-once"] = "cached_norms",
    definite = "sigmoid rounded above_one",
    diagonal = "diagonal_short",
    expectation = "long_v",
    instances = "first_k",
    prepare = "prepared_first",
    near = "nan_equal cancels cancels_far nan_far origin",
    sizes = "one_stride columns_32 columns_256 long_u diagonal_late",
    symmetry = "asymmetric_far",
    tilt = "indefinite indefinite_far cut_small sum_float one_d tilt_mean tilt_wide tilt_far \z
      shift_wrong",
    width = "width_small width_large width_squared",
  },
  solvers = {
    clock = "clocked_solve",
    ["at-once"] = "race_solve decide_race",
    blocks = "last_block",
    decide = "decide_late decide_columns save_five",
    effects = "effect_none",
    endings = "unlimited limit_times_10 gap_lies worst_iterate iterations_0 residual_0",
    ["far-options"] = "lambda_small lambda_large",
    float32 = "float_10_bits",
    intercept = "constant_penalised constant_rounded",
    limit = "tolerance_unused always_converged",
    ["long-path"] = "path_16 path_warm",
    ["no-growth"] = "leaks_singular leaks_refused",
    optimal = "objective_first objective_nan",
    repeats = "first_solve",
    save = "save_float",
    sizes = "rows_4096 features_32 features_256 targets_4 classes_4 row_order small_targets \z
      large_targets small_columns tall_only",
    solves = "note_control note_endless",
    start = "warm_added warm_stays warm_stops",
    ["weighted-objective"] = "objective_unweighted objective_constant",
    weights = "weights_float",
  },
}
