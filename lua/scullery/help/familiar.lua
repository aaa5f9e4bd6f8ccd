--- Words that people bring along: those of other fields and languages, and the names of
--- scikit-learn, NumPy and pandas from the tables of docs/from_scikit_learn.md.
local familiar = {}

-- Words, the topics that they mean, and what the topic says about them where its first sentence
-- does not.
local meanings = {
  { "imputation impute imputer fillna dropna nan na null missing", "data.csv",
    says = "missing_values: what a missing number becomes (the median, an error, no row)" },
  { "sep delimiter delim comma semicolon", "data.csv",
    says = "separator: found from the first lines, or given" },
  { "dummy dummies one_hot onehot encoding encoder factor", "data.csv",
    says = "a column of text becomes one 0/1 column for each distinct text; categorical, levels" },
  { "header usecols index_col dataframe pandas read_csv", "data.csv" },
  { "svmlight sparse_matrix", "data.libsvm" },
  { "csr csr_matrix csr_array scipy", "matrix.csr" },
  { "sql query database read_sql", "data.read" },
  { "read_parquet feather h5py", "data.read" },
  { "onnx deploy firmware wasm c_header", "pipeline:export" },
  { "load_npz savez", "data.npz" }, { "mmread mtx", "data.matrix_market" },
  { "shape ndim dimensions nrow ncol", "matrix:rows", "matrix:cols", "dataset:size" },
  { "array ndarray numpy tensor", "matrix" },
  { "summary info dtypes", "dataset:describe" },
  { "train_test_split hold_out validation_set", "dataset:split" },
  { "kfold cv cross_validation crossvalidation cross_validate", "pipeline:cv",
    "dataset:folds", "pipeline:search" },
  { "hyperparameter hyperparameters tuning gridsearch grid_search random_search",
    "pipeline:search", "choose" },
  { "proba predict_proba probability confidence", "pipeline:probabilities", "pipeline:calibrate" },
  { "coef coefficients betas", "pipeline:weights", "pipeline:intercept" },
  { "n_components n_features number_of_features", "features", "pca" },
  { "random_feature_map kitchen_sinks rff", "features" },
  { "scaling scaler zscore z_score normalisation normalization", "standardize", "minmax",
    "normalize" },
  { "imbalance imbalanced unbalanced class_weight", "pipeline:threshold", "pipeline" },
  { "cutoff", "pipeline:threshold" },
  { "explain interpret shap feature_importance feature_importances", "pipeline:importance",
    "pipeline:dependence" },
  { "pdp ice partial_dependence", "pipeline:dependence" },
  { "roc precision_recall", "metrics.roc_curve", "metrics.auc", "metrics.pr_curve" },
  { "chart graph histogram picture", "plot", "figure" },
  { "pickle joblib serialize serialise export dump", "pipeline:save", "load", "pipeline:export" },
  { "parallel cores multicore n_jobs cpu", "threads" },
  { "random_state", "features", "dataset:split" },
  { "out_of_core partial_fit chunks chunksize", "data.csv", "data.rows" },
  { "notebook jupyter", "figure:show" },
}

-- word -> its row above
local known = {}
for _, one in ipairs(meanings) do
  for word in one[1]:gmatch("%S+") do known[word] = one end
end

-- A name as it is compared: in lower case, "cross-validation" and "coef_" as "cross_validation"
-- and "coef".
local function plain(name)
  return (name:lower():gsub("[%s%-]+", "_"):gsub("^[_.]+", ""):gsub("[_.(){}]+$", ""))
end

--- familiar.topics(word): what a word means: a list of { topic, what the topic says about it or
--- nil }; empty if the word is not known.
function familiar.topics(word)
  local one, list = known[plain(word)] or {}, {}
  for i = 2, #one do list[#list + 1] = { one[i], one.says } end
  return list
end

--- familiar.words(): all words that familiar.topics knows, sorted.
function familiar.words()
  local list = {}
  for word in pairs(known) do list[#list + 1] = word end
  table.sort(list)
  return list
end

-- ------------ the tables of the page

-- The cells of a table's line, or nil.
local function cells_of(line)
  if not line:find("^| ") then return nil end
  local cells = {}
  for cell in line:gmatch("|%s*([^|]-)%s*%f[|]") do cells[#cells + 1] = cell end
  return cells[2] and cells
end

-- The names in a cell's code: those of `Ridge(alpha)` are ridge and alpha.
local function names_in(cell)
  local names = {}
  for code in cell:gmatch("`([^`]+)`") do
    for name in code:gmatch("[%a_][%w_]*") do names[plain(name)] = true end
  end
  return names
end

-- Whether a word is a part of one of the names in a cell: rbf of RBFSampler, cv of GridSearchCV.
local function has_part(cell, word)
  for code in cell:gmatch("`([^`]+)`") do
    local parts = code:gsub("(%u)(%u%l)", "%1 %2"):gsub("(%l)(%u)", "%1 %2")
    for part in parts:gmatch("%w+") do
      if part:lower() == word then return true end
    end
  end
  return false
end

local rows

-- The rows of the page's tables: { theirs, ours, differences }; none where there is no page.
local function all_rows()
  if rows then return rows end
  rows = {}
  -- An installation and a build tree have the page beside the folder of Lua files.
  local share = debug.getinfo(1, "S").source:match("^@(.*/)lua/[%d.]+/scullery/help/[^/]*$")
  local file = share and io.open(share .. "scullery/from_scikit_learn.md", "r")
  if not file then return rows end
  local theirs
  for line in file:lines() do
    local cells = cells_of(line)
    if cells and cells[2] == "Scullery" then
      theirs = cells[1]
    elseif cells and theirs then
      rows[#rows + 1] = cells
    elseif not line:find("^|") then
      theirs = nil
    end
  end
  file:close()
  return rows
end

--- familiar.rows(word): the rows of docs/from_scikit_learn.md that name a word, those first that
--- have it as a whole name: a list of { theirs, ours, differences }, without Markdown.
function familiar.rows(word)
  local asked, whole, parts = plain(word), {}, {}
  for _, cells in ipairs(all_rows()) do
    local row = {}
    for i = 1, 3 do
      row[i] = (cells[i] or ""):gsub("%[([^]]*)%]%([^)]*%)", "%1"):gsub("[`*]", "")
    end
    if names_in(cells[1])[asked] then
      whole[#whole + 1] = row
    elseif has_part(cells[1], asked) then
      parts[#parts + 1] = row
    end
  end
  return whole[1] and whole or parts
end

return familiar
