--- `scullery predict` on models and files in a folder of their own.
local lu = require "luaunit"
local sc = require "scullery"
local support = require "support"

local command = {}

local quote = support.quote
local folder

--- command.path([name]): the path of a file in the folder; of the folder itself.
function command.path(name) return name and folder .. "/" .. name or folder end
function command.write(name, text) return support.write(command.path(name), text) end
function command.exists(name)
  local file = io.open(command.path(name), "rb")
  if file then file:close() end
  return file ~= nil
end

function command.files()
  local list = {}
  for name in io.popen("ls -A " .. quote(folder)):lines() do list[#list + 1] = name end
  return table.concat(list, " ")
end

-- scullery predict MODEL DATA OPTIONS on files of the folder; exit status, output, errors.
function command.predict(model, data, options, input)
  if data ~= "-" then data = command.path(data) end
  return support.scullery(("predict %s %s %s"):format(quote(command.path(model)), quote(data),
    options or ""), input)
end

-- What goes well is said on the standard output alone.
function command.predicted(model, data, options, input)
  local status, out, err = command.predict(model, data, options, input)
  lu.assertEquals({ status, err }, { 0, "" })
  return out
end

function command.lines_of(text)
  local list = {}
  for line in text:gmatch("[^\n]*\n") do list[#list + 1] = line:sub(1, -2) end
  return list
end

-- ------------ models and files, made once

local colours = { red = { 0, 0 }, green = { 4, 0 }, blue = { 0, 4 } }
local order = { "red", "green", "blue" }
local noise = sc.rand{ 300, 2, seed = 1 }

local function train_text()
  local list = { "u,v,shape,name,colour" }
  for i = 1, 300 do
    local at = colours[order[i % 3 + 1]]
    list[#list + 1] = ("%.4f,%.4f,%s,n%d,%s"):format(at[1] + noise:get(i, 1),
      at[2] + noise:get(i, 2), i % 2 == 0 and "round" or "square", i, order[i % 3 + 1])
  end
  return table.concat(list, "\n") .. "\n"
end

function command.features(T)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, phi = sc.nonlinearity.fourier(),
    T = T or 50, seed = 1 }
end

function command.save(name, p)
  p:save(command.path(name))
  return p
end

local function make_models()
  local train = sc.data.csv(command.write("train.csv", train_text()),
    { target = "colour", skip = "name", quiet = true })
  command.by_colour = command.save("colour.model", sc.pipeline{ sc.standardize(),
    command.features(), sc.solver.ridge{ lambda = 1e-4 } }:fit(train))
  command.logistic = command.save("logistic.model", sc.pipeline{ sc.standardize(),
    sc.solver.logistic{ lambda = 1e-3 } }:fit(train))
  local X = sc.randn{ 200, 3, seed = 2 }
  local y = X:column(1) * 2 + 5
  command.by_number = command.save("values.model", sc.pipeline{ command.features(),
    sc.solver.ridge{ lambda = 1e-6 } }:fit(X, sc.hcat(y, y * -1)))
  command.plane = command.save("labels.model", sc.pipeline{ command.features(),
    sc.solver.ridge{ lambda = 1e-3 } }:fit(X,
    X:column(2):map(function(v) return v > 0 and 7 or -1 end), { task = "classification" }))
end

command.new_text = "shape,note,v,colour,u,name\nround,x,0.5,?,4.5,\"a,b\"\nsquare,y,4.5,?,0.5,b\n"
command.plain_text = "u,v,shape\n4.5,0.5,round\n0.5,4.5,square\n"

-- Tests of one class share the folder, whose files none alters.
function command.set_up()
  folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. quote(folder)))
  make_models()
  command.write("new.csv", command.new_text)
  command.write("plain.csv", command.plain_text)
end

function command.tear_down() os.execute("rm -r " .. quote(folder)) end

return command
