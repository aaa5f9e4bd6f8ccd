--- Columns of matrices in another order.
local columns = {}

--- columns.reversed(M): a copy whose first column is the last of M.
function columns.reversed(M)
  local made = M:copy()
  for i = 1, M:rows() do
    for j = 1, M:cols() do made:set(i, j, M:get(i, M:cols() + 1 - j)) end
  end
  return made
end

return columns
