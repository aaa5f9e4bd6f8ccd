--- Texts in pictures: one line of valid UTF-8 without control characters, of a length that fits.
local core = require "scullery.core"
local text = require "scullery.base.text"

local texts = {}

local MOST = 200        -- columns of any text, each as wide as a Latin letter
local MOST_BYTES = 4000 -- bytes of any text: a letter may have any number of accents

--- texts.clean(s): s as one clean line of at most 200 columns.
function texts.clean(s)
  if #s <= MOST and not s:find("[^ -~]") then return s end
  return text.shorten(s:sub(1, MOST_BYTES), MOST)
end

--- texts.short(s, most): a clean s in at most `most` columns (6 or more); a longer one is cut in
--- its middle, because similar texts often differ at their ends.
function texts.short(s, most)
  local columns = text.width(s)
  if columns <= most then return s end
  local pieces, widths = core.text_pieces(s)
  local from, left = #pieces, most // 3
  while from > 1 and widths[from] <= left do
    from, left = from - 1, left - widths[from]
  end
  return text.shorten(s, most - most // 3) .. table.concat(pieces, "", from + 1)
end

--- texts.of(value): a text, number or boolean as clean text, numbers to six digits; nil for other
--- values.
function texts.of(value)
  local kind = type(value)
  if kind == "string" then return texts.clean(value) end
  if kind == "number" then return ("%.6g"):format(value) end
  if kind == "boolean" then return tostring(value) end
end

return texts
