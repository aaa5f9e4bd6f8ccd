--- What the process behind a Jupyter kernel answers. A request is one line: a number, a space, and
--- JSON; an answer one or several of JSON, with that number as id. core/host/notebook.c reads and
--- sends the lines; scripts/jupyter/child.py is the other end.
---
---   { ask = "run", code, cell }     display ..., then done with ok, and data or message; cell: the
---                                   number of the cell
---   { ask = "complete", text }      text before the cursor: done with start (a byte), matches
---   { ask = "inspect", text, at }   the byte of the cursor: done with data where there is help
---   { ask = "status", code }        done with status: whole, unfinished or invalid
local core = require "scullery.core"
local inspection = require "scullery.notebook.inspection"
local options = require "scullery.base.options"
local rich = require "scullery.notebook.rich"

local server = {}

local asks = {}

function asks.run(given, state)
  state.session.chunk = given.cell and ("=cell %d"):format(given.cell) or nil
  local ok, values = state.session:run(given.code)
  if not ok then return { ok = false, message = rich.message(values) } end
  if state.session.ended then
    state.session.ended = false
    print("A notebook ends by Jupyter's menu: Kernel, Shut Down.")
  end
  return { ok = true, data = values.n > 0 and rich.result(values) or nil }
end

function asks.complete(given)
  local start, matches = require("scullery.prompt.completion").at(given.text)
  return { ok = true, start = start, matches = matches }
end

function asks.inspect(given)
  local text = inspection.text(given.text, given.at)
  return { ok = true, data = text and { ["text/plain"] = rich.utf8(text) } or nil }
end

function asks.status(given, state)
  return { ok = true, status = state.session:status(given.code) }
end

--- server.start(send): returns answer(line) and failed(message); send(line) writes an answer.
--- failed is to be called if answer raised an error.
function server.start(send)
  local state = { session = require("scullery.prompt.session").new{ environment = _G } }
  local current
  require("scullery.help").columns = rich.WIDTH

  local function reply(answer)
    answer.id, answer.event = current, answer.event or "done"
    send(core.json_encode(answer))
  end

  rich.on_show(function(figure) reply{ event = "display", data = rich.figure(figure) } end)

  local function answer(line)
    current = math.tointeger(line:match("^%d+"))
    local given = core.json_decode(line:match(" (.*)"), "the cell")
    reply(asks[given.ask](given, state))
  end

  local function failed(message)
    local text = options.plain(rich.message(message))
    if options.is_interrupt(text) then text = "interrupted!" end
    reply{ ok = false, message = text }
  end

  return answer, failed
end

return server
