--- The output of scullery bench: rows are printed as they are measured, or collected in one JSON
--- document.
local core = require "scullery.core"
local measure = require "scullery.bench.measure"

local report = {}
report.__index = report

-- The first match of a pattern in a file; nil where there is no such file.
local function first_match(path, pattern)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text:match(pattern)
end

--- report.new(json): a report that begins with the version, the machine and its load. json = true:
--- nothing is printed before report:close().
function report.new(json)
  local document = { version = core.version, instruction_set = core.instruction_set(),
    bits = select(2, core.bits()), openblas_coretype = os.getenv "OPENBLAS_CORETYPE",
    threads = core.threads(), rows = {},
    processor = first_match("/proc/cpuinfo", "model name%s*:%s*([^\n]+)"),
    load = tonumber(first_match("/proc/loadavg", "^(%S+)")) }
  local self = setmetatable({ json = json, document = document }, report)
  self:say(("Scullery %s, %s, %d threads, load %.2f"):format(core.version, document.instruction_set,
    document.threads, document.load or 0))
  return self
end

--- report:say(text): print a line at once, unless the report is a JSON document.
function report:say(text)
  if not self.json then
    print(text)
    io.flush()
  end
end

--- report:rates(): measure all rates of this machine and report them.
function report:rates()
  local r = measure.rates()
  self.document.rates = r
  self:say(("OpenBLAS, GFLOP/s (float64, float32): gemm %.0f, %.0f, syrk %.0f, %.0f, potrf %.0f"
    ):format(r.gemm_float64, r.gemm_float32, r.syrk_float64, r.syrk_float32, r.potrf))
  self:say(("memory read at %.0f GB/s, bits multiplied and counted at %.0f G/s"):format(r.memory,
    r.counts))
end

-- Optional fields of a row and their formats, in the order in which they are printed.
local shown = {
  { "processors", "%.2f s of processors" }, { "peak", "engine's peak %.2f GB" },
  { "fits", "%.1f fits" },
}

--- report:row{ id =, what = its description, seconds =, floor = seconds, note =, ... }: add a row.
--- Other fields go into the JSON document as they are, except `result`, which is dropped;
--- floor_over_time = floor / seconds is added.
function report:row(row)
  row.result = nil
  if row.floor then row.floor_over_time = row.floor / row.seconds end
  local said = {}
  for _, one in ipairs(shown) do
    if row[one[1]] then said[#said + 1] = one[2]:format(row[one[1]]) end
  end
  if row.note then said[#said + 1] = row.note end
  self:say(("%-58s %9.3f s  %s  %s"):format(row.what, row.seconds,
    row.floor and ("floor / time %.2f"):format(row.floor_over_time) or "                 ",
    table.concat(said, "; ")))
  self.document.rows[#self.document.rows + 1] = row
end

--- report:skip(id, why): add a row that was not measured, with the reason.
function report:skip(id, why)
  self:say(("%-58s left out: %s"):format(id, why))
  self.document.rows[#self.document.rows + 1] = { id = id, skipped = why }
end

--- report:close(): end the report; prints the JSON document.
function report:close()
  if not self.json then return end
  print(core.json_encode(self.document))
end

return report
