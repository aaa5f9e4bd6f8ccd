--- The methods of pipelines (recipe.lua has the class); pictures/init.lua and report/init.lua add
--- p:plot and p:report.
local checkpoint = require "scullery.model.checkpoint"
local conformal = require "scullery.model.conformal"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local fingerprint = require "scullery.data.fingerprint"
local fitting = require "scullery.model.fitting"
local growing = require "scullery.model.growing"
local matching = require "scullery.data.matching"
local metrics = require "scullery.metrics"
local multilabel = require "scullery.model.multilabel"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local posterior = require "scullery.model.posterior"
local progress = require "scullery.base.progress"
local recipe = require "scullery.model.recipe"
local scoring = require "scullery.model.scoring"
local shown = require "scullery.model.pipeline_shown"
local target_form = require "scullery.model.target_form"

local Pipeline = recipe.class
local guarded = objects.call

-- ------------ fitting

-- The options of fit that are not about the data.
local own = options.declare("pipeline:fit", { progress = progress.rule,
  interval = conformal.fit_rule,
  sums = { type = "boolean" }, tiles = { type = "boolean" },
  fingerprints = { type = "boolean", default = true },
  budget = growing.rule,
  checkpoint = checkpoint.rules.checkpoint, every = checkpoint.rules.every,
  restart = checkpoint.rules.restart })

-- True if a table has one of the options above.
local function has_own(given)
  for name in pairs(own) do if given[name] ~= nil then return true end end
  return false
end

-- (data, y, given) -> y, given, own: separates the options above from the arguments of fit. With a
-- data set the options are the second argument.
local function split_options(data, y, given)
  local alone = given == nil and options.are_options(y) and (dataset.is(data) or has_own(y))
  if alone then y, given = nil, y end
  local rest, found = {}, {}
  for name, value in pairs(type(given) == "table" and given or {}) do
    if own[name] == nil then rest[name] = value else found[name] = value end
  end
  if alone and next(rest) ~= nil then
    error(("pipeline:fit: unknown option '%s' with a data set; it takes progress, interval, \z
      sums, fingerprints, tiles, budget, checkpoint, every and restart"):format(
      tostring(next(rest))), 3)
  end
  checkpoint.check("pipeline:fit", found)
  found = options.check("pipeline:fit", found, own, 3)
  if type(given) ~= "table" then return y, given, found end
  return y, next(rest) and rest or nil, found
end

--- p:fit(ds) or p:fit(X, y[, { task =, classes = }]): learns from rows. Returns the pipeline. A
--- pipeline without a solver takes p:fit(X). A number that is NaN or infinite is an error that
--- names its row and column.
---
--- What is not given is chosen from the rows: a width of the features (without a K: of the sampler,
--- or of a kernel as phi) among 1/16 to 4 times the "median" rule, and the solver's
--- regularisation (lambda; C of svm and box, its inverse), by the loss on held-out rows of a sample
--- of at most 4000 distinct rows. With more rows, a solver that takes many lambdas at once chooses
--- lambda again on all of them. Of values whose losses do not differ by more than a standard error
--- the one of the simplest model is taken. The loss is squared in a regression; in a classification
--- the solver's own, or the share of wrong labels where scores are votes. The option may also be
--- given as "auto". p:info().chosen describes the choice; p.fitted has the values.
---
--- T = "auto" in the features: p:fit compares T = 50, 100, 200 and 400 parameters, and doubles T as
--- long as the loss on held-out rows falls by more than a standard error, or by more than 1 %. It
--- takes the least T whose loss is within both of the least loss. The regularisation, if it is not
--- given, is chosen for each T. The growth also ends at the number of rows, at T = 6400, or with
--- budget = { seconds =, bytes = }, among the options, before a step that would exceed these by
--- what the last steps took; T can then be more than 6400. p:info().growth has the losses, and says
--- what ended it.
---
--- progress = f, among the options: f is called during the work with a table of stage, done, total,
--- loss, iteration, rows, seconds, rate, left and levels. stage: "learning" (a pass: done of total
--- rows), or "solving", "descending" and the like (a solver: done is a share, total 1; iteration
--- counts its reports; loss is the solver's own, if it has one). rows: rows finished in this stage.
--- seconds: since the stage began. rate: rows per second. left: estimated seconds left. levels: the
--- loops around the stage, the outermost first, each { name =, done =, total = }. If f returns
--- false, the fit stops with an error, as by Ctrl-C, and the pipeline does not change.
---
--- sums = true, among the options: the model keeps its sums over the rows, for p:update, p:forget
--- and p:save(path, { sums = true }), and is solved from these alone (by solvers that need nothing
--- else: ridge, lasso, box). A fingerprint of 8 bytes is stored for each row, so that p:update can
--- refuse rows that are in the model already, and p:forget rows that are not; fingerprints = false
--- stores none. Of float features the rows of a block that is not full, fewer than 2048, are kept
--- too, also in files: p:update continues that block. p:info().exact says whether these sums are
--- the same for any order and cut of the rows.
---
--- tiles = true, among the options, in several processes: each stores its share of the D x D
--- matrix of the normal equations (rows of tiles), makes the features of all rows for it, and takes
--- part in the factorisation. So D is limited by the memory of all processes together; the bits are
--- those of one process. For ridge with the penalty l2 and a given lambda. By default a fit does so
--- where the matrices would not fit into the memory of one process, and says so; false: never.
---
--- interval = "loo", "folds" or "split", among the options: the model also keeps what p:interval
--- and p:label_sets need; see p:interval. With "split" it learns from three quarters of the rows. A
--- list adds options, { "split", by = "region", scale = "std" }.
---
--- checkpoint = path, among the options: what the fit has done is stored in files (path, path.sums,
--- path.passes, path.state) while it runs, sums over the rows every 60 seconds or `every`. If the
--- process ends, the same call goes on from there, and the model has the same bits. The files stay
--- after the fit: remove them once the model is saved. Files of another pipeline, other data or
--- another version are refused, unless restart = true, which begins anew and replaces them.
function Pipeline:fit(data, y, given)
  local o
  y, given, o = split_options(data, y, given)
  local ds
  if not self.solver and y == nil then -- a pipeline that needs no targets
    ds = dataset.is(data) and data or dataset.are_rows(data) and dataset.new{ X = data }
  end
  ds = ds or guarded("pipeline:fit", dataset.coerce, data, y, given)
  if recipe.instead_of_fit then
    return guarded("pipeline:fit", recipe.instead_of_fit, self, ds)
  end
  self.drift = nil
  local function run(rows)
    if not o.sums then return fitting.run(self, rows, o) end
    return progress.watched("pipeline:fit", o.progress, require("scullery.model.sums").fit, self,
      rows, o)
  end
  if not o.interval then return guarded("pipeline:fit", run, ds) end
  return guarded("pipeline:fit", conformal.fit, self, ds, o.interval, run)
end

--- p:plan(ds) or p:plan(X, y): what p:fit(ds) will take, before it starts; of a pipeline with
--- sc.choose what p:search will: p:plan(ds, { folds = 5 }), with the options of p:search. An object
--- with .bytes (the most resident memory that the process will have, with what it holds now), .more
--- (what the work adds), .flops (floating-point operations), .seconds (on this machine), .left
--- (bytes that the process can still get), .rows and .features. It prints as a table of what takes
--- memory, operations and time, and entries 1, 2, ... are its rows: { what =, bytes =, flops =,
--- seconds = }.
---
--- With T = "auto" it is the plan of the largest number of parameters that the fit may try, which
--- is .T; .note tells what growth that ends early takes. p:plan(ds, { budget = }): as of p:fit.
---
--- Sizes are those of the engine's arrays. Seconds are in proportion to the time of the first 2048
--- rows with up to 1024 parameters, and to rates of the machine; a plan measures both. Where a
--- number of iterations is not known, a typical number is taken, and .note tells it.
---
--- p:fit and p:search refuse work whose plan needs more memory than is left, with an error that has
--- the numbers.
function Pipeline:plan(data, y, given)
  return guarded("pipeline:plan", require("scullery.model.plan_search").run, self, data, y, given)
end

-- ------------ using

local need = recipe.fitted

-- The fitted model; raises an error unless it has weights of features.
local function need_weights(self, title)
  local f = need(self, title, true)
  if f.learnt then
    error(("%s: solver.%s is not linear in the features: it has no weights"):format(title,
      self.solver.name), 3)
  end
  return f
end

-- Predictions of one kind (see model:predict) for X; given: { progress = f } or nil.
local function predict(title, f, X, given, what)
  local _ <close> = core.level "predict"
  return progress.of(title, given, f.predict, f, matching.source(X, f), what)
end

local label_rules = options.declare("pipeline:predict",
  { threshold = { type = "any" }, progress = progress.rule })
options.declare("pipeline:labels", label_rules)

-- Labels, or values of a regression; given: { threshold =, progress = } or nil.
local function predict_labels(title, f, X, given)
  local o = options.check(title, given, label_rules, 0)
  local at, watching = o.threshold, o.progress and { progress = o.progress }
  local said
  if at == nil then
    said = predict(title, f, X, watching, "labels")
  else
    local threshold = require "scullery.model.threshold"
    guarded(title, threshold.check, f, at)
    said = threshold.apply(f, predict(title, f, X, watching, "scores"), at)
  end
  if f.classes then dataset.labels_of[said] = { task = f.task, classes = f.classes } end
  return said
end

--- p:decision(X[, { progress = f }]): the scores of rows, n x c; one column for two classes and for
--- one target. For a pipeline with target = "log" or the like, they are not transformed back. std,
--- noise, residual: as in p:predict, for the scores of regressions and classifications by ridge.
function Pipeline:decision(X, given)
  local f = need(self, "pipeline:decision", true)
  if posterior.splits(given) then
    return predict("pipeline:decision", f, X, nil, "scores"),
      guarded("pipeline:decision", posterior.deviations, self, X, given, "pipeline:decision", true)
  end
  return predict("pipeline:decision", f, X, given, "scores")
end

--- p:predict(X[, { threshold =, progress = f }]): predictions. Classification: n x 1 labels, as
--- numbers; if the labels are texts, their positions in p.classes. Regression: n x c values.
--- Multi-label targets: n x c of 0 and 1, a column for each of p.classes. X: a
--- matrix, or a data set. If both the data set and the training data have names, columns are
--- matched by name and reordered: a missing column is an error, others are left out with a line on
--- standard error. Columns of a matrix are matched by position.
---
--- threshold, for two classes: the second class is predicted where its probability is at least
--- this, in place of the sign of the score. The model needs probabilities: see p:probabilities.
---
--- std = true, for ridge regressions: the second result is the standard deviation of the function
--- at each row, n x c, by Bayesian linear regression on the features; std = "row" adds the noise of
--- a row. noise, the variance of the noise: "evidence" (by default: that which makes the targets
--- most probable), "gcv" (squared residuals over n less the effective parameters), "prior" (n
--- lambda: the weights have the prior variance 1, as in a Gaussian process with the features'
--- kernel), a data set of rows that the model did not learn from (the mean of their squared
--- residuals over 1 + v, v the variance of the function over that of the noise) or a number. Of
--- landmark maps the part of the kernel that the features do not have is added, unless residual =
--- false. The first call makes what it needs from the training rows or the
--- model's sums: a matrix of the order of the features, or of the rows where these are fewer.
function Pipeline:predict(X, given)
  local f = need(self, "pipeline:predict", true)
  if posterior.splits(given) then
    return predict("pipeline:predict", f, X, nil, "labels"),
      guarded("pipeline:predict", posterior.deviations, self, X, given, "pipeline:predict")
  end
  return predict_labels("pipeline:predict", f, X, given)
end

--- p:labels(X[, { threshold =, progress = f }]): the predicted labels as a list of texts or
--- numbers; of multi-label targets a list of such lists. threshold: as in p:predict.
function Pipeline:labels(X, given)
  local f = need(self, "pipeline:labels", true)
  if f.task == "multilabel" then
    return dataset.new{ X = core.zeros(core.source_size(matching.source(X, f)), 1),
      y = predict_labels("pipeline:labels", f, X, given), task = f.task,
      classes = f.classes }:labels()
  end
  if f.task ~= "classification" then
    error("this model is a regression, which has no labels: p:predict(X) gives its values", 0)
  end
  return dataset.texts_of(predict_labels("pipeline:labels", f, X, given), f.classes)
end

--- p:probabilities(X[, { progress = f }]): probabilities of the classes, n x c in the order of
--- p.classes; each row sums to 1. They are the solver's own if its loss defines them (logistic:
--- sigmoid, softmax), otherwise Platt's sigmoids of the scores, one for each class, normalised for
--- more than two classes. p:calibrate{} fits the sigmoids; it is called if necessary.
---
--- They are probabilities in the population of the data set's rows with their weights.
--- class_weights do not shift them: with class_weights, every solver's probabilities are Platt's.
--- With more than two classes, the most probable class may differ from p:predict(X), which uses the
--- scores. sc.metrics.log_loss and sc.metrics.calibration judge them. Of multi-label targets, n x
--- c: the probability of each label by the solver's loss.
function Pipeline:probabilities(X, given)
  local f = need(self, "pipeline:probabilities", true)
  if f.task == "multilabel" then
    return guarded("pipeline:probabilities", multilabel.probabilities, f,
      predict("pipeline:probabilities", f, X, given, "scores"))
  end
  local probabilities = require "scullery.model.probabilities"
  probabilities.check(f)
  -- before folds are made, so that errors about X come first
  local said = predict("pipeline:probabilities", f, X, given, "scores")
  if not probabilities.known(f) then probabilities.calibrate(self) end
  return probabilities.of(f, said)
end

--- p:calibrate{ folds = 5, seed = 0, method = "platt" }: fits Platt's sigmoids of p:probabilities
--- to out-of-fold scores. method = "isotonic" fits the nondecreasing function of the score that is
--- nearest to the classes (pool adjacent violators), linear between its knots, one for each class,
--- normalised for more than two; a line warns where less than 1000 rows are too few for it.
---
--- Row stages and features are those of the fit. p:calibrate{ data = ds } uses the scores of other
--- rows, which must not be training rows. Rows are weighted by the data set's weights, whose unit
--- does not matter. class_weights apply to the models, not to the sigmoids or curves. These replace
--- the solver's own probabilities until the next fit. progress = f: as in p:fit. Returns the
--- pipeline; p:info().calibration reports the method.
function Pipeline:calibrate(given)
  need(self, "pipeline:calibrate", true)
  local calibrate = require("scullery.model.probabilities").calibrate
  return guarded("pipeline:calibrate", calibrate, self, given)
end

--- p:threshold(ds[, { by = "f1", cost =, rate = }]): the best decision threshold for two classes,
--- on rows that the model did not learn from: an object with .threshold, for p:predict(X, {
--- threshold = }), and .value, the score that it reaches. by: "f1", the largest F1 score; "cost"
--- with cost = { a, b }, the least total cost, where a is the cost of a row of the first class
--- predicted as the second, and b that of the reverse; "rate" with rate = 0.9, the best precision
--- with a recall of the second class of at least that.
function Pipeline:threshold(data, given)
  need(self, "pipeline:threshold", true)
  local choose = require("scullery.model.threshold").choose
  return guarded("pipeline:threshold", choose, self, data, given)
end

--- p:transform(X): the rows after all stages except the solver, all in memory: n x D features, or n
--- x k if sc.pca{ k = } follows the features.
function Pipeline:transform(X)
  local f = need(self, "pipeline:transform")
  local source = matching.source(X, f)
  if self.components then return f:scores(source) end
  return core.transform(source, f.stages, f.map, f.block)
end

-- The labels or values that the model predicts, and the true ones in the same coding. For a data
-- set that streams: nil, and the counts of one pass in constant memory, {rows, wrong, strangers
-- (rows with unknown labels), square, target_sum, target_square}.
local function judge(self, title, data, y, given)
  local f = need(self, title, true)
  local given_ds = dataset.coerce(data, y, given, f)
  local ds = matching.judged(given_ds, f)
  if ds.X then return f:predict(dataset.source_of_rows(ds), "labels"), ds.y end
  fingerprint.rows_agree(given_ds)
  if f.form or f.means then return nil, target_form.tally(f, ds) end
  local tally = f:tally(ds)
  if f.task == "classification" then matching.tell_strangers(given_ds, tally.strangers) end
  return nil, tally
end

--- p:score(ds[, { metric = }]) or p:score(X, y[, { metric = }]): accuracy of a classification, R2
--- of a regression, of multi-label targets the share of rows all of whose labels are right (metric
--- = "hamming", "f1_micro", "f1_macro": others). Labels are compared by name, whatever the order of
--- the classes. A label that
--- did not occur in training counts as wrong, with a line on the standard error. Each row counts
--- once, whatever its weight: sc.metrics.NAME takes weights.
---
--- metric: as score in p:search, such as "auc" or sc.metric.pinball{ tau = 0.9 }. Returns its value
--- and its standard error: of the metric itself if it has one, else by the jackknife over 20 groups
--- of rows (nil for fewer than 40 rows). It takes rows in memory, with classes that the model
--- knows; probabilities are those of p:calibrate, or of the solver's loss.
function Pipeline:score(data, y, given)
  local metric
  y, given, metric = scoring.apart(data, y, given)
  if metric ~= nil then
    local f = need(self, "pipeline:score", true)
    return scoring.run(f, metric, dataset.coerce(data, y, given, f))
  end
  local said, truth = judge(self, "pipeline:score", data, y, given)
  local classes = self.fitted.task == "classification"
  if self.fitted.task == "multilabel" then return metrics.subset_accuracy(said, truth) end
  if said then return (classes and metrics.accuracy or metrics.r2)(said, truth) end
  if classes then return 1 - truth.wrong / truth.rows end
  if self.fitted.targets > 1 then
    error("R2 of a stream is for one target; p:error(ds) takes several", 0)
  end
  return 1 - truth.square / (truth.target_square - truth.target_sum ^ 2 / truth.rows)
end

--- p:error(ds) or p:error(X, y): the share of wrong labels of a classification, the mean squared
--- error of a regression, the share of rows with a wrong label of multi-label targets.
function Pipeline:error(data, y, given)
  local said, truth = judge(self, "pipeline:error", data, y, given)
  local classes = self.fitted.task == "classification"
  if self.fitted.task == "multilabel" then return 1 - metrics.subset_accuracy(said, truth) end
  if said then return (classes and metrics.error_rate or metrics.mse)(said, truth) end
  return classes and truth.wrong / truth.rows or truth.square / truth.rows / self.fitted.targets
end

-- ------------ reporting

--- p:weights(): the D x c weights a: decision = transform a, plus the intercept if the solver has
--- one.
function Pipeline:weights()
  local f = need_weights(self, "pipeline:weights")
  return f.weights * f:exported_factor()
end

--- p:intercept(): the 1 x c intercept; zeros if the solver has none.
function Pipeline:intercept()
  return need_weights(self, "pipeline:intercept"):constant()
end

--- p:norm(): the norm of the model: ||alpha|| = sqrt(a'Ga) with a K, ||a|| without; over all
--- targets.
function Pipeline:norm()
  local f = need_weights(self, "pipeline:norm")
  return guarded("pipeline:norm", f.norm, f)
end

--- p:bound{ delta = 0.05, theorem =, B =, C =, radius = }: an upper bound of the risk that holds
--- with probability 1 - delta: a table with total, empirical (the mean loss of the training rows),
--- room (total - empirical) and the constants of the bound.
---
--- theorem:
---   rkhsw10 (default with K): Theorem 10 of Dube and Marchand (2023):
---     risk <= empirical + 2 B rho theta/sqrt(n) + M sqrt(log(1/delta)/(2n)) for all models of norm
---     at most B; rho and M are the Lipschitz constant and the bound of the loss on
---     [-B theta, B theta].
---   rkhsw11: Theorem 11 of the same paper, corrected: the expected excess risk of sfgd over the
---     best model of norm at most B, for its lambda and B; best_lambda is that of its equation 75.
---   rks (default without K): Rahimi and Recht (2008), weighted sums, with the constants that their
---     proof gives: risk <= empirical + 2 L C/sqrt(n) + M sqrt(log(1/delta)/(2n)). estimation is
---     their equation 13, approximation the error of T independent random features (10).
---   bases: Theorem 3.2 of Rahimi and Recht (2008), random bases, corrected: the uniform error of T
---     features for a fixed function.
---   maxout: Theorem 2 of Mroueh, Rennie and Goel (2015), its estimation part, corrected.
---   sparse: Theorem 1 and Corollary 2 of Harris (2019), corrected: the uniform error of the kernel
---     that T features estimate, over all rows of length at most radius; infinite for few features.
---
--- B, for rkhsw10: the norm of alpha that was fixed before learning. C, for rks, bases and maxout:
--- the same for T |alpha_t| sup |phi| (maxout: T |alpha_t|); f = sum_t alpha_t phi(w_t, x), and
--- alpha_t is a weight over sqrt(T). The model's own must not be larger. Without it, the bound
--- holds for all norms at once: by a grid of norms in steps of a tenth, of which the first above
--- the model's own counts (norm for B, least for C), at the cost of a log log; for the squared
--- error with B theta or C of at least 3 by another proof, at a lower cost. The field `by` says
--- which: "given", "grid" or "all norms"; share is the part of delta that is left. bases and sparse
--- need neither.
---
--- total_paper: for rkhsw10 the same bound with the paper's bound on theta, for rks, bases, sparse
--- and rkhsw11 the value as printed, which is not proved. unproved: a list of sentences about what
--- the proofs do not cover in this model, such as stages that learnt from the training rows; total
--- is proved if it is empty.
---
--- radius: the length of the longest row; for bases and sparse by default that of the training
--- rows, for maxout needed, because it must not come from them. All theorems are for one target in
--- [-1, 1] (classes are coded +-1) and models without an intercept; those with theta are for rows
--- other than 0. Rows are not weighted.
function Pipeline:bound(given)
  local f = need_weights(self, "pipeline:bound")
  return guarded("pipeline:bound", require("scullery.model.bounds").run, f, self.data, given,
    self.choice ~= nil)
end


--- p:info(): a table about the fit: T (the number of parameters), status ("converged", "stopped" or
--- "iterations exhausted"), iterations, gap or residual with its tolerance, loss, score (the
--- solver's own estimate of the risk), note, nonzeros (features with a nonzero weight), features,
--- seconds of each stage, memory (bytes that the engine uses), chosen (a sentence about options
--- that the fit chose), growth (of T = "auto": a list of { T, loss, lambda, seconds }, with the
--- field ended, a sentence), components (of sc.pca: variances and their shares), relevance (of
--- sc.relevance: a list of { column, relevance }, the largest first), and calibration (the method
--- of the probabilities, once they were computed: method "loss", "platt" or "isotonic", folds,
--- rows, slopes and offsets of 1/(1 + exp(slope f + offset)) or curves of scores and shares; it
--- prints as a sentence); exact: "rows" if sums over the features are the same for any order and
--- any cut of the rows (whole-number features; those of two values, for row weights from 2^-28
--- on), "blocks" if for any cut at blocks of rows, nil if not, and exact_note, why; clipped: the
--- share of whole-number features beyond their range; exchanged: { bytes, seconds } of this
--- process with others (scullery --processes), seconds of the stages among them.
function Pipeline:info()
  local f = need(self, "pipeline:info")
  local map = f.map_info or {}
  local result = { n = f.n, d = f.dim, T = map.T, features = map.features, method = map.method,
    log_scale = map.log_scale, seconds = {}, memory = core.memory() }
  for _, one in ipairs(f.seconds) do
    result.seconds[#result.seconds + 1] = { stage = one[1], seconds = one[2] }
  end
  result.components, result.calibration, result.chosen = f.components, f.calibration, f.chosen
  result.relevance, result.growth, result.exchanged = shown.relevance(f), f.growth, f.exchanged
  if f.map then
    result.exact, result.exact_note = core.map_exact(f.map)
  else
    result.exact_note = "sums over the columns themselves depend on the order of the rows: \z
      sc.features{ dtype = \"int16\" } makes features whose sums do not"
  end
  for name, value in pairs(f.report or {}) do result[name] = value end
  if not (f.weights and f.solver) then return result end
  result.nonzeros = 0
  for i = 1, f.weights:rows() do
    if f.weights:row(i):abs():max() > 0 then result.nonzeros = result.nonzeros + 1 end
  end
  return result
end

Pipeline.__tostring, Pipeline.__summary = shown.text, shown.summary

--- p:search(ds, { folds = 5, holdout =, seed = 0, method =, draws =, rule =, score =, stages =,
--- each =, outer =, progress = }): cross-validation over all options and stages that are sc.choose.
--- Returns a new pipeline with the best options, fitted to all rows, with .choice (option -> value)
--- and .table (a row for each cell: choice, mean, stderr, folds = the scores of the folds,
--- unconverged = fits that did not converge).
---
--- folds: as in p:cv; "loo" (leave-one-out) and "gcv" (generalised cross-validation) for solvers
--- that compute them from one fit, as ridge does. count, gap, horizon, groups, shuffle: as in p:cv.
--- holdout: in place of folds, a share of the rows or their number: cells are judged on the rows
--- that ds:split{ test = holdout, seed = seed } sets aside; the best is fitted to all rows.
---
--- score: "error" (the share of wrong labels; the default for a classification) or "loss" (the
--- squared error summed over targets), which need no extra pass; "subset_accuracy" (the default
--- where a solver learns several labels one after the other); the name of a metric of sc.metrics
--- ("auc", "f1", "mae", ...); a list of such a name and its options ({ "top_k", k = 3 }); or a
--- function of (predictions, truth, { scores =, probabilities =, classes =, weights = }). Larger is
--- better for a function, unless it is given in a list with better = "smaller". Rows are not
--- weighted in a score, except for gcv.
---
--- draws: the number of random combinations to try instead of the whole grid. sc.choose.log and
--- sc.choose.range without a count then give any point of their range. A list of values of the
--- solver's path option (lambda) is always tried completely, because it needs no extra pass.
---
--- method: "grid" (default); "halving": all cells are judged on a sixteenth of the rows with a
--- quarter of the parameters, the better half on a quarter of the rows, and the best 15 % on all,
--- which the table has (successive halving; rounds have 200 rows at least, and lambda in them is
--- such that rows times lambda stay); "bayes": sc.optimize chooses each cell by the scores of those
--- before it, `draws` in all (by default a fifth of the grid, and at least ten).
---
--- rule: "best" (default), or "one_se": the simplest cell (fewest features, then most
--- regularisation) within one standard error of the best. A cell with fits that did not converge is
--- chosen only if it is better than all that converged by more than the standard error of the
--- difference between folds, or, if n rows gave one score, by sqrt(2 / n) of that score, or of what
--- it lacks to 1 if larger is better. stages:
--- "shared" (default) fits the row stages once to all rows; "fold" fits them without each fold.
--- outer = k: repeats the whole search without each of k outer folds; .table.outer = { mean,
--- stderr, folds, choices } is an unbiased estimate of the risk. progress: as in p:fit; it is also
--- called after each run (stage "search").
---
--- A width or a regularisation that is not given, and T = "auto", are chosen once, on all rows, as
--- p:fit does, before the cells are tried. checkpoint = path, every, restart: as in p:fit; finished
--- cells are stored, and are not tried again.
---
--- each = "solver", or the name of a searched option: .each is a table from each value of that
--- option (for a stage its name) to the best pipeline with it, fitted. The compared solvers share
--- the passes over the rows, and so do values of features.T: the sums of the largest T contain
--- those of the others if parameters are drawn one by one and the solver works on normal equations.
---
--- .table.best is the best row, .table:save("t.csv") saves the table. If the best value of an
--- option is the smallest or the largest that was tried, the table and p:info().note report it
--- (.table.edge: a list of option, value, side). If Ctrl-C or an error stops a search, the error is
--- an object with message, and with table and choice of the finished cells; it prints as text.
function Pipeline:search(data, given)
  return guarded("pipeline:search", require("scullery.model.search").run, self, data, given,
    require("scullery.model.plan_search").refuse)
end

--- p:cv(ds, { folds = 5, repeats = 1, score =, seed = 0, stages = "shared", groups =, shuffle =
--- true, count =, gap =, horizon = }): cross-validation of this recipe; the pipeline does not
--- change. Returns an object with .mean, .stderr, .folds (the score of each fold), .score (its
--- name) and .unconverged (fits that did not converge); it prints as text.
---
--- folds: a number from 2 (random folds, stratified for a classification that does not stream);
--- "loo": each row is a fold; "time": `count` folds (5) by the data set's time column, or by the
--- order of rows without one: each is learnt from the rows before it, at least `gap` earlier, and
--- ends after `horizon` (both in the unit of the time column: days for dates, rows without a
--- column); or a list with the fold number of each row. groups: as in ds:split: rows of one group
--- are in one fold. shuffle = false: folds are consecutive rows.
---
--- A width or a regularisation that is not given, and T = "auto", are chosen for each fold from its
--- own training rows. repeats: the number of repetitions with different folds (seed, seed + 1,
--- ...). .stderr is that of one repetition, because all repetitions share the rows. score:
--- "accuracy" for a classification and "r2" for a regression, or as in p:search. stages, progress:
--- as in p:search.
function Pipeline:cv(data, given)
  return require("scullery.model.judging").cv(self, data, given)
end

--- p:clone{ ["solver.lambda"] = 1e-3 }: a new pipeline of the same recipe, not fitted, with options
--- changed by path: KIND.OPTION of a stage, a sampler, a nonlinearity, a kernel or the solver;
--- features.T and the like; or block, allowance, class_weights, target. A value may be
--- sc.choose{...}.
function Pipeline:clone(changes)
  return require("scullery.model.clone").run(self, changes)
end

--- p:prune{ epsilon = 0.01, accept =, start = "tiny" | "bound", delta = 0.05, data = }: a smaller
--- model with fewer parameters: algorithm 5 of Dube and Marchand (2023), after any solver on
--- features with a K. Returns the model and a table: kept (parameters of T), distance ||alpha -
--- beta||, lambda, steps, risk and error before and after, measure (the number that the rule
--- compared with epsilon).
---
--- accept: the rule. "norm": rho theta ||alpha - beta|| < epsilon (equation 63). "theorem8": the
--- bound of Theorem 8 on the risk (64), for all distances ||alpha - beta|| at once, since beta is
--- learnt; it is proved for data that the model did not learn from. "risk": the empirical risk
--- (65). "zero_one": the share of wrong labels (66). Risks are those of the square loss for every
--- solver. data: the rows to judge by; by default the training rows.
function Pipeline:prune(given)
  return guarded("pipeline:prune", require("scullery.model.prune").run, self, given)
end

--- p:save(path[, { parameters = true }]): writes the pipeline, fitted or not, to a file in the
--- safetensors format, complete or not at all; sc.load(path) reads it. The file contains the recipe
--- with every option (sc.choose{...} too), and for a fitted pipeline its results: stages,
--- coefficients or the solver's own model, classes, schema, calibration, reports, and the choice
--- and table of a search. Parameters of features are drawn again from their seed; parameters = true
--- also writes them, as the array features.parameters, for other programs (docs/models.md).
--- Training rows are not saved, unless the model consists of them. sums = true also writes the sums
--- over the rows of a model that keeps them, so that p:update and p:forget work on the loaded
--- model; std = true the posterior of a ridge regression (about 4 D^2 bytes), so that standard
--- deviations and draws do.
function Pipeline:save(path, given)
  return guarded("pipeline:save", require("scullery.model.saving").save, self, path, given)
end

return { new = recipe.new, is = recipe.is }
