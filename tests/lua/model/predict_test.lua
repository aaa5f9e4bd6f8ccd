-- scullery predict: what it reads, what it writes, and what it refuses (by blocks:
-- predict_streams_test.lua).
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local command = require "predict_command"
local support = require "support"

local path, write, exists, files, predict, predicted, lines_of, features, save, set_up, tear_down
  = command.path, command.write, command.exists, command.files, command.predict,
  command.predicted, command.lines_of, command.features, command.save, command.set_up,
  command.tear_down
local quote = support.quote

-- ------------ columns

TestColumns = { setUp = set_up, tearDown = tear_down }

function TestColumns:test_columns_go_by_name_in_any_order_and_labels_are_texts()
  lu.assertEquals(predicted("colour.model", "plain.csv"), "prediction\ngreen\nblue\n")
  write("other.csv", "shape,v,u\nround,0.5,4.5\nsquare,4.5,0.5\n")
  lu.assertEquals(predicted("colour.model", "other.csv"), "prediction\ngreen\nblue\n")
end

function TestColumns:test_missing_columns_are_refused_by_name()
  write("short.csv", "shape,u\nround,1\n")
  local status, out, err = predict("colour.model", "short.csv")
  lu.assertEquals({ status, out }, { 1, "" })
  lu.assertEquals(err, "scullery: " .. path("short.csv")
    .. ": the column 'v' is missing; the file has 'shape', 'u'\n")
end

function TestColumns:test_a_near_name_is_suggested()
  write("near.csv", "shap,u,v,other\nround,1,1,1\n")
  local _, _, err = predict("colour.model", "near.csv")
  lu.assertStrContains(err, "the column 'shape' is missing")
  lu.assertStrContains(err, "(did you mean 'shap'?)")
  local ds = sc.dataset{ X = sc.randn{ 3, 2, seed = 1 }, names = { "u", "width" } }
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(sc.dataset{ X = ds.X,
    y = ds.X:column(1), names = { "u", "widths" }, task = "regression" })
  lu.assertErrorMsgContains("no column \"widths\" (did you mean 'width'?)", p.predict, p, ds)
  _, _, err = predict("colour.model", "new.csv", "--id nam")
  lu.assertStrContains(err, "(did you mean 'name'?)")
end

function TestColumns:test_extra_columns_are_told_and_the_target_is_not()
  local status, out, err = predict("colour.model", "new.csv")
  lu.assertEquals({ status, out }, { 0, "prediction\ngreen\nblue\n" })
  lu.assertEquals(err, "scullery: " .. path("new.csv")
    .. ": columns left out because the schema does not have them: note\n")
end

function TestColumns:test_unknown_categories_are_told()
  write("oval.csv", "u,v,shape\n4.5,0.5,oval\n")
  local status, out, err = predict("colour.model", "oval.csv")
  lu.assertEquals({ status, out }, { 0, "prediction\ngreen\n" })
  lu.assertStrContains(err,
    "unknown categories, whose columns of X are all 0: shape (1 row, such as 'oval')")
end

function TestColumns:test_id_is_carried_along()
  local status, out = predict("colour.model", "new.csv", "--id name")
  lu.assertEquals({ status, out }, { 0, "name,prediction\n\"a,b\",green\nb,blue\n" })
  local bad, _, err = predict("colour.model", "new.csv", "--id nosuch")
  lu.assertEquals({ bad, err }, { 1, "scullery: --id names 'nosuch', which is not a column of "
    .. path("new.csv") .. "\n" })
end

function TestColumns:test_models_without_names_go_by_place()
  local X = sc.randn{ 20, 3, seed = 5 }
  X:save(path("X.csv"))
  local want = {}
  for i, label in ipairs(command.plane:labels(X)) do want[i] = ("%d\n"):format(label) end
  local text = "prediction\n" .. table.concat(want)
  lu.assertEquals(predicted("labels.model", "X.csv"), text)
  write("named.csv", "a,b,c\n" .. support.read(path("X.csv"))) -- a header that no model knows
  lu.assertEquals(predicted("labels.model", "named.csv"), text)
  write("wide.csv", "1,2,3,4\n")
  local status, _, err = predict("labels.model", "wide.csv")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "it has 4 columns, and the model was fitted on 3, which have no names")
end

function TestColumns:test_names_of_a_data_set_count()
  local X = sc.randn{ 50, 2, seed = 3 }
  local ds = sc.dataset{ X = X, y = X:column(1) - X:column(2), names = { "left", "right" } }
  save("named.model", sc.pipeline{ sc.solver.ridge{ lambda = 1e-9 } }:fit(ds))
  write("turned.csv", "right,left\n1,3\n")
  local out = lines_of(predicted("named.model", "turned.csv"))
  lu.assertAlmostEquals(tonumber(out[2]), 2, 1e-5)
end

function TestColumns:test_missing_numbers_become_what_they_became_in_training()
  write("gap.csv", "u,v,shape\n,4.5,round\n")
  local status, _, err = predict("colour.model", "gap.csv")
  lu.assertEquals(status, 0)
  lu.assertStrContains(err, "missing numbers filled in: u (1 row, by ")
end

-- ------------ formats

TestFormats = { setUp = set_up, tearDown = tear_down }

local want_colours = "prediction\ngreen\nblue\n"

function TestFormats:test_gzip_and_the_standard_input()
  assert(os.execute("gzip -k " .. quote(path("plain.csv"))))
  lu.assertEquals(predicted("colour.model", "plain.csv.gz"), want_colours)
  lu.assertEquals(predicted("colour.model", "-", "", command.plain_text), want_colours)
  lu.assertEquals(predicted("colour.model", "-", "", support.read(path("plain.csv.gz"))),
    want_colours)
  local status, out = support.shell(("cat %s | %s predict %s -"):format(quote(path("plain.csv")),
    quote(support.binary), quote(path("colour.model"))))
  lu.assertEquals({ status, out }, { 0, want_colours })
end

function TestFormats:test_npy_in_and_out()
  local X = sc.randn{ 3000, 3, seed = 6 }
  X:save(path("X.npy"))
  predicted("values.model", "X.npy", "-o " .. path("out.npy"))
  lu.assertTrue(sc.data.npy(path("out.npy")) == command.by_number:predict(X))
  assert(os.execute("gzip -k " .. quote(path("X.npy"))))
  predicted("values.model", "X.npy.gz", "-o " .. path("again.npy"))
  lu.assertEquals(support.read(path("again.npy")), support.read(path("out.npy")))
  predicted("values.model", "-", "--format npy -o " .. path("pipe.npy"),
    support.read(path("X.npy")))
  lu.assertEquals(support.read(path("pipe.npy")), support.read(path("out.npy")))
  predicted("labels.model", "X.npy", "-o " .. path("labels.npy")) -- numbers: a list of them
  lu.assertTrue(sc.data.npy(path("labels.npy")) == command.plane:predict(X))
  lu.assertStrContains(support.read(path("labels.npy")),
    "'<f8', 'fortran_order': False, 'shape': (3000,), }")
end

function TestFormats:test_text_labels_in_npy_are_texts()
  predicted("colour.model", "plain.csv", "-o " .. path("out.npy"))
  local bytes = support.read(path("out.npy"))
  lu.assertStrContains(bytes, "{'descr': '<U5', 'fortran_order': False, 'shape': (2,), }")
  local wide = bytes:sub(129)
  lu.assertEquals(wide, ("green"):gsub(".", "%0\0\0\0") .. ("blue\0"):gsub(".", "%0\0\0\0"))
end

function TestFormats:test_npy_is_checked()
  sc.randn{ 50, 3, seed = 6 }:save(path("X.npy"))
  local bytes = support.read(path("X.npy"))
  write("cut.npy", bytes:sub(1, -9))
  write("long.npy", bytes .. "x")
  write("odd.npy", bytes:sub(1, -9) .. ("<d"):pack(0 / 0))
  sc.randn{ 5, 2, seed = 1 }:save(path("narrow.npy"))
  for name, words in pairs{ cut = "cut off", long = "goes on after its 50 x 3",
    odd = "row 50, column 3 is", narrow = "it has 2 columns, and the model was fitted on 3" } do
    local status, _, err = predict("values.model", name .. ".npy", "-o " .. path("out.csv"))
    lu.assertEquals({ name, status }, { name, 1 })
    lu.assertStrContains(err, words)
  end
  lu.assertFalse(exists("out.csv"))
end

function TestFormats:test_libsvm()
  local text = "# comment\n1 1:0.5 3:-2\n\n0 2:1.5\n1 1:1 2:2 3:3\n"
  local X = sc.matrix{ { 0.5, 0, -2 }, { 0, 1.5, 0 }, { 1, 2, 3 } }
  write("rows.libsvm", text)
  predicted("values.model", "rows.libsvm", "-o " .. path("out.npy"))
  lu.assertTrue(sc.data.npy(path("out.npy")) == command.by_number:predict(X))
  predicted("values.model", "-", "--format libsvm -o " .. path("pipe.npy"), text:sub(1, -2))
  lu.assertEquals(support.read(path("pipe.npy")), support.read(path("out.npy")))
  write("far.svm", "1 1:1\n1 4:1\n")
  local status, _, err = predict("values.model", "far.svm")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err,
    "far.svm: line 2, column 3 (row 2): '4:1' has an index past the columns")
end

function TestFormats:test_libsvm_is_the_format_of_models_that_learnt_from_it()
  write("train", "1 1:1\n-1 1:-1\n1 1:2\n-1 1:-2\n")
  save("svm.model", sc.pipeline{ sc.solver.ridge{ lambda = 1e-6 } }:fit(
    sc.data.libsvm(path("train"))))
  lu.assertEquals(predicted("svm.model", "train"), "prediction\n1\n-1\n1\n-1\n")
end

function TestFormats:test_long_lines_and_many_blocks_of_libsvm()
  local list, d = {}, 3
  local wide = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(sc.randn{ 5, d, seed = 1 },
    sc.randn{ 5, 1, seed = 2 })
  save("wide.model", wide)
  for i = 1, 120000 do list[i] = ("0 1:%d 3:%.3f"):format(i, i / 7) end
  list[60000] = "0 2:1 #" .. ("x"):rep(3000000) -- longer than a buffer
  write("many.libsvm", table.concat(list, "\n"))
  predicted("wide.model", "many.libsvm", "-o " .. path("out.npy"))
  lu.assertTrue(sc.data.npy(path("out.npy"))
    == wide:predict(sc.data.libsvm(path("many.libsvm")).X))
end

-- ------------ what is written

TestOutput = { setUp = set_up, tearDown = tear_down }

local function matrix_of(text, first_column)
  local rows = {}
  for i, line in ipairs(lines_of(text)) do
    if i > 1 then
      local row = {}
      for field in line:gmatch("[^,]+") do row[#row + 1] = tonumber(field) or field end
      rows[#rows + 1] = table.move(row, first_column or 1, #row, 1, {})
    end
  end
  return sc.matrix(rows)
end

function TestOutput:test_scores_are_those_of_decision()
  local X = sc.data.csv(path("plain.csv"), { like = command.by_colour, quiet = true }).X
  local out = predicted("colour.model", "plain.csv", "--scores")
  lu.assertEquals(lines_of(out)[1], "blue,green,red")
  lu.assertTrue(matrix_of(out) == command.by_colour:decision(X))
end

function TestOutput:test_scores_of_two_classes_are_of_the_second()
  local X = sc.randn{ 4, 3, seed = 6 }
  X:save(path("X.csv"))
  local out = predicted("labels.model", "X.csv", "--scores")
  lu.assertEquals(lines_of(out)[1], "7")
  lu.assertTrue(matrix_of(out) == command.plane:decision(X))
end

function TestOutput:test_probabilities_have_a_column_a_class()
  local X = sc.data.csv(path("plain.csv"), { like = command.logistic, quiet = true }).X
  local out = predicted("logistic.model", "plain.csv", "--proba")
  lu.assertEquals(lines_of(out)[1], "blue,green,red")
  lu.assertTrue(matrix_of(out) == command.logistic:probabilities(X))
  command.by_colour:calibrate{ folds = 3 }
  command.by_colour:save(path("calibrated.model"))
  lu.assertTrue(matrix_of(predicted("calibrated.model", "plain.csv", "--proba"))
    == command.by_colour:probabilities(X))
end

function TestOutput:test_probabilities_that_are_not_known_are_refused()
  local status, out, err = predict("colour.model", "plain.csv", "--proba")
  lu.assertEquals({ status, out }, { 1, "" })
  lu.assertStrContains(err, "saved without p:calibrate{...}")
  local none
  status, none, err = predict("values.model", "plain.csv", "--proba")
  lu.assertEquals({ status, none }, { 1, "" })
  lu.assertStrContains(err, "is a regression")
end

function TestOutput:test_several_targets_have_several_columns()
  local X = sc.randn{ 5, 3, seed = 9 }
  X:save(path("X.csv"))
  local out = predicted("values.model", "X.csv")
  lu.assertEquals(lines_of(out)[1], "prediction_1,prediction_2")
  lu.assertTrue(matrix_of(out) == command.by_number:predict(X))
end

function TestOutput:test_score_goes_by_label()
  local status, out, err = predict("colour.model", "train.csv", "--score -o " .. path("out.csv"))
  lu.assertEquals({ status, out, #lines_of(support.read(path("out.csv"))) },
    { 0, "accuracy 1\n", 301 })
  lu.assertEquals(err, "") -- the columns that training left out are known
  write("two.csv", "colour,u,v,shape\nred,0.5,0.5,round\nred,4.5,0.5,round\nviolet,4.5,0.5,round\n")
  status, out, err = predict("colour.model", "two.csv", "--score")
  lu.assertEquals({ status, out }, { 0, "prediction\nred\ngreen\ngreen\n" })
  lu.assertStrContains(err, "accuracy 0.333333\n")
  lu.assertStrContains(err, "never seen in training")
  status, out, err = predict("colour.model", "plain.csv", "--score -o " .. path("no.csv"))
  lu.assertEquals({ status, out, exists("no.csv") }, { 1, "", false })
  lu.assertStrContains(err, "colour")
  status, out, err = predict("colour.model", "-", "--score", command.plain_text)
  lu.assertEquals({ status, out }, { 1, "" })
  lu.assertStrContains(err, "the standard input can be read only once")
end

function TestOutput:test_score_of_a_model_with_computed_columns_and_transformed_targets()
  local text = { "a,b,y" }
  for i = 1, 60 do text[i + 1] = ("%d,%d,%.17g"):format(i % 7, i % 5, math.exp(0.1 * (i % 7))) end
  write("c.csv", table.concat(text, "\n") .. "\n")
  local ds = sc.data.csv(path("c.csv"), { target = "y", derive = { c = "a * b" }, quiet = true })
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-9 }, target = "log" }
  p:fit(ds):save(path("c.model"))
  local status, out, err = predict("c.model", "c.csv", "--score -o " .. path("said.csv"))
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertEquals(out, ("R2 %.6g\n"):format(p:score(ds)))
end

function TestOutput:test_file_without_rows_has_a_header_alone()
  write("none.csv", "u,v,shape\n")
  lu.assertEquals(predicted("colour.model", "none.csv"), "prediction\n")
end

-- ------------ failures

TestFailures = { setUp = set_up, tearDown = tear_down }

function TestFailures:test_failure_leaves_no_file_and_an_old_one_as_it_was()
  local list = { "u,v,shape" }
  for _ = 1, 200000 do list[#list + 1] = "4.5,0.5,round" end
  list[#list + 1] = "4.5,oops,round"
  write("bad.csv", table.concat(list, "\n") .. "\n")
  write("old.csv", "as it was\n")
  local before = files()
  for _, name in ipairs{ "new_one.csv", "old.csv", "new_one.npy" } do
    local status, _, err = predict("colour.model", "bad.csv", "-o " .. path(name))
    lu.assertEquals({ name, status }, { name, 1 })
    lu.assertStrContains(err, "bad.csv: row 200001, column 2 (v), line 200002")
  end
  lu.assertEquals({ files(), support.read(path("old.csv")) }, { before, "as it was\n" })
end

-- Rows without end are predicted; `signal` is a shell line for $pid once the file is begun.
local function while_predicting(signal)
  local line = ([[(cat %s; yes 4.5,0.5,round) 2>/dev/null | %s predict %s - -o %s & pid=$!
    for i in $(seq 1200); do ls %s | grep -q '[.]part$' && break; sleep 0.05; done
    %s
    wait $pid]]):format(quote(path("plain.csv")), quote(support.binary),
    quote(path("colour.model")), quote(path("out.csv")), quote(path()), signal)
  return support.shell(line)
end

function TestFailures:test_interrupt_leaves_no_file()
  local before = files()
  local status, _, err = while_predicting("kill -INT $pid")
  lu.assertEquals({ status, files() }, { 1, before })
  lu.assertEquals(err, "scullery: interrupted!\n")
end

function TestFailures:test_a_second_interrupt_leaves_no_file()
  local before = files()
  for _, pause in ipairs{ 0, 0, 0.025, 0.05, 0.1 } do -- timeout(1): both at once
    local status = while_predicting(("kill -INT $pid; sleep %g; kill -INT $pid"):format(pause))
    lu.assertTrue(status == 1 or status == 128 + 2, status)
    lu.assertEquals(files(), before)
  end
end

function TestFailures:test_reader_that_goes_away_ends_it_quietly()
  for _, before in ipairs{ "", "trap '' PIPE; " } do
    local status, out, err = support.shell(
      ("%s(cat %s; yes 4.5,0.5,round) 2>/dev/null | %s predict %s - | head -n 2"):format(before,
        quote(path("plain.csv")), quote(support.binary), quote(path("colour.model"))))
    lu.assertEquals({ status, out, err }, { 0, "prediction\ngreen\n", "" })
  end
end

function TestFailures:test_output_that_cannot_be_written_is_told()
  for target, words in pairs{ ["/nosuch/out.csv"] = "no such folder", [path() .. "/x.txt"] =
    "ends in .csv or .npy", [path() .. "/x.npy --id u"] = "--id needs a CSV file" } do
    local status, _, err = predict("colour.model", "plain.csv", "-o " .. target)
    lu.assertEquals({ target, status }, { target, 1 })
    lu.assertStrContains(err, words)
  end
  local status, _, err = predict("colour.model", "plain.csv", "> /dev/full")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "standard output: cannot be written: No space left")
end

function TestFailures:test_files_that_are_no_model_are_refused()
  local bytes = support.read(path("colour.model"))
  write("cut.model", bytes:sub(1, #bytes // 2))
  write("bit.model", bytes:sub(1, 999) .. string.char(bytes:byte(1000) ~ 1) .. bytes:sub(1001))
  features():save(path("features.model"))
  sc.pipeline{ sc.solver.ridge() }:save(path("unfitted.model"))
  for name, words in pairs{ ["cut.model"] = "cut.model", ["bit.model"] = "bit.model",
    ["plain.csv"] = "plain.csv", ["nosuch.model"] = "no such file",
    ["features.model"] = "does not contain a pipeline",
    ["unfitted.model"] = "before it was fitted" } do
    local status, out, err = predict(name, "plain.csv")
    lu.assertEquals({ name, status, out }, { name, 1, "" })
    lu.assertStrMatches(err, "scullery: [^\n]+\n")
    lu.assertStrContains(err, words)
  end
end

function TestFailures:test_usage()
  local status, out = support.scullery("predict --help")
  lu.assertEquals(status, 0)
  for _, word in ipairs{ "--proba", "--scores", "--id", "--format", "--score", "-o" } do
    lu.assertStrContains(out, word)
  end
  lu.assertEquals((support.scullery("predict")), 1)
  lu.assertEquals((predict("colour.model", "plain.csv", "--proba --scores")), 1)
end

-- ------------ how CSV is written

TestWriting = { setUp = set_up, tearDown = tear_down }

-- Rows X.csv and a model of two classes with probabilities.
local function two_classes()
  local X = sc.randn{ 40, 2, seed = 3 }
  local ds = sc.dataset{ X = X, y = X:column(1):map(function(v) return v > 0.3 and 1 or 0 end),
    task = "classification" }
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 0.1 } }:fit(ds)
  p:save(path("two.model"))
  X:save(path("X.csv"))
  return p, X
end

function TestWriting:test_a_threshold_moves_the_labels()
  local p, X = two_classes()
  for _, at in ipairs{ 0.2, 0.7 } do
    local want = { "prediction" }
    for i, label in ipairs(p:labels(X, { threshold = at })) do
      want[i + 1] = ("%d"):format(label)
    end
    lu.assertEquals(lines_of(predicted("two.model", "X.csv", "--threshold " .. at)), want)
  end
  for options, said in pairs{ ["--threshold 2"] = "--threshold got 2; it takes a probability",
    ["--threshold x"] = "--threshold takes a number, and got 'x'",
    ["--threshold 0.5 --proba"] = "goes with neither --proba nor --scores",
    ["--threshold 0.5 --score"] = "judges labels without --threshold" } do
    local status, out, err = predict("two.model", "X.csv", options)
    lu.assertEquals({ status, out }, { 1, "" })
    lu.assertStrContains(err, said)
  end
  local _, _, err = predict("colour.model", "plain.csv", "--threshold 0.5")
  lu.assertStrContains(err, "is for two classes, and the model has 3")
end

function TestWriting:test_digits_and_no_header()
  local p, X = two_classes()
  local P, want = p:probabilities(X), {}
  for i = 1, 40 do want[i] = ("%.3g,%.3g"):format(P:get(i, 1), P:get(i, 2)) end
  local lines = lines_of(predicted("two.model", "X.csv", "--proba --digits 3"))
  lu.assertEquals(table.remove(lines, 1), "0,1")
  lu.assertEquals(lines, want)
  lu.assertEquals(lines_of(predicted("two.model", "X.csv", "--proba --digits 3 --no-header")), want)
  for options, said in pairs{ ["--digits 18"] = "a whole number from 1 to 17, and got 18",
    ["--digits 2.5"] = "a whole number from 1 to 17, and got 2.5",
    ["--digits 3 -o " .. path("out.npy")] = "--digits is for CSV",
    ["--append"] = "--append needs the name of a file" } do
    local status, _, err = predict("two.model", "X.csv", options)
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, said)
  end
end

-- Appended files are those of all rows at once; a file that does not fit stays as it was.
function TestWriting:test_rows_are_appended()
  two_classes()
  local whole, out = predicted("two.model", "X.csv", "--proba"), path("out.csv")
  local rows = whole:gsub("^[^\n]*\n", "")
  local append = "--proba --append -o " .. out
  predicted("two.model", "X.csv", append)
  lu.assertEquals(support.read(out), whole)
  predicted("two.model", "X.csv", append)
  lu.assertEquals(support.read(out), whole .. rows)
  local status, _, err = predict("two.model", "X.csv", "--append -o " .. out)
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "its first line is not the header of these predictions")
  lu.assertEquals(support.read(out), whole .. rows)
  write("open.csv", "a,b\n1,2") -- without a line end
  predicted("two.model", "X.csv", "--proba --append --no-header -o " .. path("open.csv"))
  lu.assertEquals(support.read(path("open.csv")), "a,b\n1,2\n" .. rows)
  write("short.csv", "0")
  status = predict("two.model", "X.csv", "--proba --append -o " .. path("short.csv"))
  lu.assertEquals({ status, support.read(path("short.csv")) }, { 1, "0" })
end

os.exit(lu.LuaUnit.run(), true)
