--- Plugins that are wrong in one way each, as scripts for the specimens of tests/interface, and the
--- test of the checker that catches them: { name, specimen, test and outcome, words of the
--- sentence, lines of the script ... }. "@" in a line stands for the specimen. What is wrong is
--- said beside the functions that lines "put" (specimen/faults_*.c).

local specimen = require "specimen"

-- phi by this loop alone, without abilities; with facts alone.
local function loop(name)
  return "put @/table loop " .. name .. "\nset @/table loop_float32 null"
end
local function alone(name) return loop(name) .. "\ndrop @ *" end
local function with_facts(name)
  return loop(name) .. "\ndrop @ smoothing\ndrop @ gaussian-dual"
end
local function apply(name)
  return "put @/table apply " .. name .. "\nset @/table loop null\nset @/table loop_float32 null\n"
    .. "drop @ *"
end
local function codes(key, name)
  return "put cell/categories key " .. key .. "\nput cell/categories categories " .. name
    .. "\ndrop @ *\noffer @ categories cell/categories"
end
local function gram(name)
  return "put @/table gram gram_" .. name .. "\nset @/table diagonal null"
end
local function tilt(name) return gram("right") .. "\nput @/tilt tilt tilt_" .. name end
-- A sampler that draws this way, with its law alone; without abilities.
local function draw(name) return "put @/table draw " .. name .. "\ndrop @ characteristic" end
local function draw_alone(name) return "put @/table draw " .. name .. "\ndrop @ *" end
local function layout(name) return "put @/table layout " .. name .. "\ndrop @ *" end
-- The sampler normal with that ability alone, whose table is a specimen's.
local function offer(ability, from) return ("drop @ *\noffer @ %s %s"):format(ability, from) end
-- A solver by this slot alone, without abilities; with a loss, one member of which is another.
local function solve(name) return "put @/table solve solve_" .. name .. "\ndrop @ *" end
local function loss(member, name)
  return "set square/loss probabilities null\nput square/loss " .. member .. " " .. name
    .. "\ndrop @ *\noffer @ loss square/loss"
end
local function objective(name)
  return "put @/objective objective objective_" .. name .. "\ndrop @ penalty\ndrop @ path"
end
-- The solution of the right slot, without abilities, with this member changed.
local function at_solve(line) return "drop @ *\nat @.solve " .. line end
local function at_loop(line) return "at @.loop " .. line end

local faults = {
  -- kernels
  { "kernel_asymmetric", "long", "symmetry fail", { "K(u, w) is not K(w, u)" },
    gram "asymmetric" },
  { "kernel_centred", "long", "rectangles fail", {}, gram "centred" },
  { "kernel_correlation", "long", "tilt fail", { "correlation" }, tilt "correlation" },
  { "kernel_diagonal", "long", "diagonal fail", {}, "at long.diagonal number -1 0.5" },
  { "kernel_finish_past", "bell", "simple-form crash", { "slot finish" }, "at bell.finish past 1" },
  { "kernel_huge", "long", "hostile fail", {}, gram "by_largest" },
  { "kernel_indefinite", "long", "definite fail", { "eigenvalue" }, gram "indefinite" },
  { "kernel_mass", "long", "tilt fail", { "log_mass" }, tilt "mass" },
  { "kernel_nan_diagonal", "long", "diagonal fail", { "NaN" }, "at long.diagonal number 3 nan" },
  { "kernel_reads_past", "long", "guard-pages crash", { "slot gram" }, gram "reads_past" },
  { "kernel_rectangle", "long", "rectangles fail", {}, gram "of_places" },
  { "kernel_stride", "long", "guard-pages fail", {}, gram "packed" },
  { "kernel_tail", "bell", "simple-form fail", { "finish" }, "at bell.finish stop 1" },
  { "kernel_tilt", "long", "tilt fail", {}, tilt "spread" },
  { "kernel_unwritten", "long", "guard-pages fail", { "unwritten" }, "at long.gram stop 1" },
  { "kernel_width", "bell", "width fail",
    { "option 'width' is declared as a width (length)" }, "put @/table scale scale_by_square",
    "set @/option/gamma name text width", "set @/option/gamma width int 2" },
  { "kernel_writes_input", "long", "guard-pages crash", { "slot gram" }, gram "writes_input" },
  { "kernel_zero", "long", "edges fail", {}, gram "cosine" },

  -- nonlinearities
  { "nonlinearity_aligned", "wave", "alignment fail", {}, alone "loop_aligned" },
  { "nonlinearity_bound", "wave", "bound fail", { "above its bound" }, with_facts "loop_sine",
    "set @/facts lipschitz double 1.5" },
  { "nonlinearity_break", "side", "breaks fail", { "0.37" }, loop "loop_hinge", "drop @ *",
    "offer @ facts side/facts", "set @/facts bound double inf", "set @/facts lipschitz double 1.1",
    "set @/facts scale_free int 0" },
  { "nonlinearity_code_dual", "side", "code-dual fail", {}, codes("key_of_sides", "codes_right"),
    "put @/code-dual collision collision_by_cosine", "offer @ code-dual @/code-dual" },
  { "nonlinearity_code_words", "side", "code-words fail", { "is not written" },
    codes("key_of_two_words", "codes_of_one_word") },
  { "nonlinearity_codes", "side", "categories fail", { "2 levels" },
    codes("key_of_sides", "codes_from_1") },
  { "nonlinearity_dual", "wave", "gaussian-dual fail", { "E phi(a) phi(b)" }, loop "loop_square",
    "drop @ smoothing", "drop @ facts", "put @/gaussian-dual dual dual_of_square" },
  { "nonlinearity_float32", "wave", "float32 fail", { "float32 gives" },
    "put @/table loop loop_bell", "put @/table loop_float32 loop_bell_float32", "drop @ *" },
  { "nonlinearity_forgets_last", "wave", "outputs-written fail", { "was not written" },
    at_loop "stop 1" },
  { "nonlinearity_harmonic", "wave", "harmonic fail", { "amplitude" }, "drop @ *",
    "set @/table flags int 2", "offer @ harmonic waves/harmonic" },
  { "nonlinearity_huge", "wave", "odd-numbers fail", { "for a finite number" },
    alone "loop_overflows" },
  { "nonlinearity_lipschitz", "wave", "lipschitz fail", { "above its Lipschitz constant" },
    with_facts "loop_fast_sine" },
  { "nonlinearity_neighbour", "wave", "independence fail", {}, alone "loop_neighbour" },
  { "nonlinearity_not_in_place", "wave", "in-place fail", { "out on z" },
    alone "loop_not_in_place" },
  { "nonlinearity_option_float32", "ramp", "float32 fail", { "slope =" },
    "put @/table loop_float32 loop_default_float32" },
  { "nonlinearity_overflow", "wave", "large-numbers fail",
    { "float64, output 1 of z = 1000 is inf", "a Lipschitz constant of 1" },
    with_facts "loop_naive_softplus", "set @/facts bound double inf" },
  { "nonlinearity_overflow_float32", "wave", "large-numbers fail",
    { "z = 100: float32 gives inf and float64 100" }, "put @/table loop loop_softplus",
    "put @/table loop_float32 loop_softplus_float32", "drop @ *" },
  { "nonlinearity_packed_rows", "wave", "strides fail", { "row stride" }, apply "apply_packed" },
  { "nonlinearity_reads_past", "wave", "guard-pages crash", { "slot loop" },
    alone "loop_reads_past" },
  { "nonlinearity_scale_free", "wave", "scale-free fail", {}, "set @/facts scale_free int 1" },
  { "nonlinearity_smoothing", "wave", "smoothing fail", { "quadrature" },
    "put @/smoothing loop smooth_by_variance", "set @/smoothing loop_float32 null" },
  { "nonlinearity_spread_stride", "wave", "smoothing-blocks crash", { "slot smooth" },
    apply "apply_cosine", "put @/smoothing smooth smooth_packed", "set @/smoothing loop null",
    "set @/smoothing loop_float32 null", "offer @ smoothing @/smoothing" },
  { "nonlinearity_swallows_nan", "wave", "odd-numbers warn", { "z = NaN is 0" },
    alone "loop_swallows_nan" },
  { "nonlinearity_tail", "wave", "independence fail", { "columns" }, alone "loop_tail" },
  { "nonlinearity_threshold_dual", "side", "threshold-dual fail", {},
    "put @/threshold-dual dual dual_of_thresholds" },
  { "nonlinearity_two_valued", "side", "two-valued fail", { "two-valued says 1" },
    "set @/two-valued zero_is_high int 1" },
  { "nonlinearity_writes_input", "wave", "guard-pages crash", { "slot apply" },
    apply "apply_writes_input" },
  { "nonlinearity_writes_past", "wave", "guard-pages crash", { "slot loop" }, at_loop "past 1" },

  -- any kind
  { "plugin_aborts", "ramp", "lives crash", { "slot destroy" }, "at @.destroy crash abort" },
  { "plugin_bound", "ramp", "bounds fail", { "a bound of its range" },
    "put @ create create_refuses_bound" },
  { "plugin_cancel", "wave", "ctrl-c fail", { "Ctrl-C" }, alone "loop_ignores_cancel" },
  { "plugin_child", "wave", "surroundings fail", { "child processes" }, at_loop "meddle child" },
  { "plugin_closes_output", "wave", "surroundings fail", { "standard output" },
    at_loop "meddle output" },
  { "plugin_complains", "wave", "repeats fail", { "prints: so many numbers" },
    at_loop "meddle complain" },
  { "plugin_default", "ramp", "load fail", { "'slope'" }, "set @/option/slope fallback text 0" },
  { "plugin_doc", "ramp", "descriptor warn", { "is short" }, "set @ doc text A rectifier" },
  { "plugin_ends_at_loading", "wave", "load crash", { "what runs when the object is opened" },
    "at load exit 0" },
  { "plugin_environment", "wave", "surroundings fail", { "the environment was" },
    at_loop "meddle set" },
  { "plugin_exits", "wave", "surroundings crash",
    { "by exit() in nonlinearity.broken, slot loop" }, at_loop "exit 0" },
  { "plugin_exits_quietly", "wave", "surroundings crash", { "exit(0)" }, at_loop "meddle leave" },
  { "plugin_first_instance", "ramp", "instances fail", { "against one alone" },
    "put @/table loop loop_first_instance" },
  { "plugin_folder", "wave", "surroundings fail", { "current folder" }, at_loop "meddle folder" },
  { "plugin_hangs", "wave", "surroundings timeout", { "slot loop" }, at_loop "hang" },
  { "plugin_hangs_at_loading", "wave", "load timeout", { "what runs when the object is opened" },
    "at load hang" },
  { "plugin_leaks_in_create", "ramp", "lives fail", { "bytes of malloc" },
    "at @.create meddle leak" },
  { "plugin_leaks_in_use", "wave", "uses fail", { "bytes of malloc" }, at_loop "meddle leak" },
  { "plugin_leaks_of_host", "ramp", "lives fail", { "host->allocate" },
    "put @ destroy destroy_half" },
  { "plugin_leaks_on_failure", "ramp", "no-memory fail", { "are not released" },
    "put @ create create_leaks" },
  { "plugin_locale", "wave", "surroundings fail", { "locale" }, at_loop "meddle locale" },
  { "plugin_no_sentence", "ramp", "no-memory fail", { "no sentence" },
    "put @ create create_without_sentence" },
  { "plugin_numbers", "ramp", "random-options crash", { "slot create" },
    "put @ create create_reads_table" },
  { "plugin_opens_files", "wave", "uses fail", { "files open" }, at_loop "meddle open" },
  { "plugin_prints", "wave", "repeats fail", { "prints: so many numbers" },
    at_loop "meddle print" },
  { "plugin_refuses_default", "ramp", "defaults fail", { "nothing but defaults" },
    "put @ create create_refuses_default" },
  { "plugin_rounding", "wave", "surroundings fail", { "rounding mode" }, at_loop "round" },
  { "plugin_shared_option", "ramp", "instances fail", { "other options" },
    "put @ create create_shared", "put @/table loop loop_shared" },
  { "plugin_signal", "wave", "surroundings fail", { "signal handlers" }, at_loop "meddle handler" },
  { "plugin_silent_without_memory", "wave", "no-memory fail", { "no status tells of it" },
    alone "loop_silent" },
  { "plugin_srand", "wave", "surroundings fail", { "state of rand()" }, at_loop "meddle srand" },
  { "plugin_static_state", "wave", "repeats fail", {}, alone "loop_counts_calls" },
  { "plugin_thread", "wave", "surroundings fail", { "number of threads" },
    at_loop "meddle thread" },
  { "plugin_trusts_memory", "ramp", "no-memory crash", { "slot create" },
    "put @ create create_trusts_memory" },
  { "plugin_umask", "wave", "surroundings fail", { "mask of new files" }, at_loop "meddle mask" },
  { "plugin_word", "ramp", "words fail", { "returned status 77" },
    "put @ create create_returns_77" },
  { "plugin_writes_file", "wave", "surroundings fail", { "bytes written" },
    at_loop "meddle file" },

  -- samplers
  { "sampler_apply_float32", "turned", "apply fail", { "float32" },
    "put @/structured apply apply_large_float32" },
  { "sampler_apply_place", "turned", "apply fail", {},
    "put @/structured apply apply_large_first_row" },
  { "sampler_bias", "normal", "guard-pages fail", { "the bias of parameter" },
    layout "layout_with_bias" },
  { "sampler_characteristic", "normal", "characteristic fail", {},
    "put @/characteristic characteristic characteristic_wide" },
  { "sampler_collision", "pitches", "collision fail", {},
    "put @/collision collision collision_euclidean" },
  { "sampler_columns", "column", "law fail", { "column" }, "drop @ distribution",
    "put @/table draw draw_first_column_twice" },
  { "sampler_count", "normal", "layout fail", {}, layout "layout_any_count" },
  { "sampler_degrees", "pairs", "law fail", { "in-degree" }, "put @/law law law_of_two_degrees" },
  { "sampler_delta_stride", "normal", "characteristic fail", {},
    "put @/characteristic characteristic characteristic_packed" },
  { "sampler_distribution", "column", "distribution fail", {},
    "put @/distribution distribution distribution_wide" },
  { "sampler_factor", "logistic", "characteristic fail", { "sigma = 0.3" },
    "put @/table factor factor_cosh" },
  { "sampler_family", "normal", "law fail", { "distribution function" }, draw "draw_uniform" },
  { "sampler_first", "normal", "batches fail", {}, draw "draw_from_0" },
  { "sampler_idle_option", "logistic", "effects warn", { "option 'sigma' changes nothing" },
    "put @/table draw draw_right", "set @/table make null", "set @/table moments null",
    "set @/table factor null" },
  { "sampler_last_column", "normal", "guard-pages fail", { "left as it was" },
    draw_alone "draw_but_last" },
  { "sampler_learn", "taught", "learn fail", { "depends on the blocks" },
    "put @/learn learn learn_first_rows" },
  { "sampler_make_tail", "logistic", "simple-form fail", {}, "put @/table make make_pairs",
    "set @/table factor null", "set @/table normals int 1", "set @/table family int 1" },
  { "sampler_moments", "normal", "law fail", {}, draw "draw_wide" },
  { "sampler_nan", "normal", "range fail", {}, draw_alone "draw_log_of_0" },
  { "sampler_neighbours", "normal", "independence fail", { "t + 1" }, draw "draw_overlapping" },
  { "sampler_order", "normal", "repeated fail", {}, draw "draw_goes_on" },
  { "sampler_pair_kernel", "normal", "kernel fail", { "fourier" },
    "put general/pair-kernel kernel kernel_laplacian",
    offer("pair-kernel", "general/pair-kernel") },
  { "sampler_place", "normal", "batches fail", { "parameter" }, draw "draw_antithetic" },
  { "sampler_pool", "normal", "pool fail", { "twice" }, "put shared/pool rows pool_rows",
    "put shared/pool pool pool_twice", offer("pool", "shared/pool") },
  { "sampler_same_columns", "normal", "law fail", { "not independent" },
    draw "draw_same_columns" },
  { "sampler_scales", "normal", "scales fail", {}, "put general/scales scales scales_by_place",
    offer("scales", "general/scales") },
  { "sampler_seed", "normal", "seeds fail", { "seed" }, draw "draw_by_seed_1" },
  { "sampler_stateless", "taught", "learn fail", { "do not use the state" },
    "put @/table draw draw_right" },
  { "sampler_stream", "normal", "seeds fail", {}, draw "draw_by_stream_0" },
  { "sampler_stride", "normal", "guard-pages fail", {}, draw "draw_packed" },
  { "sampler_support", "pairs", "range fail", { "ascend" }, "put @/table draw draw_descending" },
  { "sampler_width", "logistic", "characteristic fail", { "sigma = 0.3" },
    "put @/table make make_wide" },
  { "sampler_writes_past", "normal", "guard-pages crash", { "slot draw" },
    draw "draw_one_more" },

  -- solvers
  { "solver_blocks", "descent", "blocks fail", { "blocks of 17 rows" }, solve "blocks_alike" },
  { "solver_bound", "descent", "loss fail", { "above its bound" },
    loss("bound", "bound_without_target") },
  { "solver_classes", "descent", "classes fail", { "the other way round" }, solve "classes" },
  { "solver_clips_weights", "descent", "weights fail", { "and all weights times" },
    solve "weights_clipped" },
  { "solver_counts_calls", "descent", "same-bits fail", { "once more" }, solve "counts_calls" },
  { "solver_decide_blocks", "fitted", "decide fail", { "these alone" },
    "put @/model decide decide_mixed" },
  { "solver_decide_reads_past", "fitted", "decide crash", { "slot decide" },
    "put @/model decide decide_reads_past" },
  { "solver_decide_stride", "fitted", "decide fail", { "is not finite" },
    "put @/model decide decide_packed" },
  { "solver_destroy", "fitted", "no-growth fail", { "bytes more" },
    "put @/model destroy destroy_nothing" },
  { "solver_endless", "descent", "solves timeout", { "slot solve" }, at_solve "hang" },
  { "solver_estimate", "guess", "estimate fail", { "fits without a row each" } },
  { "solver_first_target", "descent", "targets fail", { "in another order" },
    solve "first_target" },
  { "solver_float32", "descent", "float32 crash", { "slot solve" },
    solve "sums_visit", "set @/table dtypes int 3" },
  { "solver_gap_above", "descent", "solves fail", { "with a gap of 0.5" },
    at_solve "set gap double 0.5" },
  { "solver_idle", "descent", "learns fail", { "says converged" }, solve "idle" },
  { "solver_keeps_rows", "descent", "rows crash", { "slot solve" }, solve "keeps_rows" },
  { "solver_leaks", "descent", "no-growth fail", { "bytes more" }, solve "leaks" },
  { "solver_leaks_on_failure", "descent", "failures fail", { "bytes leak" },
    solve "loses_sums" },
  { "solver_lipschitz", "descent", "loss fail", { "Lipschitz constant" },
    loss("lipschitz", "lipschitz_without_target") },
  { "solver_load_borrows", "fitted", "save fail", { "not finite" },
    "put @/model load load_borrows" },
  { "solver_load_trusts", "fitted", "damaged crash", { "slot load" },
    "put @/model load load_any_size" },
  { "solver_loose", "descent", "tolerance fail", { "says converged with tolerance" },
    solve "loose" },
  { "solver_negative_gap", "descent", "solves fail", { "a gap of -1" },
    at_solve "set gap double -1" },
  { "solver_no_intercept", "centred", "intercept fail", { "with a constant" }, solve "sums_visit" },
  { "solver_no_limit", "descent", "limit fail", { "max_iterations = 1: says converged" },
    at_solve "set outcome int 1", "at @.solve set residual double nan",
    "at @.solve set tolerance double nan" },
  { "solver_no_weights", "descent", "weights fail", { "rows with weights" },
    solve "weights_ignored" },
  { "solver_objective", "descent", "objective fail", { "no combination" }, objective "root" },
  { "solver_one_step", "descent", "optimal fail", { "a step" },
    "put @/table solve solve_one_step", "drop @ penalty", "drop @ path" },
  { "solver_other_status", "descent", "failures fail", { "returned" }, solve "other_status" },
  { "solver_path", "descent", "path fail", { "alone and on the path" },
    "put @/path solve path_ascending", "drop @ penalty", "drop @ objective" },
  { "solver_penalty", "descent", "penalty fail", { "orthogonal" }, solve "penalises_first" },
  { "solver_probabilities", "descent", "loss fail", { "sum to" },
    "drop @ *", "put square/loss probabilities probabilities_apart", "offer @ loss square/loss" },
  { "solver_progress", "descent", "solves fail", { "takes a share in [0, 1]" }, solve "percent" },
  { "solver_reads_past_rows", "descent", "rows crash", { "slot solve" }, solve "reads_past" },
  { "solver_role", "descent", "simpler fail", { "the simpler model has the larger penalty" },
    solve "inverse" },
  { "solver_save_loses", "fitted", "save fail", { "saved and loaded" },
    "put @/model save save_first", "put @/model load load_first" },
  { "solver_short_memory", "descent", "short-memory crash", { "slot solve" },
    solve "trusts_memory" },
  { "solver_silent", "descent", "solves fail", { "left the outcome of its solution unsaid" },
    at_solve "set outcome int 0" },
  { "solver_slope", "descent", "loss fail", { "the slope at" }, loss("slope", "slope_half") },
  { "solver_sparse", "descent", "sparse crash", { "slot solve" },
    solve "sums_visit", "offer @ sparse-rows square/sparse-rows" },
  { "solver_start", "descent", "start fail", { "from a random point" }, solve "from_start" },
  { "solver_swallows_cancel", "descent", "cancelled fail", { 'failed with status "cancelled"',
    "SCL_STATUS_OK" },
    solve "swallows_cancel" },
  { "solver_swallows_error", "descent", "failures fail", { "SCL_STATUS_OK" },
    solve "swallows_error" },
  { "solver_threads", "descent", "any-threads fail", { "1 and 4 threads" }, solve "by_threads" },
  { "solver_unweighted", "descent", "weights fail", { "rows with weights" }, solve "unweighted" },
  { "solver_verb_in_visit", "descent",
    "rows fail", { "problem.progress was called from inside a visit" },
    solve "asks_inside" },
  { "solver_writes_past", "descent", "solves crash", { "slot solve" }, solve "writes_past" },
  { "solver_writes_rows", "descent", "rows crash", { "slot solve" }, solve "writes_rows" },
  { "solver_wrong_objective", "descent", "optimal fail", { "gives" }, objective "half" },
  { "solver_zero_column", "descent", "edges fail", { "is not finite" }, solve "divides" },
  { "solver_zero_weights", "descent", "weights fail", { "rows of weight 0" },
    solve "weights_raised" },
}

--- faults.specimen(component, lines ...): a file with the specimen, under the name "broken"; a
--- kernel with a default for its width.
function faults.specimen(component, ...)
  local lines = table.concat({ ... }, "\n"):gsub("@", component)
  return specimen.file("v1", "only " .. component, ("set %s name text broken"):format(component),
    ("set %s version text 1.0"):format(component), "set long/option/gamma fallback text 0.5", lines)
end

--- faults.file(name): a file with the plugin of that name in the list.
function faults.file(name)
  for _, one in ipairs(faults) do
    if one[1] == name then return faults.specimen(one[2], table.unpack(one, 5)) end
  end
  error("no fault " .. name)
end

return faults
