-- p:export: files of C that predict as the model does, compiled as C and as C++, and refusals.
local lu = require "luaunit"
local sc = require "scullery"
local source = os.getenv("SCULLERY_SOURCE") or "."
package.path = source .. "/tests/helpers/?.lua;" .. package.path
local exported, support = require "exported", require "support"

local quote = support.quote

-- ------------ files of C and their program

-- A statement that prints the results of model k for the next row of standard input: scores, then
-- predictions, then probabilities.
local function statement(k, p)
  local c, f = p.fitted.weights:cols(), p.fitted
  local lines = { ("double x[M%d_COLUMNS], s[M%d_SCORES];"):format(k, k),
    ("read_row(x, M%d_COLUMNS); m%d_decide(x, s); show(s, %d);"):format(k, k, c) }
  if f.task == "regression" then
    lines[#lines + 1] = ("m%d_predict(x, s); show(s, %d);"):format(k, c)
  elseif f.task == "multilabel" then
    lines[#lines + 1] = ("int l[%d]; m%d_predict(x, l); "):format(c, k)
      .. ("for (int k = 0; k < %d; k++) s[k] = l[k]; show(s, %d);"):format(c, c)
  else
    lines[#lines + 1] = ("int k = m%d_predict(x);"):format(k)
    lines[#lines + 1] = ("printf(\"%%d %%s\\n\", k, m%d_class(k));"):format(k)
    if f.calibration then
      lines[#lines + 1] = ("double q[M%d_CLASSES]; m%d_probabilities(x, q); show(q, %d);"):format(k,
        k, #f.classes)
    end
  end
  return "  { " .. table.concat(lines, " ") .. " }\n"
end

local function expect_numbers(line, wanted, what)
  local j = 0
  for number in line:gmatch "%S+" do
    j = j + 1
    local one, size = wanted:get(1, j), math.max(1, wanted:norm())
    lu.assertAlmostEquals(tonumber(number), one, 1e-9 * size, what)
  end
  lu.assertEquals(j, wanted:cols(), what)
end

-- Compares the lines of the program with each case { pipeline, X, name }.
local function compare(cases, output)
  local next_line = output:gmatch "[^\n]+"
  for _, case in ipairs(cases) do
    local p, name = case[1], case[3]
    for i = 1, case[2]:rows() do
      local row = case[2]:slice(i, i)
      expect_numbers(next_line(), p:decision(row), name)
      if p.fitted.task ~= "classification" then
        expect_numbers(next_line(), p:predict(row), name)
      else
        local place, label = next_line():match "^(%d+) (.*)$"
        lu.assertEquals(label, tostring(p:labels(row)[1]), name)
        lu.assertEquals(tostring(p.classes[tonumber(place) + 1]), label, name)
        if p.fitted.calibration then expect_numbers(next_line(), p:probabilities(row), name) end
      end
    end
  end
  lu.assertNil(next_line())
end

-- Exports the models of all cases to one program, in C and in C++, and compares what it prints.
local function check(cases)
  local compiler = os.getenv "CC" or "cc"
  lu.skipIf(support.shell(compiler .. " --version") ~= 0, "there is no C compiler")
  support.in_folder(function(folder)
    local includes, body, rows = {}, {}, {}
    for k, case in ipairs(cases) do
      case[1]:export(("%s/m%d.h"):format(folder, k))
      includes[k] = ('#include "m%d.h"\n'):format(k)
      for i = 1, case[2]:rows() do
        body[#body + 1] = statement(k, case[1])
        for j = 1, case[2]:cols() do rows[#rows + 1] = ("%.17g"):format(case[2]:get(i, j)) end
      end
    end
    support.write(folder .. "/rows", table.concat(rows, "\n"))
    support.write(folder .. "/use.c", "#include <stdio.h>\n" .. table.concat(includes) .. [[
static void read_row(double *x, int n) {
  for (int j = 0; j < n; j++)
    if (scanf("%lf", &x[j]) != 1) printf("no row\n");
}
static void show(const double *s, int n) {
  for (int j = 0; j < n; j++) printf("%.17g%c", s[j], j + 1 < n ? ' ' : '\n');
}
int main(void) {
]] .. table.concat(body) .. "  return 0;\n}\n")
    for _, language in ipairs{ "-std=c11 -x c", "-std=c++17 -x c++" } do
      local status, _, err = support.shell(("cd %s && %s %s -Wall -Wextra -Wpedantic -Werror \z
        use.c -o use -lm"):format(quote(folder), compiler, language))
      if language:find "c++" and err:find "cc1plus" then return end -- there is no compiler of C++
      lu.assertEquals({ status, err }, { 0, "" })
      local ran, out = support.shell(("cd %s && ./use < rows"):format(quote(folder)))
      lu.assertEquals(ran, 0)
      compare(cases, out)
    end
  end)
end

function TestPipelines() check(exported.pipelines()) end
function TestPairs() check(exported.pairs ".h") end

-- ------------ refusals

local train, fitted = exported.train, exported.fitted
local ridge = sc.solver.ridge{ lambda = 1e-3 }

local function refuses(p, path, words)
  local ok, message = pcall(p.export, p, path)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "pipeline:export: ")
  lu.assertStrContains(message, words)
end

function TestRefused()
  local path = support.free_path ".h"
  local normal = sc.sampler.gaussian{ sigma = 1 }
  local plain = fitted(train, sc.standardize(), ridge)
  refuses(fitted(train, sc.solver.knn{ k = 3 }), path, "solver.knn")
  refuses(fitted(train, sc.standardize(), sc.features{ p = normal, T = 5, seed = 1,
    phi = sc.kernel.gaussian{ gamma = 1 } }, ridge), path, "kernel.gaussian")
  refuses(fitted(train, sc.standardize(), sc.features{ p = normal, T = 5, seed = 1,
    phi = sc.nonlinearity.sign(), K = sc.kernel.gaussian{ width = 3 } }, ridge), path,
    "K = kernel.gaussian")
  refuses(fitted(train, sc.stage.hash_columns{ bits = 3 }, ridge), path, "stage.hash_columns")
  refuses(fitted(train, sc.stage.quantile{ output = "normal" }, ridge), path, "stage.quantile")
  local odd = sc.nonlinearity.define("z // 2")
  refuses(fitted(train, sc.features{ p = normal, phi = odd(), T = 5, seed = 1 }, ridge), path,
    "nonlinearity." .. odd().name .. " has no formula")
  refuses(plain, path .. ".c", "model.h, or of ONNX, model.onnx")
  refuses(plain, "/tmp/9.h", "begins with a digit")
  refuses(plain, "/nowhere/m.h", "/nowhere")
  refuses(plain, 7, "takes the path of a file, and got 7")
  refuses(sc.pipeline{ ridge }, path, "fit")
  lu.assertNil(io.open(path))
end

os.exit(lu.LuaUnit.run())
