--- Whether what a model says of a row depends on that row alone: not on the rows beside it, its
--- place among them, or the number of threads.
local lu = require "luaunit"
local sc = require "scullery"

local alone = {}

--- alone.cuts(n): slices of n rows { from, to }: rows alone, at the edges of tiles and of the
--- batch, and others.
function alone.cuts(n)
  local cuts = { { 1, 1 }, { 2, 2 }, { n, n }, { 1, 2 }, { 2, n }, { n // 2, n } }
  for _, at in ipairs{ 7, 64, 65, 203, 256, 257 } do
    if at <= n then cuts[#cuts + 1] = { at, at } end
    if at + 9 <= n then cuts[#cuts + 1] = { at - 3, at + 9 } end
  end
  return cuts
end

--- alone.check(what, f, X): f(rows) has the same rows for every slice of X, for its rows in reverse
--- order, and with one, two and three threads.
function alone.check(what, f, X)
  local n, all = X:rows(), f(X)
  local function same(got, want, which)
    lu.assertTrue(got == want, ("%s: %s of %d rows"):format(what, which, n))
  end
  for _, cut in ipairs(alone.cuts(n)) do
    same(f(X:slice(cut[1], cut[2])), all:slice(cut[1], cut[2]), ("%d to %d"):format(cut[1], cut[2]))
  end
  local reverse = {}
  for i = 1, n do reverse[i] = n + 1 - i end
  same(f(X:select(reverse)), all:select(reverse), "reverse order")
  local threads = sc.threads()
  local ok, message = pcall(function()
    for count = 1, 3 do
      sc.threads(count)
      same(f(X), all, ("%d threads"):format(count))
    end
  end)
  sc.threads(threads)
  if not ok then error(message, 0) end
end

return alone
