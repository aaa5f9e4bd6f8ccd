-- Puts figures into docs/performance.md, between its marks:
--
--     build/scullery scripts/bench/page.lua [--figures FILE] [--growth FILE] [--page FILE]
--
-- --figures: what scripts/bench/side_by_side.sh --json wrote, for the tables between
-- "<!-- figures -->" and "<!-- end of figures -->"; --growth: what scripts/bench/growth.lua --json
-- wrote, for the table between "<!-- growth -->" and "<!-- end of growth -->". Where the machine
-- was busy when the run began, times are processor seconds, and the page says so.
local core = require "scullery.core"
local sc = require "scullery"
local args = sc.arguments{ figures = "", growth = "", page = "docs/performance.md" }

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local function between(text, name, lines)
  local open, close = ("<!-- %s -->"):format(name), ("<!-- end of %s -->"):format(name)
  local _, from = text:find(open, 1, true)
  local to = from and text:find(close, from, true)
  if not to then error(("page.lua: %s has no %s ... %s"):format(args.page, open, close), 0) end
  return text:sub(1, from) .. "\n\n" .. table.concat(lines, "\n") .. "\n\n" .. text:sub(to)
end

-- ------------ figures

local function short(number)
  if number >= 100 then return ("%.0f"):format(number) end
  return ("%.2g"):format(number):find "e" and ("%.0f"):format(number) or ("%.2g"):format(number)
end

-- What a document has for a row: { ours =, peer = }, each nil where it was left out.
local function pair(set, id)
  local one = set and set[id] or {}
  local function found(side) return type(side) == "table" and not side.skipped and side or nil end
  return found(one.ours), found(one.peer)
end

local function cells(set, id, clock)
  local ours, peer = pair(set, id)
  if ours and not ours[clock] then clock = "seconds" end
  local function time(side) return side[clock] end
  return { ours and short(time(ours)) .. " s" or "",
    ours and ours.floor_over_time and ("%.2f"):format(ours.floor_over_time) or "",
    peer and ("%s: %s s"):format(peer.tool, short(time(peer))) or "",
    ours and peer and short(time(ours) / time(peer)) or "" }
end

local function remark(set, id)
  local ours, peer = pair(set, id)
  local said = {}
  local function add(form, ...) said[#said + 1] = form:format(...) end
  if not ours then return "" end
  if ours.fits then add("%.1f fits with all features made", ours.fits) end
  if ours.ssyrk_over_time then add("OpenBLAS's ssyrk: %.1f times as long", ours.ssyrk_over_time) end
  if ours.first_over_best then add("first reading: %.2f times the best", ours.first_over_best) end
  if ours.error then
    add("test error %.4f%s", ours.error, peer and peer.error and (" (%.4f)"):format(peer.error)
      or "")
  end
  if ours.objective and peer and peer.objective then
    add("objective %.6f (%.6f)", ours.objective, peer.objective)
  end
  if peer and peer.different then
    add("%d of %d decisions differ", peer.different, peer.decisions)
  end
  if ours.bytes_an_entry then add("%.1f bytes for each entry of K", ours.bytes_an_entry) end
  return table.concat(said, "; ")
end

-- Where features take the memory.
local function memory(set, id)
  local ours, peer = pair(set, id)
  if not (ours and peer) or not (id:find "_stumps$" or id == "mnist_ridge") then return nil end
  return ("| %s | %.2f GB | %.2f GB |"):format(ours.what, ours.resident, peer.gigabytes)
end

local order = { "adult_made_float64", "adult_made_float32", "adult_values_float64",
  "adult_values_float32", "search_lambda", "search_whole", "mnist_ridge", "cg_gaussian",
  "cg_hadamard", "gram_1000", "gram_2000", "gram_5000", "adult_stumps", "adult_stumps_numbers",
  "kddcup10_stumps", "skin_stumps", "lasso_1e-4", "lasso_1e-6", "lasso_path", "box_hinge",
  "box_logistic", "hinge", "logistic", "sparse_hinge", "sparse_squared_hinge", "sparse_logistic",
  "svm_adult", "svm_mnist17", "svm_letter", "kernel_ridge", "kernel_ridge_20000", "adaboost",
  "neighbours", "reading", "words", "word_pairs" }

local function about(document, busy)
  local machine, native = document.machine, document.sets.native
  local ours, versions = nil, {}
  for _, id in ipairs(order) do
    local mine, peer = pair(native, id)
    ours = ours or mine
    for name, version in pairs(peer and peer.versions or {}) do versions[name] = version end
  end
  local list = { ("%s, %s, %d threads, %s"):format(document.version, machine.processor,
    machine.threads, ours and ours.instruction_set or "") }
  for _, name in ipairs{ "numpy", "sklearn", "pandas", "blas" } do
    if versions[name] then list[#list + 1] = ("%s %s"):format(name, versions[name]) end
  end
  return table.concat(list, "; ") .. (busy and ". The machine was busy: times are processor \z
seconds of all threads, shares of the floor by the clock." or ". Times are by the clock.")
end

local function tables(document)
  local sets = document.sets
  local busy = document.machine.load > 0.75
  local clock, two = busy and "processors" or "seconds", sets.avx2 ~= nil
  local lines = { about(document, busy), "" }
  local function line(...) lines[#lines + 1] = "| " .. table.concat({ ... }, " | ") .. " |" end
  local heads = { "", "ours", "floor / time", "peer", "ours / peer" }
  if two then
    table.move({ "AVX2: ours", "floor / time", "peer", "ours / peer" }, 1, 4, #heads + 1, heads)
  end
  line(table.unpack(heads, 1, #heads))
  lines[#lines] = lines[#lines] .. " |"
  lines[#lines + 1] = ("|---"):rep(#heads + 1) .. "|"
  for _, id in ipairs(order) do
    local ours = pair(sets.native, id)
    if ours then
      local row = cells(sets.native, id, clock)
      if two then table.move(cells(sets.avx2, id, clock), 1, 4, 5, row) end
      row[#row + 1] = remark(sets.native, id)
      line(ours.what, table.unpack(row))
    end
  end
  table.move({ "", "The most memory of the whole process, the data included:", "",
    "| | ours | peer |", "|---|---|---|" }, 1, 5, #lines + 1, lines)
  for _, id in ipairs(order) do lines[#lines + 1] = memory(sets.native, id) end
  return lines
end

-- ------------ growth

-- 10,000,000
local function grouped(whole)
  local text = ("%d"):format(whole):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (text:gsub("^,", ""))
end

local function growth(document)
  local lines = { "| | from | to | seconds | the last step multiplies time by | floor / time, \z
last | memory above the start |", "|---|---|---|---|---|---|---|" }
  for _, one in ipairs{ { "n", "rows, streamed (d = 20, D = 500)" }, { "D", "features" },
    { "d", "columns, Gaussian rows" }, { "hadamard", "columns, Hadamard rows" },
    { "classes", "classes" } } do
    local list = document.points[one[1]]
    local first, before, last = list[1], list[#list - 1], list[#list]
    lines[#lines + 1] = ("| %s | %s | %s | %s to %s | %s, for %g times as many | %s | %.0f to \z
%.0f MB |"):format(one[2], grouped(first.at), grouped(last.at), short(first.seconds),
      short(last.seconds), short(last.seconds / before.seconds), last.at / before.at,
      last.floor and ("%.2f"):format(last.floor / last.seconds) or "", first.memory * 1e3,
      last.memory * 1e3)
  end
  if document.processors then
    table.insert(lines, 1, "")
    table.insert(lines, 1, "The machine was busy: processor seconds by the number of threads.")
  end
  return lines
end

local text = read(args.page)
if args.figures ~= "" then
  text = between(text, "figures", tables(core.json_decode(read(args.figures))))
end
if args.growth ~= "" then
  text = between(text, "growth", growth(core.json_decode(read(args.growth))))
end
core.write_text(args.page, text)
