-- p:export("model.onnx"): graphs that onnxruntime predicts from as the model does, and refusals. It
-- is found by SCULLERY_ONNXRUNTIME, a folder with node_modules/onnxruntime-node.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local graphs = require "scullery.model.export.graph"
local statements = require "scullery.model.export.statements"
local source = os.getenv("SCULLERY_SOURCE") or "."
package.path = source .. "/tests/helpers/?.lua;" .. package.path
local exported, support = require "exported", require "support"

local quote = support.quote

-- The outputs of onnxruntime for a list of { pipeline, rows, name }.
local function predictions(cases)
  local given, outputs = {}, nil
  support.in_folder(function(folder)
    for k, case in ipairs(cases) do
      local path, rows, numbers = ("%s/m%d.onnx"):format(folder, k), case[2], {}
      case[1]:export(path)
      for i = 1, rows:rows() do
        for j = 1, rows:cols() do numbers[#numbers + 1] = rows:get(i, j) end
      end
      given[k] = { path = path, rows = rows:rows(), columns = rows:cols(), numbers = numbers }
    end
    support.write(folder .. "/cases", core.json_encode(given))
    local status, out, err = support.shell(("node %s %s/cases"):format(
      quote(source .. "/tests/helpers/onnx_predict.js"), quote(folder)))
    lu.skipIf(err:find "Cannot find module 'onnxruntime" or status == 127,
      "onnxruntime-node is not found: npm install onnxruntime-node, SCULLERY_ONNXRUNTIME=folder")
    lu.assertEquals({ status, err }, { 0, "" })
    outputs = core.json_decode(out)
  end)
  return outputs
end

-- Whether numbers agree to 1e-5 of the largest.
local function expect(list, wanted, what)
  local largest = math.max(wanted:max(), -wanted:min())
  lu.assertEquals(#list, wanted:rows() * wanted:cols(), what)
  for i = 1, wanted:rows() do
    for j = 1, wanted:cols() do
      local k = (i - 1) * wanted:cols() + j
      lu.assertAlmostEquals(list[k], wanted:get(i, j), 1e-5 * largest, what)
    end
  end
end

local function check(cases)
  for k, out in ipairs(predictions(cases)) do
    local p, rows, name = cases[k][1], cases[k][2], cases[k][3]
    if p.fitted.task == "regression" then
      expect(out.values, p:predict(rows), name)
    elseif p.fitted.task == "multilabel" then
      expect(out.labels, p:predict(rows), name)
    else
      lu.assertEquals(out.label, p:labels(rows), name)
      if p.fitted.calibration then expect(out.probabilities, p:probabilities(rows), name) end
    end
    if out.scores then expect(out.scores, p:decision(rows), name) end
  end
end

function TestPipelines()
  local cases = {}
  for _, case in ipairs(exported.pipelines()) do
    if case[3] ~= "thresholds" then cases[#cases + 1] = case end -- after stage.quantile
  end
  check(cases)
end

function TestPairs() check(exported.pairs ".onnx") end

-- Labels that are whole numbers stay numbers.
function TestWholeLabels()
  local X, y = sc.randn{ 40, 2, seed = 1 }, {}
  for i = 1, 40 do y[i] = 7 * (i % 3) end
  local p = exported.fitted(sc.dataset{ X = X, y = y, task = "classification" },
    exported.fourier{ T = 5 }, sc.solver.ridge{ lambda = 1e-3 })
  local rows = X:slice(1, 9)
  local labels, wanted = predictions{ { p, rows } }[1].label, p:predict(rows)
  lu.assertEquals(#labels, 9)
  for i, label in ipairs(labels) do lu.assertEquals(label, wanted:get(i, 1)) end
end

-- Texts of digits stay texts.
function TestLabelsOfDigits()
  local X, y = sc.randn{ 40, 2, seed = 1 }, {}
  for i = 1, 40 do y[i] = ({ "007", "08", "10" })[i % 3 + 1] end
  local p = exported.fitted(sc.dataset{ X = X, y = y, task = "classification" },
    sc.solver.ridge{ lambda = 1e-3 })
  lu.assertEquals(predictions{ { p, X } }[1].label, p:labels(X))
end

-- ------------ statements of C

function TestStatements()
  local g = graphs.new()
  local function value(text)
    return statements.value(text, g, { a = 7, b = 2.0, x = { [1] = 4 } })
  end
  lu.assertEquals(value "a / 2 + a % 4", 6)
  lu.assertEquals(value "a / b", 3.5)
  lu.assertEquals(value "-a / 2", -3)
  lu.assertEquals(value "(double)a / 2", 3.5)
  lu.assertEquals(value "(int)(b * 1.9) - x[a - 6]", -1)
  lu.assertEquals(value "a < 8 && b != 2 || !a ? 1e2 : pow(2, .5) * sqrt(2)", 2.0000000000000004)
  local v = { out = {}, n = 4 }
  statements.run([[
    const double half = .5, one = 1;
    int k, odd = 0;
    for (k = 0; k < n; k++) {
      if (k % 2 == 1) odd += k;
      else out[k] = half * k;
      out[1] = odd - one;
    }]], g, v)
  lu.assertEquals({ v.out, v.odd }, { { [0] = 0.0, [1] = 3.0, [2] = 1.0 }, 4 })
  lu.assertEquals(#g.nodes, 0)
  for text, words in pairs{ ["1 +"] = "its end where a number belongs", ["c + 1"] = "uses c before",
    ["1 $ 2"] = '"$" is not understood', ["lgamma(x[1]) + y"] = "lgamma", ["x[0]"] = "uses x",
    ["1 2"] = "2 where the end belongs" } do
    lu.assertErrorMsgContains(words, value, text)
  end
  for _, body in ipairs{ "{ k = 0; }", "k = 0;", "{}" } do
    lu.assertErrorMsgContains("too many steps", statements.run,
      "int k; for (k = 0; k < 1; k += 0) " .. body, g, {})
  end
  lu.assertErrorMsgContains("depends on the row", statements.run, "if (z > 0) z = 1;", g,
    { z = g:input("z", { 1, 1 }) })
end

-- ------------ refusals

function TestRefused()
  local path = support.free_path ".onnx"
  local function refuses(words, ...)
    local p = exported.fitted(exported.train, ...)
    lu.assertErrorMsgContains("pipeline:export: " .. words, p.export, p, path)
  end
  local ridge, normal = sc.solver.ridge{ lambda = 1e-3 }, sc.sampler.gaussian{ sigma = 1 }
  refuses("solver.knn", sc.solver.knn{ k = 3 })
  refuses("stage.quantile has no operators of ONNX", sc.stage.quantile(), ridge)
  refuses("features of kernel.gaussian", sc.features{ p = normal, T = 5, seed = 1,
    phi = sc.kernel.gaussian{ gamma = 1 } }, ridge)
  refuses("stage.hash_columns has no operators", sc.stage.hash_columns{ bits = 3 }, ridge)
  lu.assertNil(io.open(path))
end

os.exit(lu.LuaUnit.run())
