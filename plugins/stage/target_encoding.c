/* Target encoding: a column of categories (any numbers, such as codes) becomes, for each target, an
 * estimate of the mean of the target among rows of the same category. Category v, with rows of
 * total weight n_v and mean target m_v, becomes
 *
 *   (n_v m_v + s m) / (n_v + s),
 *
 * m the mean of all rows, to which a category that was not seen is mapped. s is the option
 * `smoothing`, or by default the ratio of variances of a model of random effects,
 *
 *   s = (variance within categories) / (variance between them),
 *
 * both estimated without bias from the sums of squares of one-way analysis of variance (Searle,
 * Casella and McCulloch 1992, Variance Components; as empirical Bayes for categories: Micci-Barreca
 * 2001). If categories differ by no more than chance, or each row has a category of its own, s is
 * infinite, and all become m: what a category shows of the target of its own rows by chance alone
 * does not leak into a column. Sums are over rows in their order, of targets less that of the first
 * row, so that a large mean of the targets costs no digits of their variance. */
#include <scullery/plugin.h>

#include <stdlib.h>

typedef struct target_encoding {
  scl_base base;
  const scl_value *columns, *smoothing;
  size_t most;
} target_encoding;

static const scl_option options[] = {
    {.name = "columns",
     .help = "numbers of the columns of categories, from 1; by default all",
     .forms = SCL_FORM_LIST,
     SCL_AT(target_encoding, columns),
     SCL_WITHIN(1, INT32_MAX)},
    {.name = "smoothing",
     .help = "rows of the mean that are added to each category; auto: from the variances within "
             "and between categories",
     .words = "auto",
     .fallback = "auto",
     .forms = SCL_FORM_NUMBER | SCL_FORM_WORD,
     SCL_AT(target_encoding, smoothing),
     SCL_NOT_NEGATIVE},
    SCL_INTEGER(target_encoding, most, "10000", "categories of a column at most",
                SCL_WITHIN(1, 1e7))};

static scl_status create(void *instance, scl_error *error) {
  const target_encoding *self = instance;
  const scl_value *c = self->columns;
  int good = c->form == 0 || c->length > 0;
  for (size_t i = 0; i < c->length; i++) {
    good = good && c->list[i] == floor(c->list[i]);
    for (size_t j = 0; j < i; j++)
      good = good && c->list[i] != c->list[j];
  }
  if (good) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                               "option 'columns' takes a list of different whole numbers from 1");
}

/* ------------ the categories of a column */

/* A category: its value, and over its rows the sum of the weights. Sums of w y and w y^2 for each
 * target y, less its origin, are in `sums`, at 2 c `place`. */
typedef struct category {
  double value, weight;
  size_t place;
} category;

typedef struct column {
  size_t number;      /* from 0 */
  size_t count, room; /* of categories, in ascending order of their values */
  category *categories;
  double *sums;
} column;

typedef struct encoding {
  const target_encoding *self;
  const scl_fitting *fitting;
  size_t count, targets, rows; /* columns; c; rows of positive weight */
  column *columns;
  double *origin; /* c: the targets of the first of these rows */
} encoding;

/* The place of the first category of at least the value. */
static size_t find(const category *categories, size_t count, double value) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (categories[middle].value < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Room for one more category. */
static scl_status grow(encoding *e, column *c, scl_error *error) {
  const scl_host *host = e->fitting->host;
  if (c->count == e->self->most)
    return host->fail(error, SCL_STATUS_BAD_DATA,
                      "column %zu has more than %zu different values (option 'most'): it does not "
                      "look like categories",
                      c->number + 1, e->self->most);
  if (c->count < c->room) return SCL_STATUS_OK;
  const size_t room = c->room == 0 ? 16 : 2 * c->room, width = 2 * e->targets;
  category *categories = host->allocate(room * sizeof *categories);
  double *sums = host->allocate(room * width * sizeof *sums);
  if (categories == NULL || sums == NULL) {
    host->release(categories);
    host->release(sums);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu categories", room);
  }
  if (c->count > 0) {
    memcpy(categories, c->categories, c->count * sizeof *categories);
    memcpy(sums, c->sums, c->count * width * sizeof *sums);
  }
  host->release(c->categories);
  host->release(c->sums);
  c->categories = categories;
  c->sums = sums;
  c->room = room;
  return SCL_STATUS_OK;
}

/* Add a row to its category. */
static scl_status add_row(encoding *e, column *c, double value, double weight, const double *y,
                          scl_error *error) {
  size_t i = find(c->categories, c->count, value);
  if (i == c->count || c->categories[i].value != value) {
    const scl_status status = grow(e, c, error);
    if (status != SCL_STATUS_OK) return status;
    memmove(c->categories + i + 1, c->categories + i, (c->count - i) * sizeof *c->categories);
    c->categories[i] = (category){value, 0, c->count};
    memset(c->sums + 2 * e->targets * c->count, 0, 2 * e->targets * sizeof *c->sums);
    c->count++;
  }
  double *sums = c->sums + 2 * e->targets * c->categories[i].place;
  c->categories[i].weight += weight;
  for (size_t t = 0; t < e->targets; t++) {
    const double apart = y[t] - e->origin[t];
    sums[2 * t] += weight * apart;
    sums[2 * t + 1] += weight * apart * apart;
  }
  return SCL_STATUS_OK;
}

static scl_status add_rows(void *context, const scl_rows *rows, scl_error *error) {
  encoding *e = context;
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1 : rows->weights[i];
    if (!(weight > 0)) continue;
    const double *y = rows->targets + i * e->targets;
    if (e->rows++ == 0) memcpy(e->origin, y, e->targets * sizeof *y);
    for (size_t k = 0; status == SCL_STATUS_OK && k < e->count; k++)
      status = add_row(e, &e->columns[k], scl_stage_row(&rows->features, i)[e->columns[k].number],
                       weight, y, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

/* ------------ smoothing */

/* The smoothing s for target t, from the sums of squares within and between the categories of a
 * column, and its mean m less the origin. With N rows in k categories, n_v in each:
 *
 *   within  = SSW / (N - k),  between = (SSB - (k - 1) within) / (N - sum n_v^2 / N)
 *
 * Weights of rows are numbers of rows. */
static double smoothing_of(const encoding *e, const column *c, size_t t, double mean) {
  double within = 0, between = 0, total = 0, squares = 0;
  if (e->self->smoothing->form != SCL_FORM_WORD) return e->self->smoothing->number;
  for (size_t v = 0; v < c->count; v++) {
    const double n = c->categories[v].weight,
                 *sums = c->sums + 2 * (e->targets * c->categories[v].place + t), m = sums[0] / n;
    within += fmax(sums[1] - n * m * m, 0);
    between += n * (m - mean) * (m - mean);
    total += n;
    squares += n * n;
  }
  const double k = (double)c->count, free = total - k, scale = total - squares / total;
  if (!(free > 0) || !(scale > 0)) return INFINITY;
  within /= free;
  between = (between - (k - 1) * within) / scale;
  return between > 0 ? within / between : INFINITY;
}

/* The mean of target t, less its origin, over all rows of a column. */
static double mean_of(const encoding *e, const column *c, size_t t) {
  double sum = 0, weight = 0;
  for (size_t v = 0; v < c->count; v++) {
    sum += c->sums[2 * (e->targets * c->categories[v].place + t)];
    weight += c->categories[v].weight;
  }
  return sum / weight;
}

/* codes (count x targets) of the categories of a column, in ascending order of their values. */
static void encode(const encoding *e, const column *c, double *codes) {
  for (size_t t = 0; t < e->targets; t++) {
    const double mean = mean_of(e, c, t), s = smoothing_of(e, c, t, mean);
    for (size_t v = 0; v < c->count; v++) {
      const double n = c->categories[v].weight,
                   sum = c->sums[2 * (e->targets * c->categories[v].place + t)];
      codes[v * e->targets + t] = e->origin[t] + (isinf(s) ? mean : (sum + s * mean) / (n + s));
    }
  }
}

/* ------------ fitting */

/* The arrays of the state: the columns (1 x k, from 1), the number of categories of each (1 x k),
 * their values (all x 1) and codes (all x c), and the mean (1 x c). */
enum { COLUMNS, COUNTS, VALUES, CODES, MEAN };

static scl_status put_all(const encoding *e, scl_error *error) {
  const scl_host *host = e->fitting->host;
  size_t all = 0;
  for (size_t k = 0; k < e->count; k++)
    all += e->columns[k].count;
  double *numbers =
      host->scratch((2 * e->count + all * (1 + e->targets) + e->targets) * sizeof *numbers);
  if (numbers == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu categories", all);
  double *counts = numbers + e->count, *values = counts + e->count, *codes = values + all,
         *mean = codes + all * e->targets;
  size_t at = 0;
  for (size_t k = 0; k < e->count; k++) {
    const column *c = &e->columns[k];
    numbers[k] = (double)(c->number + 1);
    counts[k] = (double)c->count;
    for (size_t v = 0; v < c->count; v++)
      values[at + v] = c->categories[v].value;
    encode(e, c, codes + at * e->targets);
    at += c->count;
  }
  for (size_t t = 0; t < e->targets; t++)
    mean[t] = e->origin[t] + mean_of(e, &e->columns[0], t);
  static const char *const names[] = {"columns", "counts", "values", "codes", "mean"};
  const scl_array arrays[] = {
      scl_matrix_array(numbers, 1, e->count), scl_matrix_array(counts, 1, e->count),
      scl_matrix_array(values, all, 1), scl_matrix_array(codes, all, e->targets),
      scl_matrix_array(mean, 1, e->targets)};
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < 5; i++)
    status = e->fitting->put(e->fitting, names[i], &arrays[i], error);
  return status;
}

/* Weights of shares, such as 1/n, tell nothing of the variance within categories. */
static scl_status check_weights(const encoding *e, scl_error *error) {
  for (size_t k = 0; e->self->smoothing->form == SCL_FORM_WORD && k < e->count; k++) {
    const column *c = &e->columns[k];
    double total = 0;
    for (size_t v = 0; v < c->count; v++)
      total += c->categories[v].weight;
    if (e->rows > c->count && total <= (double)c->count)
      return e->fitting->host->fail(
          error, SCL_STATUS_BAD_DATA,
          "the weights of %zu rows add up to %g, and column %zu has %zu categories: a weight is a "
          "number of rows here; scale the weights to a mean of 1, or give 'smoothing'",
          e->rows, total, c->number + 1, c->count);
  }
  return SCL_STATUS_OK;
}

static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const target_encoding *self = instance;
  const scl_host *host = fitting->host;
  const size_t dim = fitting->rows->dim;
  encoding e = {.self = self,
                .fitting = fitting,
                .count = self->columns->form == 0 ? dim : self->columns->length,
                .targets = fitting->rows->targets};
  e.columns = host->scratch(e.count * sizeof *e.columns);
  e.origin = host->scratch(e.targets * sizeof *e.origin);
  if (e.columns == NULL || e.origin == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns", e.count);
  for (size_t k = 0; k < e.count; k++) {
    const double number = self->columns->form == 0 ? (double)(k + 1) : self->columns->list[k];
    if (number > (double)dim)
      return host->fail(error, SCL_STATUS_BAD_OPTION,
                        "option 'columns' has column %.15g, and columns 1 to %zu arrive", number,
                        dim);
    e.columns[k] = (column){.number = (size_t)number - 1};
  }
  scl_status status = fitting->rows->walk(fitting->rows, add_rows, &e, error);
  if (status == SCL_STATUS_OK && e.rows == 0)
    status = host->fail(error, SCL_STATUS_BAD_DATA, "all rows have weight 0");
  if (status == SCL_STATUS_OK) status = check_weights(&e, error);
  if (status == SCL_STATUS_OK) status = put_all(&e, error);
  for (size_t k = 0; k < e.count; k++) {
    host->release(e.columns[k].categories);
    host->release(e.columns[k].sums);
  }
  return status;
}

/* ------------ applying */

/* Whether the arrays agree with each other and with the columns that arrive. */
static int is_sound(const scl_stage_state *f) {
  const scl_array *a = f->arrays;
  double all = 0;
  for (size_t i = 0; i < f->count; i++)
    if (a[i].dtype != SCL_DTYPE_FLOAT64 || a[i].rank != 2) return 0;
  const size_t k = a[COLUMNS].sizes[1], c = a[MEAN].sizes[1], values = a[VALUES].sizes[0];
  if (a[COLUMNS].sizes[0] != 1 || a[COUNTS].sizes[0] != 1 || a[COUNTS].sizes[1] != k ||
      a[VALUES].sizes[1] != 1 || a[CODES].sizes[0] != values || a[CODES].sizes[1] != c ||
      a[MEAN].sizes[0] != 1)
    return 0;
  const double *columns = a[COLUMNS].data, *counts = a[COUNTS].data;
  for (size_t i = 0; i < k; i++) {
    if (!(columns[i] >= 1 && columns[i] <= (double)f->cols) || columns[i] != floor(columns[i]) ||
        !(counts[i] >= 0 && counts[i] <= (double)values) || counts[i] != floor(counts[i]))
      return 0;
    for (size_t j = 0; j < i; j++)
      if (columns[i] == columns[j]) return 0;
    all += counts[i];
  }
  return all == (double)values;
}

static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  if (!is_sound(fitted))
    return ((const scl_base *)instance)
        ->host->fail(error, SCL_STATUS_BAD_DATA, "its arrays are not a target encoding");
  const size_t k = fitted->arrays[COLUMNS].sizes[1], c = fitted->arrays[MEAN].sizes[1];
  fitted->width = fitted->cols - k + k * c;
  return SCL_STATUS_OK;
}

/* Categories of one encoded column in the arrays. */
typedef struct categories {
  const double *values, *codes;
  size_t count;
} categories;

/* The code of a value in a column, c numbers. */
static const double *code_of(const categories *of, size_t c, const double *mean, double value) {
  size_t low = 0, high = of->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (of->values[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low < of->count && of->values[low] == value ? of->codes + low * c : mean;
}

/* by_column[j] = the categories of column j; codes NULL: the column is not encoded. */
static void list_columns(const scl_stage_state *f, categories *by_column) {
  const double *columns = scl_stage_numbers(f, COLUMNS), *counts = scl_stage_numbers(f, COUNTS);
  size_t at = 0;
  memset(by_column, 0, f->cols * sizeof *by_column);
  for (size_t k = 0; k < f->arrays[COLUMNS].sizes[1]; k++) {
    by_column[(size_t)columns[k] - 1] = (categories){
        scl_stage_numbers(f, VALUES) + at,
        scl_stage_numbers(f, CODES) + at * f->arrays[MEAN].sizes[1], (size_t)counts[k]};
    at += (size_t)counts[k];
  }
}

/* An encoded column is replaced by its c codes; the others stay, in their order. */
static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  const size_t d = fitted->cols, c = fitted->arrays[MEAN].sizes[1];
  const double *mean = scl_stage_numbers(fitted, MEAN);
  categories *by_column = host->scratch(d * sizeof *by_column);
  if (by_column == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns", d);
  list_columns(fitted, by_column);
  for (size_t i = 0; i < in->rows; i++) {
    double *to = scl_stage_out(out, i);
    for (size_t j = 0; j < d; j++) {
      const double x = scl_stage_row(in, i)[j];
      if (by_column[j].codes == NULL) {
        *to++ = x;
        continue;
      }
      memcpy(to, code_of(&by_column[j], c, mean, x), c * sizeof *to);
      to += c;
    }
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "target_encoding",
    .summary = "columns of categories to the mean targets of their categories, smoothed",
    .definition =
        "mean_of(Y, k) = mean(Y, function(y) return y[k] end)\n"
        /* The targets of each category of a column. */
        "groups(X, Y, j, k) = (function(list, known)\n"
        "  for i = 1, #X do\n"
        "    local v = X[i][j]\n"
        "    if not known[v] then list[#list + 1], known[v] = {}, #list + 1 end\n"
        "    list[known[v]][#list[known[v]] + 1] = Y[i][k]\n"
        "  end\n"
        "  return list, known end)({}, {})\n"
        /* The variance within categories over that between them. */
        "auto(G, m, n, K) = (function(squares, apart, even)\n"
        "  local within = squares/(n - K)\n"
        "  local between = (apart - (K - 1)*within)/(n - even/n)\n"
        "  return n > K and n > even/n and between > 0 and within/between or inf\n"
        "end)(sum(G, function(g) return deviation(g)^2*#g end),\n"
        "  sum(G, function(g) return #g*(mean(g) - m)^2 end), sum(G, function(g) return (#g)^2 "
        "end))\n"
        /* The smoothing, and the code of a category or of none. */
        "smooth(G, m, n) = type(smoothing) == \"number\" and smoothing or auto(G, m, n, #G)\n"
        "code(g, m, s) = (not g or s == inf) and m or (sum(g) + s*m)/(#g + s)\n"
        "codes(X, Y, x, j) = map(Y[1], function(_, k)\n"
        "  local G, known = groups(X, Y, j, k)\n"
        "  return code(G[known[x] or 0], mean_of(Y, k), smooth(G, mean_of(Y, k), #X)) end)\n"
        /* Whether column j is encoded. */
        "encoded(j) = not columns or sum(columns, function(c) return when(c == j, 1, 0) end) > 0\n"
        "row(X, Y) = function(x)\n"
        "  return join(unpack(map(x, function(t, j)\n"
        "    return encoded(j) and codes(X, Y, t, j) or { t } end))) end",
    .doc =
        "A category of n rows with mean target m_v becomes (n m_v + s m)/(n + s), m the mean of\n"
        "all rows; one that was not seen becomes m. With c targets (classes), a column becomes c\n"
        "columns. Other columns stay.\n"
        "s is the option smoothing, or by default the variance within categories over that\n"
        "between them, estimated from the rows (Micci-Barreca 2001). So categories that differ by\n"
        "no more than chance, and columns with another value in each row, become m: the targets\n"
        "of the rows that are learnt from do not leak through them. It learns from targets and\n"
        "weights, and p:cv and p:search fit it without each fold. A row of weight 2 counts as two\n"
        "rows, so that codes depend on the scale of weights: let their mean be 1.",
    .create = create,
    SCL_STAGE(.flags = SCL_STAGE_TARGETS, .arrays = "columns|counts|values|codes|mean", .fit = fit,
              .shape = shape, .apply = apply),
    SCL_INSTANCE(target_encoding, options)};
