--- Data sets and matrices from files of numbers: LIBSVM, IDX, NPY, NPZ and Matrix Market.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local files = require "scullery.data.files"
local options = require "scullery.base.options"
local schema = require "scullery.data.schema"
local targets = require "scullery.data.targets"
local warn = require "scullery.base.warn"

local numbers = {}

local libsvm_rules = options.declare("data.libsvm", { features = { type = "integer", low = 1 },
  base = { type = "integer", low = 0, high = 1 }, sparse = { type = "boolean" },
  stream = { type = "boolean" }, task = files.task, dtype = files.dtype, like = { type = "any" },
  unpacked = files.unpacked })

local MUCH = 1e9 -- bytes of rows that a line on standard error reports before they are read

-- Reports what reading the files will take, if it is much.
local function tell_size(path, o)
  for _, one in ipairs(files.all_paths(path)) do
    local rows, entries = core.libsvm_size(one, o)
    local bytes = rows and 16 * rows + entries * (o.dtype == "float32" and 8 or 12)
    if bytes and bytes > MUCH then
      warn(("data.libsvm: %s holds about %.3g numbers in %.3g rows: %.3g GB of memory"):format(one,
        entries, rows, bytes / 1e9))
    end
  end
end

local function read_libsvm(path, given)
  files.check_paths(path)
  local o = options.check("data.libsvm", given, libsvm_rules, 0)
  if o.like ~= nil then
    local like = schema.like(o.like)
    o.features, o.like, o.base = like.cols, nil, o.base or like.base
  end
  local result, source
  if o.stream then
    source, result = core.stream_libsvm(path, o)
  else
    tell_size(path, o)
    result = core.read_libsvm(path, o)
  end
  if not o.task and result.task == "classification" then
    schema.tell(path, { ("a classification of %d classes, as the labels are whole numbers (task = \z
      \"regression\" takes them as values)"):format(#result.classes) })
  end
  local ds = files.plain("libsvm", result, source, source and files.all_paths(path))
  if o.base == 0 then ds.schema.base = 0 end
  return ds
end

--- sc.data.libsvm(path[, { features =, base = 1, sparse =, stream =, task =, dtype =, like =,
--- unpacked = }]): a data set from text in LIBSVM's format: label index:value ... path: a file or a
--- list of files, plain or gzip. features: the number of columns; by default the largest index.
--- base = 0: indices count from 0. sparse: whether X holds the numbers that are not 0 alone
--- (sc.matrix.csr); by default it does if less than 10 % are not 0. stream = true: the rows are
--- read from disk in each pass. like: a data set or a fitted pipeline with the wanted columns.
--- unpacked: the largest unpacked size of a gzip file in bytes.
function numbers.libsvm(path, given)
  return options.guard("data.libsvm", 1, read_libsvm, path, given)
end

local idx_rules = options.declare("data.idx", { scale = { type = "number" }, dtype = files.dtype,
  stream = { type = "boolean" }, unpacked = files.unpacked })

local function read_idx(images, labels, given)
  files.check_paths(images)
  if type(labels) == "table" and #labels == 0 and given == nil then labels, given = nil, labels end
  if labels ~= nil then files.check_paths(labels) end
  local o = options.check("data.idx", given, idx_rules, 0)
  if not o.stream then return files.plain("idx", core.read_idx(images, labels, o)) end
  local source, result = core.stream_idx(images, labels, o)
  return files.plain("idx", result, source, files.all_paths(images, labels))
end

--- sc.data.idx(images[, labels][, { scale =, dtype =, stream =, unpacked = }]): a data set from
--- files in the IDX format of MNIST; without labels, one without y. images, labels: a file or a
--- list of files. scale: a factor for the numbers. stream = true: the images are read from disk in
--- each pass, in file order, plain or gzip; the labels are kept in memory. unpacked: the largest
--- unpacked size of a gzip file in bytes.
function numbers.idx(images, labels, given)
  return options.guard("data.idx", 1, read_idx, images, labels, given)
end

-- A data set whose rows are read from disk in each pass. The targets are read once here, if the
-- task or the classes are not given.
local function stream_npy(path, o)
  local kind, classes = o.task or o.classes and "classification", o.classes
  if o.y and (not kind or kind == "classification" and not classes) then -- y is small: one column
    local _, found, read_as = targets.read(core.read_npy(o.y, o.unpacked, true), nil,
      kind)
    kind, classes = read_as, found
  end
  if kind == "classification" and not classes then
    error("a streaming classification needs option 'y' or 'classes'", 0)
  end
  kind = kind or "regression"
  classes = kind == "classification" and targets.check_classes(classes) or nil
  return dataset.from_table({ task = kind, classes = classes }, core.stream_npy(path, o.y),
    nil, files.all_paths(path, o.y))
end

local npy_rules = options.declare("data.npy", { y = { type = "string", takes = "a path" },
  task = files.task, classes = { type = "table" }, stream = { type = "boolean" },
  unpacked = files.unpacked })

local function read_npy(path, given)
  files.check_path(path)
  local o = options.check("data.npy", given, npy_rules, 0)
  if o.stream then return stream_npy(path, o) end
  if o.y then
    return dataset.new{ X = core.read_npy(path, o.unpacked, true),
      y = core.read_npy(o.y, o.unpacked, true), task = o.task, classes = o.classes }
  end
  if o.task or o.classes then
    error("options 'task' and 'classes' are about labels: option 'y' names their file", 0)
  end
  return core.read_npy(path, o.unpacked, true)
end

--- sc.data.npy(path[, { y = path, task =, classes =, stream =, unpacked = }]): a matrix from a
--- NumPy file, or with y a data set. stream = true: a data set whose rows are read from disk in
--- each pass; a classification then needs its classes. unpacked: the largest unpacked size of a
--- gzip file in bytes. X:save("f.npy") writes such a file.
function numbers.npy(path, given) return options.guard("data.npy", 1, read_npy, path, given) end

local matrix_market_rules = options.declare("data.matrix_market", {
  y = { type = "string", takes = "the path of a Matrix Market or .npy file" }, task = files.task,
  classes = { type = "table" }, sparse = { type = "boolean" }, dtype = files.dtype,
  unpacked = files.unpacked })

local function read_matrix_market(path, given)
  files.check_path(path)
  local o = options.check("data.matrix_market", given, matrix_market_rules, 0)
  local about = { sparse = o.sparse, dtype = o.dtype, unpacked = o.unpacked }
  local X = core.read_matrix_market(path, about)
  if not o.y and (o.task or o.classes) then
    error("options 'task' and 'classes' are about labels: option 'y' names their file", 0)
  end
  if not o.y then return X end
  local y = o.y:find("%.npy$") and core.read_npy(o.y)
    or core.read_matrix_market(o.y, { sparse = false, unpacked = o.unpacked })
  return dataset.new{ X = X, y = y, task = o.task, classes = o.classes }
end

--- sc.data.matrix_market(path[, { y = path, task =, classes =, sparse =, dtype =, unpacked = }]): a
--- matrix from a Matrix Market file (.mtx), plain or gzip: coordinate or array; real, integer or
--- pattern, whose numbers are 1; general, symmetric or skew-symmetric. With y, such a file or a
--- .npy file of labels or values, a data set. sparse: whether the matrix holds the numbers that are
--- not 0 alone (sc.matrix.csr); by default it does if less than 10 % are not 0. unpacked: the
--- largest unpacked size of a gzip file in bytes.
function numbers.matrix_market(path, given)
  return options.guard("data.matrix_market", 1, read_matrix_market, path, given)
end

local npz_rules = options.declare("data.npz", { X = { type = "string", takes = "an array's name" },
  y = { type = "string", takes = "an array's name, or the path of a .npy file" }, task = files.task,
  classes = { type = "table" }, dtype = files.dtype })

-- The array of that name.
local function npz_array(path, names, name)
  for _, known in ipairs(names) do
    if known == name then return core.read_npz(path, name) end
  end
  local near = options.nearest(name, names)
  error(("%s has no array '%s'%s; it has %s"):format(path, name,
    near and (" (did you mean '%s'?)"):format(near) or "", table.concat(names, ", ")), 0)
end

-- The labels or values that option y names, or those of the array y; nil if there are none.
local function npz_targets(path, names, wanted)
  if wanted and wanted:find("%.npy$") then return core.read_npy(wanted) end
  if wanted then return npz_array(path, names, wanted) end
  for _, name in ipairs(names) do
    if name == "y" then return core.read_npz(path, name) end
  end
end

local function read_npz(path, given)
  files.check_path(path)
  local o = options.check("data.npz", given, npz_rules, 0)
  local names, sparse = core.npz_names(path)
  local whole = { X = o.X }
  for _, name in ipairs(names) do whole[name] = true end
  if not o.X and not sparse and not whole.X then
    if next(o) then
      error(("option 'X' names the array of rows; %s has %s"):format(path,
        table.concat(names, ", ")), 0)
    end
    for _, name in ipairs(names) do whole[name] = core.read_npz(path, name) end
    return whole
  end
  local X = not o.X and sparse and core.read_npz(path) or npz_array(path, names, o.X or "X")
  if not core.is_rows(X) then
    error(("%s: array '%s' holds texts, and X numbers"):format(path, o.X or "X"), 0)
  end
  if o.dtype and X:dtype() ~= o.dtype then X = X:astype(o.dtype) end
  local y = npz_targets(path, names, o.y)
  if not y and (o.task or o.classes) then
    error("options 'task' and 'classes' are about labels: option 'y' names their array", 0)
  end
  return y and dataset.new{ X = X, y = y, task = o.task, classes = o.classes } or X
end

--- sc.data.npz(path[, { X =, y =, task =, classes =, dtype = }]): what a file of NumPy's arrays
--- holds. X: the name of the array of rows; by default the sparse matrix that scipy.sparse.save_npz
--- wrote (csr, csc or coo), or the array called X. y: the name of the array of labels or values,
--- numbers or texts, or the path of a .npy file; by default the array called y. With y a data set,
--- else the matrix; without an X a table of all arrays by name. X:save("f.npz") and
--- ds:save("f.npz") write such files.
function numbers.npz(path, given) return options.guard("data.npz", 1, read_npz, path, given) end

return numbers
