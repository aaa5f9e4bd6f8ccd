--- Texts and numbers as gnuplot reads them.
local quoting = {}

--- quoting.text(text): the text as a string constant of gnuplot. Every byte except letters, spaces
--- and those of UTF-8 is written as an octal number. Digits are too, because gnuplot would read a
--- digit as part of the octal number before it.
function quoting.text(text)
  return '"' .. text:gsub("[^%a \x80-\xff]", function(byte)
    return ("\\%03o"):format(byte:byte())
  end) .. '"'
end

--- quoting.number(value): a number as text; "NaN", which gnuplot draws as a gap, for NaN.
function quoting.number(value)
  return value ~= value and "NaN" or ("%.15g"):format(value)
end

return quoting
