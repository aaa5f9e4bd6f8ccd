--- What a fit makes dense of sparse rows, and what would keep them sparse: notes of the report,
--- warnings where it is much, and refusals where it cannot be.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local text = require "scullery.base.text"
local warn = require "scullery.base.warn"

local density = {}

-- Bytes of dense rows in a pass from which a fit warns.
local NOTABLE = 1e9

-- The names of the components of a kind, with their defaults, that `test` holds for.
local function names_of(kind, test)
  local names = {}
  component.find(kind, function(one)
    local ok, holds = pcall(test, component.instance(one))
    if ok and holds then names[#names + 1] = one.name end
    return false
  end)
  table.sort(names)
  return #names > 0 and table.concat(names, ", ") or "none that is installed"
end

-- What would keep rows sparse, as a text.
local others = {
  stage = function() return names_of("stage", core.stage_keeps_zeros) end,
  solver = function()
    return names_of("solver", function(one) return core.solver_facts(one).reads_csr end)
  end,
}

-- "20000 x 1000000 numbers, 160 GB", and the bytes.
local function size_of(rows, columns)
  local bytes = 8.0 * rows * columns
  local shown = bytes < 500 and ("%d bytes"):format(bytes) or text.bytes(bytes)
  return ("%d x %d numbers, %s"):format(rows, columns, shown), bytes
end

--- density.of_stage(name, source, before, made): a note { said = a sentence, bytes =, kind =
--- "stage" } if the fitted stage `made`, after the fitted stages `before`, makes sparse rows dense;
--- else nil. Raises an error if the dense rows would take more memory than is left.
function density.of_stage(name, source, before, made)
  if not core.is_sparse_flow(source, before) then return nil end
  local after = table.move(before, 1, #before, 1, {})
  after[#after + 1] = made
  if core.is_sparse_flow(source, after) then return nil end
  local size, bytes = size_of(core.source_size(source), core.stage_info(made).cols_out)
  local said = ("%s makes sparse rows dense: %s"):format(name, size)
  local left = bytes >= NOTABLE and core.memory_left() or math.huge
  if bytes <= left then return { said = said, bytes = bytes, kind = "stage" } end
  error(("%s, and %s are left; row stages that keep zeros: %s"):format(said, text.bytes(left),
    others.stage()), 0)
end

--- density.of_solver(solver, source, prepared): such a note (kind = "solver") if the solver gets
--- sparse rows without features as dense ones; else nil.
function density.of_solver(solver, source, prepared)
  if prepared.map or not core.is_sparse_flow(source, prepared.stages) then return nil end
  local facts = core.solver_facts(component.instance(solver))
  if facts.reads_csr or facts.by_sums then return nil end
  local last = prepared.stages[#prepared.stages]
  local rows, columns = core.source_size(source)
  local size, bytes = size_of(rows, last and core.stage_info(last).cols_out or columns)
  return { said = ("solver.%s reads dense rows: %s"):format(solver.name, size), bytes = bytes,
    kind = "solver" }
end

--- density.is_notable(source): whether the rows are sparse and many bytes as dense ones.
function density.is_notable(source)
  local rows, columns = core.source_size(source)
  return core.is_sparse_flow(source, {}) and 8.0 * rows * columns >= NOTABLE
end

--- density.tell(note): prints a warning, once, if there is a note, and the bytes are many. Returns
--- the sentence, or nil.
function density.tell(note)
  if note and note.bytes >= NOTABLE and not note.told then
    note.told = true
    local what = note.kind == "stage" and "row stages that keep zeros"
      or "solvers that read sparse rows"
    warn(("%s in each pass; %s: %s"):format(note.said, what, others[note.kind]()))
  end
  return note and note.said
end

--- density.solvers(): the names of the solvers that read sparse rows, as a text.
function density.solvers() return others.solver() end

return density
