-- The error of exact sums: Phi'Phi of float64 features by three ways of adding the products of
-- blocks, beside sums in 113 bits
--
--   build/scullery scripts/sums/error.lua [--build FOLDER] [--out DIR] [--picture FILE.svg]
--
-- 8 Fourier features of uniform rows in 4 columns; blocks of 2048 rows; five seeds. FOLDER
-- (default: build) has libscullery.so, whose core/algebra/block_totals.h makes the whole numbers
-- (error.c).
-- Results are in DIR/sums_error (default: experiments). Needs a C compiler with __float128.
local sc = require "scullery"

local args = sc.arguments{ build = "build", out = "experiments", picture = "" }
local LEVELS = 12 -- up to 2^(LEVELS - 1) blocks
local ways = { "one after the other, float64", "a tree, float64", "whole numbers" }

local library, source = args.build, (arg[0]:gsub("%.lua$", ".c"))
local root = arg[0]:gsub("scripts/sums/error%.lua$", "./")
local program = os.tmpname()
assert(os.execute(("cc -O2 -I'%score' -I'%score/include' -o '%s' '%s' -L'%s' -Wl,-rpath,'%s' \z
  -lscullery -lm"):format(root, root, program, source, library, library)), "it cannot be compiled")

local exp = sc.experiment{ name = "sums_error", folder = args.out, processes = 1,
  cells = { seed = sc.range(1, 5) },
  run = function(cell)
    local pipe = assert(io.popen(("'%s' %d %d"):format(program, LEVELS, cell.seed)))
    local result, level = {}, 0
    for line in pipe:lines() do
      level = level + 1
      local numbers = {}
      for one in line:gmatch "%S+" do numbers[#numbers + 1] = tonumber(one) end
      for k = 1, 3 do result[("way%d_level%d"):format(k, level)] = numbers[k + 1] end
    end
    assert(pipe:close() and level == LEVELS, "the program failed")
    return result
  end }
os.remove(program)

-- The root of the mean square over the seeds.
local function mean(way, level)
  local sum, count = 0, 0
  for _, row in ipairs(exp.rows) do
    if row.status == "done" then
      sum = sum + row.result[("way%d_level%d"):format(way, level)] ^ 2
      count = count + 1
    end
  end
  return math.sqrt(sum / count)
end

local series = {}
for way, name in ipairs(ways) do series[way] = { label = name, x = {}, y = {} } end
print("| rows | " .. table.concat(ways, " | ") .. " |\n|---|---|---|---|")
for level = 1, LEVELS do
  local rows, cells = 2048 << (level - 1), {}
  for way in ipairs(ways) do
    series[way].x[level], series[way].y[level] = rows, mean(way, level)
    cells[way] = ("%.1e"):format(mean(way, level))
  end
  print(("| %d | %s |"):format(rows, table.concat(cells, " | ")))
end
if args.picture ~= "" then
  sc.plot.line{ series = series, marks = true, x_log = true, y_log = true,
    title = "Error of sums of products beside 113 bits", x_label = "rows",
    y_label = "root mean square error of an entry", width = 760, height = 420 }:save(args.picture)
end
