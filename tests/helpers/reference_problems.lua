--- Problems for build/tests/reference_solvers, which solves them in 113 bits: they are
--- collected, solved together by a few processes, and each answer is a matrix.
local sc = require "scullery"
local support = require "support"

local problems = {}
problems.__index = problems

local PROCESSES = 2

--- problems.new(): an empty collection.
function problems.new()
  return setmetatable({ list = {}, texts = {} }, problems)
end

-- The numbers of a matrix as text that reads as the same doubles; made once for each matrix.
local function numbers_of(self, X)
  if not X then return "" end
  if not self.texts[X] then
    local lines = {}
    for i, row in ipairs(X:totable()) do
      local cells = type(row) == "table" and row or { row }
      for j = 1, #cells do cells[j] = ("%.17g"):format(cells[j]) end
      lines[i] = table.concat(cells, " ")
    end
    self.texts[X] = table.concat(lines, "\n")
  end
  return self.texts[X]
end

--- problems:add(name, X, n, y, options): reference `name` on the first n rows of X and their
--- targets y (n x c; nil: none), answered for all rows of X. options: a table of numbers and words.
--- Returns the problem, whose `answer` is a matrix after problems:solve() (false: none was found).
function problems:add(name, X, n, y, options)
  local lines, count = {}, 0
  for key, value in pairs(options) do
    count = count + 1
    lines[count] = key .. " " .. (type(value) == "number" and ("%.17g"):format(value) or value)
  end
  table.sort(lines)
  table.insert(lines, 1, ("%s %d %d %d %d %d"):format(name, n, X:rows() - n, X:cols(),
    y and y:cols() or 0, count))
  lines[#lines + 1] = numbers_of(self, X)
  lines[#lines + 1] = numbers_of(self, y)
  local one = { text = table.concat(lines, "\n") .. "\n" }
  self.list[#self.list + 1] = one
  return one
end

-- Answers of one file, for the problems first, first + step, ..
local function read_answers(self, path, first, step)
  local file = assert(io.open(path))
  for at = first, #self.list, step do
    local rows, cols, data = file:read("n"), file:read("n"), {}
    for i = 1, rows do
      data[i] = {}
      for j = 1, cols do data[i][j] = file:read("n") end
    end
    self.list[at].answer = rows > 0 and sc.matrix(data)
  end
  file:close()
end

--- problems:solve(): answer all.
function problems:solve()
  local program, lines, paths = support.quote(support.build .. "/tests/reference_solvers"), {}, {}
  for process = 1, PROCESSES do
    local texts = {}
    for at = process, #self.list, PROCESSES do texts[#texts + 1] = self.list[at].text end
    paths[process] = { support.write(nil, table.concat(texts)), os.tmpname() }
    lines[process] = ("%s %s %s & p%d=$!"):format(program, paths[process][1], paths[process][2],
      process)
  end
  for process = 1, PROCESSES do lines[#lines + 1] = "wait $p" .. process .. " || exit 1" end
  local status, _, said = support.shell(table.concat(lines, "\n"))
  assert(status == 0, said)
  for process, both in ipairs(paths) do
    read_answers(self, both[2], process, PROCESSES)
    for _, path in ipairs(both) do os.remove(path) end
  end
end

return problems
