--- Search for words in texts.
local search = {}

-- The score of a topic for one word: a hit in its name counts most, then in its first line, then in
-- the rest.
local function score(name, first, text, word)
  if name == word then return 30 end
  local total = 0
  if name:find(word, 1, true) then total = total + 20 end
  if first:find(word, 1, true) then total = total + 6 end
  local at = 1
  for _ = 1, 5 do
    local begins, ends = text:find(word, at, true)
    if not begins then break end
    local whole = not text:sub(begins - 1, begins - 1):find("%w")
      and not text:sub(ends + 1, ends + 1):find("%w")
    total = total + (whole and 2 or 1)
    at = ends + 1
  end
  return total
end

-- The text in lower case, its white space as single spaces.
local function on_one_line(text) return (text:lower():gsub("%s+", " "):match("^ ?(.-) ?$")) end

-- The weight of the whole phrase for each of its words; a single word has weight 1.
local PHRASE = 2

--- search.ranked(topics, words): topics: name -> text; words: a text. Returns a list of { name,
--- text, score } of the topics that contain all of the words, or the largest number of them that
--- any topic contains; the best first. Words that occur in the given order, one behind the other,
--- count more.
function search.ranked(topics, words)
  local wanted, seen, list, most = {}, {}, {}, 1
  for word in words:lower():gmatch("[%w_\x80-\xff]+") do
    if not seen[word] then wanted[#wanted + 1] = word end
    seen[word] = true
  end
  local phrase = on_one_line(words)
  for name, text in pairs(topics) do
    local low, hits, total = text:lower(), 0, 0
    local first = low:match("^[^\n]*")
    for _, word in ipairs(wanted) do
      local points = score(name:lower(), first, low, word)
      if points > 0 then hits = hits + 1 end
      total = total + points
    end
    if #wanted > 1 and hits == #wanted then
      total = total + PHRASE * #wanted * score(name:lower(), first, on_one_line(text), phrase)
    end
    most = math.max(most, hits)
    list[#list + 1] = { name = name, text = text, score = total, hits = hits }
  end
  local found = {}
  for _, one in ipairs(list) do if one.hits == most then found[#found + 1] = one end end
  table.sort(found, function(a, b)
    if a.score ~= b.score then return a.score > b.score end
    return a.name < b.name
  end)
  return found
end

return search
