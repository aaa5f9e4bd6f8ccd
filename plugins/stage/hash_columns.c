/* Feature hashing: a row x in R^d becomes x' in R^k, k = 2^bits,
 *
 *   x'_i = sum over the columns j with h(j) = i of s(j) x_j,
 *
 * where h(j) is uniform on the k new columns, and s(j) is 1 or -1, by a hash of j. With signs,
 * E <x', y'> = <x, y> over seeds (Weinberger, Dasgupta, Langford, Smola and Attenberg 2009, Feature
 * hashing for large scale multitask learning, lemma 2). The terms of a sum are added in ascending
 * j, of dense and of sparse rows. */
#include <scullery/plugin.h>

#include <stdlib.h>

typedef struct hash_columns {
  scl_base base;
  size_t bits, seed;
  bool signs;
} hash_columns;

static const scl_option options[] = {
    SCL_INTEGER(hash_columns, bits, "12", "2^bits columns of the result", SCL_WITHIN(1, 30)),
    SCL_BOOLEAN(
        hash_columns, signs, "true",
        "half of the columns change their sign, so that columns that meet cancel in the mean"),
    SCL_INTEGER(hash_columns, seed, "0", "seed of the hash", SCL_WITHIN(0, 9007199254740992))};

/* 64 bits of a column: the finisher of SplitMix64 (Steele, Lea and Flood 2014), twice. */
static uint64_t hash_of(const hash_columns *self, size_t column) {
  uint64_t h = (uint64_t)self->seed;
  for (int round = 0; round < 2; round++) {
    h += 0x9E3779B97F4A7C15u + (uint64_t)column;
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    h ^= h >> 31;
  }
  return h;
}

/* The new column, and the sign. */
static size_t place_of(const hash_columns *self, size_t column, double *sign) {
  const uint64_t h = hash_of(self, column);
  *sign = self->signs && (h & 1) != 0 ? -1 : 1;
  return (size_t)(h >> 1) & (((size_t)1 << self->bits) - 1);
}

static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  (void)error;
  fitted->width = (size_t)1 << ((const hash_columns *)instance)->bits;
  return SCL_STATUS_OK;
}

static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  const hash_columns *self = instance;
  (void)error;
  for (size_t i = 0; i < in->rows; i++)
    memset(scl_stage_out(out, i), 0, fitted->width * sizeof(double));
  for (size_t j = 0; j < fitted->cols; j++) {
    double sign;
    const size_t to = place_of(self, j, &sign);
    for (size_t i = 0; i < in->rows; i++)
      scl_stage_out(out, i)[to] += sign * scl_stage_row(in, i)[j];
  }
  return SCL_STATUS_OK;
}

/* ------------ sparse rows */

/* New column << 32 | place in the row: ascending, those of one new column by their old columns. */
static int compare(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* One row: numbers first .. end-1 of `in`, in ascending new columns; returns how many there are. A
 * sum that is 0 is left out. */
static int64_t hash_row(const hash_columns *self, const scl_const_csr *in, int64_t first,
                        int64_t end, uint64_t *places, int32_t *columns, double *values) {
  const size_t count = (size_t)(end - first);
  int64_t made = 0;
  double sign;
  for (size_t k = 0; k < count; k++)
    places[k] = (uint64_t)place_of(self, (size_t)in->columns[first + (int64_t)k], &sign) << 32 | k;
  qsort(places, count, sizeof *places, compare);
  for (size_t k = 0; k < count;) {
    const uint64_t column = places[k] >> 32;
    double sum = 0;
    for (; k < count && places[k] >> 32 == column; k++) {
      const int64_t at = first + (int64_t)(places[k] & UINT32_MAX);
      (void)place_of(self, (size_t)in->columns[at], &sign);
      sum += sign * scl_csr_number(in, at);
    }
    if (sum == 0) continue;
    columns[made] = (int32_t)column;
    values[made++] = sum;
  }
  return made;
}

static scl_status apply_csr(const void *instance, const scl_stage_state *fitted,
                            const scl_const_csr *in, const scl_csr_block *out, scl_error *error) {
  const hash_columns *self = instance;
  const scl_host *host = self->base.host;
  int64_t most = 0;
  (void)fitted;
  for (size_t i = 0; i < in->rows; i++)
    if (in->starts[i + 1] - in->starts[i] > most) most = in->starts[i + 1] - in->starts[i];
  uint64_t *places = host->scratch(((size_t)most + 1) * sizeof *places);
  if (places == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a row of %lld numbers",
                      (long long)most);
  out->starts[0] = 0;
  for (size_t i = 0; i < in->rows; i++)
    out->starts[i + 1] =
        out->starts[i] + hash_row(self, in, in->starts[i], in->starts[i + 1], places,
                                  out->columns + out->starts[i], out->values + out->starts[i]);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "hash_columns",
    .summary = "columns hashed to 2^bits columns",
    .definition =
        "mixed(h) = (function(h)\n"
        "  h = (h ~ h >> 30)*0xBF58476D1CE4E5B9\n"
        "  h = (h ~ h >> 27)*0x94D049BB133111EB\n"
        "  return h ~ h >> 31 end)(h)\n"
        /* SplitMix64, twice. */
        "hash(j) = mixed(mixed((seed//1 | 0) + 0x9E3779B97F4A7C15 + j) + 0x9E3779B97F4A7C15 + j)\n"
        "row(X, Y) = bits < 13 and function(x) return (function(made)\n"
        "  for j = 1, #x do\n"
        "    local h = hash(j - 1)\n"
        "    local to = (h >> 1 & (1 << bits) - 1) + 1\n"
        "    made[to] = made[to] + (signs and h & 1 == 1 and -x[j] or x[j])\n"
        "  end\n"
        "  return made end)(map(range(1 << bits), function() return 0 end)) end",
    .doc = "Column j is added to column h(j) of 2^bits, with the sign s(j): feature hashing\n"
           "(Weinberger et al. 2009). With signs, scalar products of rows keep their means over\n"
           "seeds. Sparse rows stay sparse. Nothing is learnt from rows.",
    SCL_STAGE(.flags = SCL_STAGE_HOMOGENEOUS, .shape = shape, .apply = apply,
              .apply_csr = apply_csr),
    SCL_INSTANCE(hash_columns, options)};
