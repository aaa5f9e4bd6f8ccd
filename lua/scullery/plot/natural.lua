--- The natural order of names: numbers within texts count as numbers, so that "c2" is before "c10".
local natural = {}

-- The pieces of a text: runs of digits as numbers, and the texts between them. A text that is a
-- number as a whole, such as "-1.5", is one piece.
local function pieces_of(name)
  local list = {}
  local number = tonumber(name)
  if number and number == number then return { number } end
  for between, digits in name:gmatch "(%D*)(%d*)" do
    if between ~= "" then list[#list + 1] = between end
    if digits ~= "" then list[#list + 1] = tonumber(digits) + 0.0 end
  end
  return list
end

--- natural.less(a, b): true if the text a is before the text b; numbers are before other texts.
function natural.less(a, b)
  local x, y = pieces_of(a), pieces_of(b)
  for i = 1, math.min(#x, #y) do
    if type(x[i]) ~= type(y[i]) then return type(x[i]) == "number" end
    if x[i] ~= y[i] then return x[i] < y[i] end
  end
  if #x ~= #y then return #x < #y end
  return a < b
end

return natural
