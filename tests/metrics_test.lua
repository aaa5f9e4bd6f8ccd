--- Metrics: each measure against its definition, its edge cases, and what can be given wrongly.
-- luacheck: globals TestMetrics
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"

local m = sc.metrics

TestMetrics = {}

function TestMetrics:test_accuracy_and_error_rate_add_to_one()
  lu.assertEquals(m.accuracy({ 1, 2, 3, 4 }, { 1, 2, 0, 4 }), 0.75)
  lu.assertEquals(m.error_rate({ 1, 2, 3, 4 }, { 1, 2, 0, 4 }), 0.25)
end

function TestMetrics:test_a_row_counts_when_all_its_columns_agree()
  lu.assertEquals(m.accuracy(sc.matrix{ { 1, 2 }, { 3, 4 } }, sc.matrix{ { 1, 2 }, { 3, 5 } }), 0.5)
end

function TestMetrics:test_text_labels_are_compared_as_texts()
  lu.assertAlmostEquals(m.accuracy({ "a", "b", "c" }, { "a", "x", "c" }), 2 / 3, 1e-15)
  lu.assertErrorMsgContains("one side holds texts", m.accuracy, { "a" }, { 1 })
  lu.assertErrorMsgContains("row 2 is 3, not a text", m.accuracy, { "a", 3 }, { "a", "b" })
end

function TestMetrics:test_nan_equals_no_label()
  lu.assertEquals(m.accuracy({ 0 / 0, 1 }, { 0 / 0, 1 }), 0.5)
end

function TestMetrics:test_mse_and_rmse_are_means_over_all_entries()
  local a, b = sc.matrix{ { 1, 2 }, { 3, 4 } }, sc.matrix{ { 1, 0 }, { 0, 4 } }
  lu.assertEquals(m.mse(a, b), (4 + 9) / 4)
  lu.assertEquals(m.rmse(a, b), math.sqrt(13 / 4))
  lu.assertEquals(m.mse({ 1, 2 }, { 0, 0 }), 2.5)
end

function TestMetrics:test_float32_predictions_are_measured_in_float64()
  local truth = sc.matrix{ 0.1, 0.2 }
  lu.assertAlmostEquals(m.mse(sc.matrix{ 1.5, 2.25, dtype = "float32" }, truth),
    (1.4 ^ 2 + 2.05 ^ 2) / 2, 1e-15)
end

function TestMetrics:test_nrmse_is_rms_error_over_rms_of_the_truth()
  lu.assertAlmostEquals(m.nrmse({ 1, 2, 3 }, { 2, 2, 2 }), math.sqrt((2 / 3) / 4), 1e-15)
  lu.assertEquals(m.nrmse({ 0, 0 }, { 3, 4 }), 1)
end

function TestMetrics:test_r2_is_one_for_the_truth_zero_for_its_mean_and_negative_beyond()
  lu.assertEquals(m.r2({ 1, 2, 4 }, { 1, 2, 4 }), 1)
  lu.assertAlmostEquals(m.r2({ 2, 2, 2 }, { 1, 2, 3 }), 0, 1e-15)
  lu.assertEquals(m.r2({ 3, 2, 1 }, { 1, 2, 3 }), -3)
end

function TestMetrics:test_r2_of_several_targets_is_the_mean_of_theirs()
  local truth = sc.matrix{ { 1, 10 }, { 2, 20 }, { 3, 30 } }
  local said = sc.matrix{ { 1, 20 }, { 2, 20 }, { 3, 20 } }
  lu.assertAlmostEquals(m.r2(said, truth), 0.5, 1e-15)
end

function TestMetrics:test_r2_of_a_constant_truth_is_no_number()
  lu.assertNaN(m.r2({ 5, 5 }, { 5, 5 }))
  lu.assertEquals(m.r2({ 5, 6 }, { 5, 5 }), -math.huge)
end

function TestMetrics:test_log_loss_is_the_mean_of_minus_log()
  local p = sc.matrix{ { 0.7, 0.2, 0.1 }, { 0.1, 0.8, 0.1 } }
  lu.assertAlmostEquals(m.log_loss(p, { 1, 3 }), -(math.log(0.7) + math.log(0.1)) / 2, 1e-15)
  lu.assertAlmostEquals(m.log_loss(p, { 0, 9 }, { 0, 5, 9 }), -(math.log(0.7) + math.log(0.1)) / 2,
    1e-15)
  lu.assertAlmostEquals(m.log_loss(p, { "b", "b" }, { "a", "b", "c" }),
    -(math.log(0.2) + math.log(0.8)) / 2, 1e-15)
end

function TestMetrics:test_log_loss_of_one_column_is_the_chance_of_the_second_class()
  lu.assertAlmostEquals(m.log_loss({ 0.9, 0.4 }, { 2, 1 }), -(math.log(0.9) + math.log(0.6)) / 2,
    1e-15)
end

function TestMetrics:test_log_loss_of_an_impossible_event_is_finite()
  lu.assertAlmostEquals(m.log_loss(sc.matrix{ { 0, 1 } }, { 1 }), -math.log(1e-15), 1e-12)
end

function TestMetrics:test_log_loss_refuses_what_is_no_probability()
  lu.assertErrorMsgContains("reach from -1 to 2", m.log_loss, sc.matrix{ { 2, -1 } }, { 1 })
  lu.assertErrorMsgContains("row 1, column 2 is not finite", m.log_loss,
    sc.matrix{ { 0.5, 0 / 0 } }, { 1 })
  lu.assertErrorMsgContains("row 1 has the label 3, which is none of the 2 classes", m.log_loss,
    sc.matrix{ { 0.5, 0.5 } }, { 3 })
  lu.assertErrorMsgContains("2 rows of probabilities and 1 labels", m.log_loss,
    sc.matrix{ { 0.5, 0.5 }, { 1, 0 } }, { 1 })
  lu.assertErrorMsgContains("2 columns of probabilities and 3 classes", m.log_loss,
    sc.matrix{ { 0.5, 0.5 } }, { 1 }, { 1, 2, 3 })
  lu.assertErrorMsgContains("labels need the classes", m.log_loss, sc.matrix{ { 0.5, 0.5 } }, { "a" })
end

function TestMetrics:test_confusion_counts_truth_by_row_and_prediction_by_column()
  local c = m.confusion({ 1, 1, 7, 7, 7 }, { 1, 7, 7, 7, 1 })
  lu.assertEquals({ c.classes, c.counts:totable() }, { { 1, 7 }, { { 1, 1 }, { 1, 2 } } })
  lu.assertStrContains(tostring(c), "truth \\ said")
end

function TestMetrics:test_confusion_of_texts_by_lists_or_by_places()
  local counts = { { 1, 0 }, { 1, 1 } }
  lu.assertEquals(m.confusion({ "a", "a", "b" }, { "a", "b", "b" }).counts:totable(), counts)
  lu.assertEquals(m.confusion({ 1, 1, 2 }, { 1, 2, 2 }, { "a", "b" }).counts:totable(), counts)
  lu.assertEquals(m.confusion({ "a", "a", "b" }, { "a", "b", "b" }, { "b", "a" }).counts:totable(),
    { { 1, 1 }, { 0, 1 } })
  lu.assertErrorMsgContains("none of the classes", m.confusion, { "a" }, { "z" }, { "a", "b" })
  lu.assertErrorMsgContains("none of the classes", m.confusion, { 3 }, { 1 }, { "a", "b" })
end

function TestMetrics:test_confusion_totals_are_the_accuracy()
  local ds = sc.data.load "wdbc"
  local said = sc.rand{ #ds, 1, seed = 3 }:map(function(u) return u < 0.3 and 2 or 1 end)
  local c = m.confusion(said, ds.y, ds.classes)
  lu.assertEquals(c.counts:sum(), #ds)
  lu.assertAlmostEquals((c.counts:get(1, 1) + c.counts:get(2, 2)) / #ds, m.accuracy(said, ds.y),
    1e-15)
  lu.assertEquals({ c.counts:sum(2):get(1, 1), c.counts:sum(2):get(2, 1) }, { 357, 212 })
end

function TestMetrics:test_wrong_shapes_and_values_are_sentences()
  for _, name in ipairs{ "accuracy", "error_rate", "mse", "rmse", "nrmse", "r2", "confusion" } do
    lu.assertErrorMsgContains("metrics." .. name
      .. ": predictions are 2 x 1 and the truth is 3 x 1", m[name], { 1, 2 }, { 1, 2, 3 })
    lu.assertErrorMsgContains("metrics." .. name .. ": takes matrices or lists, and got 5", m[name],
      5, { 1 })
    lu.assertErrorMsgContains("metrics." .. name .. ": there is nothing to measure: 0 x 1", m[name],
      sc.zeros(0, 1), sc.zeros(0, 1))
    lu.assertErrorMsgContains("metrics." .. name, m[name], { 1 }, nil)
  end
end

function TestMetrics:test_the_error_names_the_line_of_the_caller()
  local _, message = pcall(load("local m = ... m.mse({ 1 }, { 1, 2 })", "=script.lua"), m)
  lu.assertStrContains(message, "script.lua:1: metrics.mse: ")
end

os.exit(lu.LuaUnit.run(), true)
