--- Texts and numbers as gnuplot reads them.
local quoting = {}

--- quoting.text(text): a constant of gnuplot that stands for this text and nothing else. Digits are
--- octal numbers too, as gnuplot would read them as part of the number before.
function quoting.text(text)
  return '"' .. text:gsub("[^%a \x80-\xff]", function(byte)
    return ("\\%03o"):format(byte:byte())
  end) .. '"'
end

--- quoting.number(value): a number, NaN as a gap.
function quoting.number(value)
  return value ~= value and "NaN" or ("%.15g"):format(value)
end

return quoting
