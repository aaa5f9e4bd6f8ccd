--- Text typed at the prompt as Lua: expressions and statements, `=` in front, `;` behind, and
--- locals that outlive their line.
local tokens = require "scullery.prompt.tokens"

local statements = {}

-- Applies edits to the text: a list of { position, bytes to remove, text to insert }, in order.
local function edited(text, edits)
  local parts, at = {}, 1
  for _, edit in ipairs(edits) do
    parts[#parts + 1] = text:sub(at, edit[1] - 1) .. (edit[3] or "")
    at = edit[1] + edit[2]
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts)
end

-- The position after the names of `local a, b`, and true if values follow; nil if a name has an
-- attribute.
local function names_end(code, i)
  while code[i] and code[i].kind == "name" do
    local after = code[i + 1]
    if after and after.text == "<" then return nil end
    if not after or after.text ~= "," then
      return code[i].last + 1, after ~= nil and after.text == "="
    end
    i = i + 2
  end
end

--- statements.keep_locals(text): the text with its outermost locals turned into globals, so that
--- the next statement finds them. Locals with an attribute do not change.
function statements.keep_locals(text)
  if not text:find("local", 1, true) then return text end
  local code, depth, edits = tokens.code(text), 0, {}
  for i, token in ipairs(code) do
    if depth == 0 and token.kind == "keyword" and token.text == "local" then
      local following = code[i + 1]
      local length = text:match("^local[ \t]*()", token.first) - token.first
      if following and following.text == "function" then
        edits[#edits + 1] = { token.first, length }
      else
        local place, has_values = names_end(code, i + 1)
        if place then edits[#edits + 1] = { token.first, length } end
        if place and not has_values then edits[#edits + 1] = { place, 0, " = nil" } end
      end
    end
    depth = tokens.depth_after(token, depth)
  end
  return edited(text, edits)
end

-- Not only "return": a tail call would leave no trace of the line in errors.
local GIVING = "return 0, "

-- The function of a chunk that begins with GIVING.
local function without_first(chunk)
  local function rest(_, ...) return ... end
  return chunk and function(...) return rest(chunk(...)) end
end

-- The text with GIVING before its last statement, where that is an expression on lines of its own
-- or behind a semicolon; nil otherwise. A line that begins with a bracket or a quote may go on with
-- the line before.
local MOST_TRIED = 100
local function with_last_returned(text, compile)
  local starts, depth, line_end = {}, 0, 0
  for _, token in ipairs(tokens.code(text)) do
    local begins = depth == 0 and text:sub(math.max(1, line_end - 1), token.first):find "[;\n]"
    if begins and (token.kind == "name" or token.kind == "number"
      or token.text == "not" or token.text == "#") then
      starts[#starts + 1] = token.first
    end
    depth = tokens.depth_after(token, depth)
    line_end = token.last + 1
  end
  for i = #starts, math.max(1, #starts - MOST_TRIED), -1 do
    local chunk = compile(edited(text, { { starts[i], 0, GIVING } }))
    if chunk then return without_first(chunk), starts[i] end
  end
end

-- A string in quotes goes on over a newline only behind a backslash or \z.
local function is_unfinished(message, text)
  if not message:find("<eof>$") then return false end
  return not message:find("unfinished string near", 1, true) or text:find("\\$") ~= nil
    or text:find("\\z%s*$") ~= nil
end

-- The text without `=` in front and `;` behind; second: true if there was a `;`.
local function stripped(text)
  local rest = text:match("^%s*=()")
  if rest and text:sub(rest, rest) ~= "=" then text = edited(text, { { rest - 1, 1, " " } }) end
  local code, silent = tokens.code(text), false
  local last = code[#code]
  while last and last.kind == "symbol" and last.text == ";" do
    text, silent = edited(text, { { last.first, 1, " " } }), true
    code[#code] = nil
    last = code[#code]
  end
  return text, silent
end

-- A statement for a script that neither ends the script nor leaves locals or labels behind.
local function as_statement(text)
  local code, depth, apart = tokens.code(text), 0, false
  for _, token in ipairs(code) do
    if depth == 0 and token.text == "return" then
      return ("_ = (function(...)\n%s\nend)(...)"):format(text)
    end
    apart = apart or depth == 0 and (token.text == "local" or token.text == "::")
    depth = tokens.depth_after(token, depth)
  end
  return apart and ("do\n%s\nend"):format(text) or text
end

-- "_ = " before an expression that had a value. An expression without a value that is not a call is
-- assigned too, because Lua requires it.
local function assigned(before, expression, has_value)
  if has_value then return before .. "_ = " .. expression end
  return before .. (load(expression) and "" or "local _ = ") .. expression
end

--- statements.has_open_block(text): whether a block of it has no end yet, by Lua's compiler alone:
--- for long statements, of which each line is asked about. False for what is no plain Lua.
function statements.has_open_block(text)
  local chunk, message = load(text, "=prompt", "t")
  return not chunk and message:find("'end' expected.* near <eof>$") ~= nil
end

--- statements.read(text, environment[, name]): { chunk, message, unfinished, silent, script }: the
--- function to run, or the message of an error; unfinished: true if more text may complete it;
--- silent: true if its values are not to be shown; script(has_value): the text as a statement of a
--- script, which sets _ if there was a value. name: of the text in errors, as load takes it
--- ("=prompt").
function statements.read(text, environment, name)
  local function compile(code) return load(code, name or "=prompt", "t", environment) end
  local body, silent = stripped(text)
  local function nothing() end
  if #tokens.code(body) == 0 and load(body) then
    return { chunk = nothing, script = function() return body end }
  end
  local chunk, expression_message = compile(GIVING .. body)
  if chunk then
    return { chunk = without_first(chunk), silent = silent, script = function(has_value)
      return assigned("", body:match("^%s*(.-)%s*$"), has_value)
    end }
  end
  local kept = statements.keep_locals(body)
  local last, place = with_last_returned(kept, compile)
  if last then
    return { chunk = last, silent = silent, script = function(has_value)
      return as_statement(assigned(kept:sub(1, place - 1), kept:sub(place), has_value))
    end }
  end
  local message
  chunk, message = compile(kept)
  if chunk then
    return { chunk = chunk, silent = silent, script = function() return as_statement(kept) end }
  end
  return { message = message,
    unfinished = is_unfinished(expression_message, body) or is_unfinished(message, body) }
end

return statements
