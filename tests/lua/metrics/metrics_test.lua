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

-- 1 - 6 sum d^2/(n (n^2 - 1)) where no entries are equal; equal ones share the mean of their ranks.
function TestMetrics:test_spearman_is_the_correlation_of_ranks()
  local a, b = sc.randn{ 30, 1, seed = 1 }, sc.randn{ 30, 1, seed = 2 }
  local sum = 0
  for i = 1, 30 do
    local d = 0
    for k = 1, 30 do
      d = d + (a:get(k, 1) < a:get(i, 1) and 1 or 0) - (b:get(k, 1) < b:get(i, 1) and 1 or 0)
    end
    sum = sum + d * d
  end
  lu.assertAlmostEquals(m.spearman(a, b), 1 - 6 * sum / (30 * 899), 1e-14)
  lu.assertEquals(m.spearman(a, a:map(math.exp)), m.spearman(a, a))
  lu.assertAlmostEquals(m.spearman({ 1, 1, 2 }, { 1, 2, 3 }), math.sqrt(3) / 2, 1e-15)
  lu.assertAlmostEquals(m.spearman({ 1, 2, 9 }, { 1, 3, 2 }, { weights = { 1, 1, 0 } }), 1, 1e-15)
  lu.assertNaN(m.spearman({ 1, 1 }, { 1, 2 }))
  lu.assertNaN(m.spearman({ 1, 0 / 0, 3, 2 }, { 1, 2, 3, 4 }))
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
  lu.assertErrorMsgContains("row 1 has the label 3, which is not one of the 2 classes", m.log_loss,
    sc.matrix{ { 0.5, 0.5 } }, { 3 })
  lu.assertErrorMsgContains("2 rows of probabilities and 1 labels", m.log_loss,
    sc.matrix{ { 0.5, 0.5 }, { 1, 0 } }, { 1 })
  lu.assertErrorMsgContains("2 columns of probabilities and 3 classes", m.log_loss,
    sc.matrix{ { 0.5, 0.5 } }, { 1 }, { 1, 2, 3 })
  lu.assertErrorMsgContains("labels need the classes", m.log_loss,
    sc.matrix{ { 0.5, 0.5 } }, { "a" })
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
  lu.assertErrorMsgContains("not one of the classes", m.confusion, { "a" }, { "z" }, { "a", "b" })
  lu.assertErrorMsgContains("not one of the classes", m.confusion, { 3 }, { 1 }, { "a", "b" })
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
  for _, name in ipairs{ "accuracy", "error_rate", "mse", "rmse", "nrmse", "r2", "spearman",
    "confusion" } do
    lu.assertErrorMsgContains("metrics." .. name
      .. ": predictions are 2 x 1 and the truth is 3 x 1", m[name], { 1, 2 }, { 1, 2, 3 })
    lu.assertErrorMsgContains("metrics." .. name .. ": takes matrices or lists, and got 5", m[name],
      5, { 1 })
    lu.assertErrorMsgContains("metrics." .. name .. ": there is nothing to measure: 0 x 1", m[name],
      sc.zeros(0, 1), sc.zeros(0, 1))
    lu.assertErrorMsgContains("metrics." .. name, m[name], { 1 }, nil)
  end
end

-- ------------ against other computations

local n = 60
local noise = sc.randn{ n, 4, seed = 5 }
local truth3, said3, scores3 = {}, {}, sc.zeros(n, 3)
local truth2, said2, scores2 = {}, {}, sc.zeros(n, 1)
local weights, chances = {}, sc.zeros(n, 3)
for i = 1, n do
  truth3[i] = ({ "a", "b", "c" })[i % 3 + 1]
  said3[i] = noise:get(i, 1) > 0.3 and "a" or truth3[i]
  truth2[i] = i % 5 < 2 and "yes" or "no"
  said2[i] = noise:get(i, 2) > 0.5 and (i % 2 == 0 and "yes" or "no") or truth2[i]
  -- rounded, so that there are ties
  scores2:set(i, 1, math.floor(2 * noise:get(i, 3) + (truth2[i] == "yes" and 1 or 0)) / 2)
  local sum = 0
  for k = 1, 3 do
    scores3:set(i, k, math.floor(2 * noise:get(i, k) + (i % 3 + 1 == k and 2 or 0)))
    chances:set(i, k, math.exp(scores3:get(i, k)))
    sum = sum + chances:get(i, k)
  end
  for k = 1, 3 do chances:set(i, k, chances:get(i, k) / sum) end
  weights[i] = i % 4
end

-- Every pair of a row of the class and one of the others.
local function pairs_won(score, inside)
  local won, count = 0, 0
  for i = 1, n do
    for j = 1, n do
      if inside(i) and not inside(j) then
        count = count + 1
        won = won + (score(i) > score(j) and 1 or score(i) == score(j) and 0.5 or 0)
      end
    end
  end
  return won / count
end

function TestMetrics:test_auc_is_the_share_of_pairs_in_order()
  local want = pairs_won(function(i) return scores2:get(i, 1) end,
    function(i) return truth2[i] == "yes" end)
  lu.assertAlmostEquals(m.auc(scores2, truth2), want, 1e-14)
  -- one column grows with the second class: turned round, it is the score of the first
  lu.assertAlmostEquals(m.auc(scores2, truth2, { positive = "no" }), want, 1e-14)
  lu.assertAlmostEquals(m.auc(scores2, truth2, { classes = { "yes", "no" } }), 1 - want, 1e-14)
  local sum = 0
  for k, label in ipairs{ "a", "b", "c" } do
    sum = sum + pairs_won(function(i) return scores3:get(i, k) end,
      function(i) return truth3[i] == label end)
  end
  lu.assertAlmostEquals(m.auc(scores3, truth3), sum / 3, 1e-14)
  lu.assertEquals(m.auc({ 1, 1, 1 }, { 0, 1, 0 }), 0.5) -- all tied
  lu.assertEquals(m.auc({ 1, 2, 3 }, { 0, 1, 1 }), 1)
end

-- At each threshold that occurs the precision and recall of "score at least this".
function TestMetrics:test_pr_auc_sums_precision_over_gains_in_recall()
  local thresholds, seen = {}, {}
  for i = 1, n do
    local v = scores2:get(i, 1)
    if not seen[v] then seen[v] = true thresholds[#thresholds + 1] = v end
  end
  table.sort(thresholds, function(a, b) return a > b end)
  local area, last = 0, 0
  for _, threshold in ipairs(thresholds) do
    local said = {}
    for i = 1, n do said[i] = scores2:get(i, 1) >= threshold and "yes" or "no" end
    local recall = m.recall(said, truth2, { positive = "yes" })
    area = area + (recall - last) * m.precision(said, truth2, { positive = "yes" })
    last = recall
  end
  lu.assertAlmostEquals(m.pr_auc(scores2, truth2), area, 1e-14)
  lu.assertAlmostEquals(m.pr_auc({ 1, 1, 1, 1 }, { 0, 1, 0, 1 }), 0.5, 1e-15) -- all tied
end

function TestMetrics:test_areas_of_one_class_are_refused()
  for _, name in ipairs{ "auc", "pr_auc" } do
    lu.assertErrorMsgContains("metrics." .. name .. ": all rows are of the class", m[name],
      { 1, 2 }, { "a", "a" })
    lu.assertErrorMsgContains("no row is of the class \"b\"", m[name], { 1, 2 }, { "a", "a" },
      { classes = { "a", "b" } })
    lu.assertErrorMsgContains("no row is of the class \"c\"", m[name], scores3:slice(1, 2),
      { "a", "b" }, { classes = { "a", "b", "c" } })
  end
end

local function count(said, truth, label)
  local right, of_said, of_truth = 0, 0, 0
  for i = 1, n do
    right = right + (said[i] == label and truth[i] == label and 1 or 0)
    of_said = of_said + (said[i] == label and 1 or 0)
    of_truth = of_truth + (truth[i] == label and 1 or 0)
  end
  return right, of_said, of_truth
end

function TestMetrics:test_precision_recall_and_f1_are_counts()
  local right, of_said, of_truth = count(said2, truth2, "yes") -- the second of "no", "yes"
  local p, r = right / of_said, right / of_truth
  lu.assertAlmostEquals(m.precision(said2, truth2), p, 1e-15)
  lu.assertAlmostEquals(m.recall(said2, truth2), r, 1e-15)
  lu.assertAlmostEquals(m.f1(said2, truth2), 2 * p * r / (p + r), 1e-15)
  local sums = { precision = 0, recall = 0, f1 = 0 }
  for _, label in ipairs{ "a", "b", "c" } do
    right, of_said, of_truth = count(said3, truth3, label)
    p, r = right / of_said, right / of_truth
    sums.precision, sums.recall = sums.precision + p / 3, sums.recall + r / 3
    sums.f1 = sums.f1 + 2 * p * r / (p + r) / 3
    lu.assertAlmostEquals(m.precision(said3, truth3, { positive = label }), p, 1e-15)
  end
  for name, want in pairs(sums) do
    lu.assertAlmostEquals(m[name](said3, truth3), want, 1e-14)
    lu.assertAlmostEquals(m[name](said3, truth3, { average = "micro" }), m.accuracy(said3, truth3),
      1e-15)
  end
  lu.assertAlmostEquals(m.balanced_accuracy(said3, truth3), sums.recall, 1e-14)
end

function TestMetrics:test_shares_of_nothing_are_sentences()
  local classes = { classes = { "no", "yes" } }
  lu.assertErrorMsgContains("no row is predicted to be of the class yes", m.precision, { "no" },
    { "yes" }, classes)
  lu.assertErrorMsgContains("no row is of the class yes", m.recall, { "yes" }, { "no" }, classes)
  lu.assertErrorMsgContains("or predicted to be of it", m.f1, { "no" }, { "no" }, classes)
  lu.assertErrorMsgContains("all labels are \"no\"", m.f1, { "no" }, { "no" })
  lu.assertErrorMsgContains("'positive' got \"maybe\"", m.f1, { "no" }, { "yes" },
    { positive = "maybe" })
  lu.assertErrorMsgContains("'positive' or 'average'", m.f1, { "no" }, { "yes" },
    { positive = "no", average = "macro" })
  lu.assertEquals(m.balanced_accuracy({ "a", "b" }, { "a", "a" }), 0.5) -- b does not occur
end

function TestMetrics:test_mae_is_the_mean_distance()
  lu.assertEquals(m.mae({ 1, 2, 4 }, { 2, 2, 2 }), 1)
  lu.assertEquals(m.mae(sc.matrix{ { 1, 5 } }, sc.matrix{ { 2, 2 } }), 2)
end

-- Sorting the scores of each row; ties go to the first column.
function TestMetrics:test_top_k_looks_among_the_highest()
  for k = 1, 2 do
    local right = 0
    for i = 1, n do
      local order = { 1, 2, 3 }
      table.sort(order, function(a, b)
        local x, y = scores3:get(i, a), scores3:get(i, b)
        return x > y or x == y and a < b
      end)
      for place = 1, k do
        if ({ "a", "b", "c" })[order[place]] == truth3[i] then right = right + 1 end
      end
    end
    lu.assertAlmostEquals(m.top_k(scores3, truth3, { k = k }), right / n, 1e-15)
  end
  lu.assertEquals(m.top_k(scores3, truth3), m.top_k(scores3, truth3, { k = 2 }))
  lu.assertErrorMsgContains("3 highest of 3", m.top_k, scores3, truth3, { k = 3 })
  lu.assertErrorMsgContains("a column of scores for each class", m.top_k, scores2, truth2)
end

function TestMetrics:test_calibration_compares_what_was_said_with_what_came()
  local c = m.calibration({ 0.1, 0.15, 0.9, 1, 0.95, 0.5 },
    { "no", "yes", "yes", "yes", "no", "no" }, { bins = 2 })
  lu.assertEquals(#c.bins, 2)
  lu.assertEquals({ c.bins[1].rows, c.bins[2].rows }, { 2, 4 }) -- 0.5 and 1 are in the upper half
  lu.assertAlmostEquals(c.bins[1].said, 0.125, 1e-15)
  lu.assertAlmostEquals(c.bins[2].seen, 0.5, 1e-15)
  local gaps = { math.abs(0.125 - 0.5), math.abs(3.35 / 4 - 0.5) }
  lu.assertAlmostEquals(c.error, (2 * gaps[1] + 4 * gaps[2]) / 6, 1e-15)
  lu.assertAlmostEquals(c.worst, math.max(gaps[1], gaps[2]), 1e-15)
  lu.assertStrContains(tostring(c), "came true")
  -- of more than two classes the likeliest
  local many = m.calibration(chances, truth3, { bins = 1 })
  local said, right = 0, 0
  for i = 1, n do
    local best = 1
    for k = 2, 3 do if chances:get(i, k) > chances:get(i, best) then best = k end end
    said = said + chances:get(i, best) / n
    right = right + (({ "a", "b", "c" })[best] == truth3[i] and 1 / n or 0)
  end
  lu.assertAlmostEquals(many.error, math.abs(said - right), 1e-14)
end

-- A whole weight is that many copies of the row, whatever is measured.
function TestMetrics:test_weights_count_rows()
  local again = {}
  for i = 1, n do for _ = 1, weights[i] do again[#again + 1] = i end end
  local function repeated(value)
    if type(value) ~= "table" then return value:select(again) end
    local list = {}
    for k, i in ipairs(again) do list[k] = value[i] end
    return list
  end
  local y, z = noise:slice(1, n, 1, 2), noise:slice(1, n, 3, 4)
  for name, given in pairs{ accuracy = { said3, truth3 }, error_rate = { said3, truth3 },
    balanced_accuracy = { said3, truth3 }, precision = { said2, truth2 },
    recall = { said2, truth2 }, f1 = { said3, truth3 }, mse = { y, z }, rmse = { y, z },
    mae = { y, z }, nrmse = { y, z }, r2 = { y, z }, spearman = { y, z },
    auc = { scores2, truth2 }, pr_auc = { scores3, truth3 }, top_k = { scores3, truth3 },
    log_loss = { chances, truth3 },
    calibration = { chances, truth3 }, confusion = { said3, truth3 } } do
    local a = m[name](given[1], given[2], { weights = weights })
    local b = m[name](repeated(given[1]), repeated(given[2]))
    local plain = m[name](given[1], given[2])
    if name == "calibration" then a, b, plain = a.error, b.error, plain.error end
    if name == "confusion" then a, b, plain = a.counts:get(2, 1), b.counts:get(2, 1), -1 end
    lu.assertAlmostEquals(a, b, 1e-12, name)
    lu.assertNotEquals(a, plain, name)
    for wrong, words in pairs{ [{ 1 }] = "is 1 x 1 for 60 rows", [sc.zeros(n, 1)] = "all weights",
      [sc.ones(n, 1) * -1] = "weight 1 is -1" } do
      lu.assertErrorMsgContains(words, m[name], given[1], given[2], { weights = wrong })
    end
    lu.assertErrorMsgContains("did you mean 'weights'", m[name], given[1], given[2],
      { weight = weights })
  end
end

function TestMetrics:test_the_error_names_the_line_of_the_caller()
  local _, message = pcall(load("local m = ... m.mse({ 1 }, { 1, 2 })", "=script.lua"), m)
  lu.assertStrContains(message, "script.lua:1: metrics.mse: ")
end

os.exit(lu.LuaUnit.run(), true)
