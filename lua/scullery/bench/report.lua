--- Rows of scullery bench: printed as they come, or kept for one JSON document.
local core = require "scullery.core"
local measure = require "scullery.bench.measure"

local report = {}
report.__index = report

local function first_line(path, pattern)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text:match(pattern)
end

--- report.new(json): json: nothing is printed before report:close().
function report.new(json)
  local document = { version = core.version, instruction_set = core.instruction_set(),
    bits = select(2, core.bits()), openblas_coretype = os.getenv "OPENBLAS_CORETYPE",
    threads = core.threads(), rows = {},
    processor = first_line("/proc/cpuinfo", "model name%s*:%s*([^\n]+)"),
    load = tonumber(first_line("/proc/loadavg", "^(%S+)")) }
  local self = setmetatable({ json = json, document = document }, report)
  self:say(("Scullery %s, %s, %d threads, load %.2f"):format(core.version, document.instruction_set,
    document.threads, document.load or 0))
  return self
end

function report:say(text)
  if not self.json then
    print(text)
    io.flush()
  end
end

--- report:rates(): measures and states all of them.
function report:rates()
  local r = measure.rates()
  self.document.rates = r
  self:say(("OpenBLAS, GFLOP/s (float64, float32): gemm %.0f, %.0f, syrk %.0f, %.0f, potrf %.0f"
    ):format(r.gemm_float64, r.gemm_float32, r.syrk_float64, r.syrk_float32, r.potrf))
  self:say(("memory read at %.0f GB/s, bits multiplied and counted at %.0f G/s"):format(r.memory,
    r.counts))
end

-- Facts that a row may have beside its name, in the order in which they are printed.
local shown = {
  { "processors", "%.2f s of processors" }, { "peak", "engine's peak %.2f GB" },
  { "fits", "%.1f fits" },
}

--- report:row{ id =, what =, seconds =, floor = seconds or a function that gives them, note =,
--- other facts }: floor_over_time is added.
function report:row(row)
  local limit = row.floor
  if type(limit) == "function" then limit = limit() end
  row.floor, row.result = limit, nil
  if limit then row.floor_over_time = limit / row.seconds end
  local said = {}
  for _, one in ipairs(shown) do
    if row[one[1]] then said[#said + 1] = one[2]:format(row[one[1]]) end
  end
  if row.note then said[#said + 1] = row.note end
  self:say(("%-58s %9.3f s  %s  %s"):format(row.what, row.seconds,
    limit and ("floor / time %.2f"):format(row.floor_over_time) or "                 ",
    table.concat(said, "; ")))
  self.document.rows[#self.document.rows + 1] = row
end

--- report:skip(id, why): a row that cannot be measured here.
function report:skip(id, why)
  self:say(("%-58s left out: %s"):format(id, why))
  self.document.rows[#self.document.rows + 1] = { id = id, skipped = why }
end

function report:close()
  if not self.json then return end
  print(core.json_encode(self.document))
end

return report
