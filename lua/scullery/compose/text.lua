--- sc.text: the first stage of a pipeline for texts. It makes a row of each text, with a column for
--- each term; the row stage sc.stage.tfidf or sc.normalize weighs the columns after it.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local choose = require "scullery.compose.choose"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local stages = require "scullery.compose.stages"
local warn = require "scullery.base.warn"

local text = {}

local Text = objects.class("text stage", { fields = "given", hint = function(_, field)
  return ("options of a stage are given when it is made, as in sc.text{ %s = ... }"):format(
    tostring(field))
end })

local MOST_BITS, LONGEST = 30, 16

-- The least and the most units of a term, of the option ngrams.
local function lengths(value)
  if math.type(value) == "integer" then return value, value end
  return value[1], value[2] or value[1]
end

local function are_ngrams(value)
  if math.type(value) == "integer" then return value >= 1 and value <= LONGEST end
  if type(value) ~= "table" or getmetatable(value) or #value < 1 or #value > 2 then return false end
  local low, high = lengths(value)
  return math.type(low) == "integer" and math.type(high) == "integer" and low >= 1 and low <= high
    and high <= LONGEST
end

local function is_vocabulary(value)
  if type(value) == "boolean" then return true end
  if core.is_texts(value) then return #value > 0 end
  if type(value) ~= "table" or getmetatable(value) or #value == 0 then return false end
  for _, term in ipairs(value) do if type(term) ~= "string" then return false end end
  return true
end

local rules = options.declare("text", {
  ngrams = { test = are_ngrams, default = 1, searchable = true,
    takes = ("a whole number from 1 to %d, or the least and the most, as { 1, 2 }"):format(
      LONGEST) },
  unit = { choices = { "words", "characters" }, default = "words", searchable = true },
  bits = { type = "integer", low = 1, high = MOST_BITS, searchable = true },
  weight = { choices = { "count", "binary", "tf", "tfidf" }, default = "tfidf",
    searchable = true },
  sublinear = { type = "boolean", default = false, searchable = true },
  normalize = { type = "boolean", searchable = true },
  lower = { type = "boolean", default = true, searchable = true },
  single = { type = "boolean", default = false, searchable = true },
  vocabulary = { test = is_vocabulary, default = false, takes = "true, false or a list of terms",
    searchable = true },
  max_terms = { type = "integer", low = 1, searchable = true },
  min_count = { type = "integer", low = 1, searchable = true },
})

--- text.option_names(): the names of the options.
function text.option_names()
  local names = {}
  for i, row in ipairs(options.rows "text") do names[i] = row.name end
  return names
end

-- Raises an error for options that do not go together.
local function check(given)
  local function refuse(name, why)
    if given[name] ~= nil then fail("option '%s' %s", name, why) end
  end
  if choose.is(given.vocabulary) or choose.is(given.weight) then return end
  if given.vocabulary then
    refuse("bits", "is for hashed terms, and a vocabulary has a column for each term")
  end
  if given.vocabulary ~= true then
    refuse("max_terms", "is for vocabulary = true")
    refuse("min_count", "is for vocabulary = true")
  end
  if given.sublinear and (given.weight == "count" or given.weight == "binary") then
    fail("option 'sublinear' is for weight = \"tf\" or \"tfidf\"")
  end
end

--- sc.text{ ngrams = 1, bits = 20, weight = "tfidf", ... }: the first stage of a pipeline whose
--- rows are texts (sc.data.text, or the option text of sc.data.csv): a sparse row of each text,
--- with a column for each term.
---
--- unit: "words" or "characters". A word is a run of letters, marks, digits and underscores of
--- Unicode with at least two of them; single = true: at least one. Letters become lower case, each
--- by itself; lower = false: they do not. A run of white space is one character. Bytes that are not
--- valid UTF-8 separate words, and are the character U+FFFD.
---
--- ngrams: the length of terms in units; { 1, 2 }: words and pairs of words.
---
--- bits: terms are hashed to 2^bits columns (20, if there is no vocabulary): column |h| modulo
--- 2^bits, with h = MurmurHash3 of 32 bits and seed 0, as a signed number. Numbers of terms that
--- share a column are added; there are no signs. Nothing is learnt, and these are the columns of
--- scikit-learn's HashingVectorizer with alternate_sign = False.
---
--- vocabulary = true: a column for each term of the training texts, sorted by bytes, so that
--- reports name them; a first pass learns the terms. min_count: only terms in at least so many
--- texts; max_terms: at most so many, those in most texts. A list of terms is a given vocabulary.
--- Other terms are left out.
---
--- weight: "count"; "binary": 1 for each term of the text; "tf": counts, or with sublinear = true 1
--- + ln(count); "tfidf": the same times idf = ln((1 + n)/(1 + n_j)) + 1, of n training texts, n_j
--- of them with a term of the column. normalize: rows of Euclidean norm 1 (true for "tf" and
--- "tfidf"). So "tf" and "tfidf" are what scikit-learn's TfidfTransformer makes.
---
--- Every option may be an sc.choose. A pipeline with sc.text predicts from texts:
--- p:labels{ "one text", "another" }; p:explain(text) lists the terms that decide.
function text.new(given)
  local checked = options.check("text", given, rules)
  check(checked)
  local terms = checked.vocabulary
  if core.is_texts(terms) or type(terms) == "table" and not choose.is(terms) then
    local copy = (core.is_texts(terms) and terms or core.texts(terms)):totable()
    table.sort(copy)
    checked.vocabulary = copy
  end
  return setmetatable({ given = checked }, Text)
end

--- text.is(value)
function text.is(value) return getmetatable(value) == Text end

local function shown(name, value)
  if name == "ngrams" and type(value) == "table" and not getmetatable(value) then
    return ("{ %d, %d }"):format(lengths(value))
  end
  if name == "vocabulary" and type(value) == "table" and not getmetatable(value) then
    return ("a list of %d terms"):format(#value)
  end
  return options.show(value)
end

-- Options that are not the default, as typed.
function Text:__tostring()
  local parts = {}
  for name, value in pairs(self.given) do
    if value ~= rules[name].default or name == "weight" then
      parts[#parts + 1] = name .. " = " .. shown(name, value)
    end
  end
  table.sort(parts)
  return "text{" .. table.concat(parts, ", ") .. "}"
end

--- stage:label([with_options]): its kind; with_options = true: with its options.
function Text:label(with_options) return with_options and tostring(self) or "text()" end

--- text.searched(stage): as stages.searched.
function text.searched(self) return choose.searched("text", self.given) end

--- text.resolved(stage, choices): a copy with every searched option replaced by its choice.
function text.resolved(self, choices)
  local given = {}
  for name, value in pairs(self.given) do
    given[name] = choose.pick(value, "text." .. name, choices)
  end
  return text.new(given)
end

--- text.weighting(stage): the list of row stages that weigh its columns: none, sc.normalize() or
--- sc.stage.tfidf.
function text.weighting(self)
  local o = self.given
  local learnt = o.weight == "tfidf" or o.weight == "tf"
  local normalize = o.normalize
  if normalize == nil then normalize = learnt end
  if not learnt then return normalize and { stages.normalize() } or {} end
  if o.weight == "tf" and not o.sublinear then return normalize and { stages.normalize() } or {} end
  return { stages.make("tfidf", { idf = o.weight == "tfidf", sublinear = o.sublinear,
    normalize = normalize }) }
end

--- text.encoder(stage, texts): the engine's encoder; with vocabulary = true it learns the terms of
--- the texts.
function text.encoder(self, texts)
  local o = self.given
  local least, most = lengths(o.ngrams)
  local form = { characters = o.unit == "characters", single = o.single, exact = not o.lower,
    binary = o.weight == "binary", least = least, most = most, bits = o.bits or 20,
    min_count = o.min_count, max_terms = o.max_terms }
  if not o.vocabulary then return core.text_encoder(form) end
  if o.vocabulary ~= true then
    return core.text_encoder(form, core.texts(o.vocabulary), "given")
  end
  local encoder, found = core.text_encoder(form, texts, "learn")
  local kept = core.text_columns(encoder)
  if kept == 0 then
    fail("no term of the %d texts is in the vocabulary: %s", #texts, found == 0
      and "they have no words" or ("of %d terms none is in %d texts"):format(found,
        o.min_count or 1))
  end
  return encoder
end

--- text.warn_of_empty(rows): a line on standard error if texts have no term, so that their rows are
--- empty.
function text.warn_of_empty(rows)
  local empty, first = core.empty_rows(rows)
  if empty == 0 then return end
  warn(("text: %d of %d texts have no term of the model (the first is text %d): their rows are \z
    all zeros"):format(empty, rows:rows(), first))
end

return text
