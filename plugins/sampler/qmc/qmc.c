/* Quasi-Monte Carlo rows (Avron, Sindhwani, Yang and Mahoney 2016, Quasi-Monte Carlo feature maps):
 *   w_t = sigma F^-1(u_t),
 * coordinate by coordinate, F the normal distribution function and u_0, u_1, ... a sequence that
 * fills [0,1]^d more evenly than random points. It is randomised by (seed, stream), so that each
 * row by itself is exactly N(0, sigma^2 I).
 *
 * sobol: binary digits of the index (in Gray's order) times direction numbers, scrambled by a
 * random lower triangular matrix of bits and a random digital shift (Matousek 1998, On the
 * L2-discrepancy for anchored boxes). Any 2^m points that begin at a multiple of 2^m have one in
 * each dyadic interval of length 2^-m, in each coordinate.
 *
 * halton: digits of the index in base p_j, the j-th prime, behind the point in reverse order; digit
 * k becomes
 *   (a_k digit + b_k) mod p_j.
 * With a_k and b_k random, any two points are distributed as under random permutations of the
 * digits (Owen 2017, A randomized Halton algorithm in R), so variances are the same. */
#include "qmc.h"
#include "shared/draws.h"
#include "shared/gaussian_rows.h"

enum { SOBOL_BITS = 52, HALTON_BITS = 44, REST_BITS = 8 };
enum { SEQUENCE_SOBOL, SEQUENCE_HALTON };

typedef struct qmc {
  gaussian_rows rows;
  int32_t sequence;
  bool scramble;
} qmc;

static const scl_option options[] = {
    GAUSSIAN_ROWS_OPTIONS,
    SCL_WORD(qmc, sequence, "sobol|halton", "sobol",
             "sobol: up to 1111 columns, best where T is a power of two; halton: any number of "
             "columns"),
    SCL_BOOLEAN(qmc, scramble, "true",
                "true: random digits and a random shift; false: the random shift alone")};

/* Where the points of a batch go: coordinate `column` of each. */
typedef struct target {
  const qmc *self;
  const scl_random *random;
  scl_address address;
  const scl_parameters *out;
} target;

/* Weight `column` of point i from a number u in (0, 1). */
static void qmc_put(const target *to, size_t i, size_t column, double u) {
  to->out->weights[(ptrdiff_t)i * to->out->stride + (ptrdiff_t)column] =
      to->self->rows.sigma * to->random->inverse_normal(u);
}

/* The random bits of one coordinate, the same for all points. */
static void column_bits(const target *to, size_t column, size_t count, uint64_t *out) {
  to->random->bits(to->address.seed, to->address.stream + GAUSSIAN_ROWS_WEIGHTS, column, 0, count,
                   out);
}

/* ------------ Sobol */

/* The degree of a polynomial over GF(2), coefficients as bits; 0 for 0 and 1. */
static unsigned qmc_degree_of(unsigned polynomial) {
  unsigned degree = 0;
  while (polynomial >> (degree + 1) != 0)
    degree++;
  return degree;
}

/* The bit of sobol_numbers at *place, which moves on. */
static unsigned next_bit(size_t *place) {
  const size_t at = (*place)++, letter = at / 6;
  const int c = sobol_numbers[letter / SOBOL_ROW][letter % SOBOL_ROW];
  const int value = c >= 'a'   ? c - 'a' + 26
                    : c >= 'A' ? c - 'A'
                    : c >= '0' ? c - '0' + 52
                    : c == '+' ? 62
                               : 63;
  return (unsigned)value >> (at % 6) & 1;
}

/* m_1 .. m_degree of the dimension whose numbers begin at *place, which moves on. */
static void read_numbers(size_t *place, size_t degree, uint16_t *m) {
  for (size_t k = 0; k < degree; k++) {
    unsigned number = 1;
    for (size_t i = 1; i <= k; i++)
      number |= next_bit(place) << i;
    m[k] = (uint16_t)number;
  }
}

/* v_k = m_k / 2^k as SOBOL_BITS binary digits, k = 1 .. count at v[k - 1]; m has the first ones. */
static void fill_directions(unsigned polynomial, const uint16_t *m, size_t count, uint64_t *v) {
  const size_t degree = qmc_degree_of(polynomial);
  for (size_t k = 0; k < count; k++) {
    if (k < degree || degree == 0) {
      v[k] = (uint64_t)(degree == 0 ? 1 : m[k]) << (SOBOL_BITS - 1 - k);
      continue;
    }
    v[k] = v[k - degree] ^ (v[k - degree] >> degree);
    for (size_t i = 1; i < degree; i++)
      if (polynomial >> (degree - i) & 1) v[k] ^= v[k - i];
  }
}

/* Replaces each v by L v: column i of L has digit i and random digits below it, taken from
 * bits[i]. */
static void scramble_directions(size_t count, const uint64_t *bits, uint64_t *v) {
  for (size_t k = 0; k < count; k++) {
    uint64_t mixed = 0;
    for (size_t i = 0; i <= k; i++) { /* v_k has no digits behind its k-th */
      const uint64_t digit = (uint64_t)1 << (SOBOL_BITS - 1 - i);
      if (v[k] & digit) mixed ^= digit | (bits[i] & (digit - 1));
    }
    v[k] = mixed;
  }
}

static size_t lowest_bit(uint64_t number) {
  size_t place = 0;
  while ((number >> place & 1) == 0)
    place++;
  return place;
}

/* One coordinate of all points of the batch. The first point is the sum of the direction numbers of
 * its Gray code; each next point changes one digit of it. */
static void sobol_column(const target *to, size_t column, unsigned polynomial, const uint16_t *m,
                         size_t digits) {
  uint64_t v[SOBOL_BITS], bits[SOBOL_BITS + 1];
  const uint64_t first = to->out->first, gray = first ^ (first >> 1);
  fill_directions(polynomial, m, digits, v);
  column_bits(to, column, digits + 1, bits);
  if (to->self->scramble) scramble_directions(digits, bits + 1, v);
  uint64_t point = bits[0] >> (64 - SOBOL_BITS);
  for (size_t k = 0; k < digits; k++)
    if (gray >> k & 1) point ^= v[k];
  for (size_t i = 0; i < to->out->count; i++) {
    qmc_put(to, i, column, ((double)point + 0.5) * (1.0 / ((uint64_t)1 << SOBOL_BITS)));
    point ^= v[lowest_bit(first + i + 1)]; /* the digit of Gray's code that changes next */
  }
}

/* As many digits as the largest index of the batch has: later direction numbers would not be
 * used. */
static void sobol(const target *to) {
  const uint64_t end = to->out->first + to->out->count;
  size_t digits = 1;
  while (digits < SOBOL_BITS && end >> digits != 0)
    digits++;
  size_t place = 0;
  unsigned polynomial = 1;
  for (size_t j = 0; j < to->out->dim; j++) {
    uint16_t m[SOBOL_MOST_DEGREE];
    if (j > 0) polynomial += 2 * (unsigned)(sobol_steps[j - 1] - '1');
    read_numbers(&place, qmc_degree_of(polynomial), m);
    sobol_column(to, j, polynomial, m, digits);
  }
}

/* ------------ Halton */

typedef struct digit_map {
  uint32_t factor, shift;
  uint64_t place; /* value of a 1 here: p^(digits - 1 - k) */
  uint64_t rest;  /* sum of the shifts from here on: all other digits of an index are zeros */
} digit_map;

/* The maps of one column's digits, the first digit behind the point first, as many as
 *   p^digits <= 2^HALTON_BITS
 * allows. */
static size_t fill_maps(const target *to, size_t column, uint32_t prime, digit_map *maps,
                        double *rest) {
  uint64_t bits[2 * HALTON_BITS + 1], whole = 1;
  size_t digits = 0;
  for (; whole <= ((uint64_t)1 << HALTON_BITS) / prime; whole *= prime)
    digits++;
  column_bits(to, column, 2 * digits + 1, bits);
  *rest = ((double)(bits[0] >> (64 - REST_BITS)) + 0.5) * (1.0 / (1 << REST_BITS));
  for (size_t k = 0; k < digits; k++) {
    whole /= prime;
    maps[k].factor = to->self->scramble ? 1 + (uint32_t)draw_below(bits[2 * k + 1], prime - 1) : 1;
    maps[k].shift = (uint32_t)draw_below(bits[2 * k + 2], prime);
    maps[k].place = whole;
  }
  uint64_t sum = 0;
  for (size_t k = digits; k-- > 0;)
    maps[k].rest = sum += maps[k].shift * maps[k].place;
  return digits;
}

/* One coordinate of all points of the batch, in base `prime`. Digits beyond those of the index are
 * 0, and their maps add a constant. */
static void halton_column(const target *to, size_t column, uint32_t prime) {
  digit_map maps[HALTON_BITS];
  double rest;
  const size_t digits = fill_maps(to, column, prime, maps, &rest);
  const double cell = 1 / ((double)maps[0].place * prime);
  for (size_t i = 0; i < to->out->count; i++) {
    uint64_t left = to->out->first + i, point = 0;
    size_t k = 0;
    for (; left != 0 && k < digits; k++, left /= prime)
      point += (left % prime * maps[k].factor + maps[k].shift) % prime * maps[k].place;
    if (k < digits) point += maps[k].rest;
    qmc_put(to, i, column, ((double)point + rest) * cell);
  }
}

/* An upper bound of the count-th prime (Rosser 1941):
 *   p_n < n (log n + log log n), n >= 6. */
static size_t prime_bound(size_t count) {
  const double n = count < 6 ? 6 : (double)count;
  return (size_t)(n * (log(n) + log(log(n)))) + 2;
}

/* Column j uses the j-th prime, found by the sieve of Eratosthenes. */
static scl_status halton(const target *to, scl_error *error) {
  const scl_host *host = to->self->rows.base.host;
  const size_t bound = prime_bound(to->out->dim);
  char *composite = host->scratch(bound);
  if (composite == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the first %zu primes",
                      to->out->dim);
  memset(composite, 0, bound);
  size_t column = 0;
  for (size_t n = 2; column < to->out->dim; n++) {
    if (composite[n]) continue;
    for (size_t multiple = n * n; multiple < bound; multiple += n)
      composite[multiple] = 1;
    halton_column(to, column++, (uint32_t)n);
  }
  return SCL_STATUS_OK;
}

/* ------------ the plugin */

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  enum { MOST_PRIMES = 100000000 };
  const qmc *self = instance;
  const scl_host *host = self->rows.base.host;
  const bool sobol_sequence = self->sequence == SEQUENCE_SOBOL;
  const size_t most = sobol_sequence ? SOBOL_DIMENSIONS : MOST_PRIMES;
  out->flags |= SCL_LAYOUT_DEPENDENT;
  if (sobol_sequence && dim > most)
    return host->fail(error, SCL_STATUS_BAD_SHAPE,
                      "sequence = \"sobol\" takes up to %zu columns, and the data have %zu: "
                      "\"halton\" takes any number",
                      most, dim);
  if (dim == 0 || dim > most)
    return host->fail(error, SCL_STATUS_BAD_SHAPE,
                      "quasi-Monte Carlo rows take 1 to %zu columns, and the data have %zu", most,
                      dim);
  return SCL_STATUS_OK;
}

static scl_status draw_rows(const void *instance, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  const qmc *self = instance;
  const target to = {self, self->rows.base.host->random, draw->address, out};
  if (self->sequence == SEQUENCE_HALTON) return halton(&to, error);
  if (out->first + out->count >= (uint64_t)1 << (SOBOL_BITS - 1))
    return self->rows.base.host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "a Sobol sequence has 2^%d points here, and point %zu was asked for", SOBOL_BITS - 1,
        out->first + out->count);
  sobol(&to);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "qmc",
    .summary = "Quasi-Monte Carlo Gaussian rows: scrambled Sobol or Halton points",
    .definition =
        "s() = gamma and sqrt(2*gamma) or sigma or 1\n"
        /* Halton: digits of t in a prime base, each mapped, behind the point. */
        "prime(n) = (function(p, is)\n"
        "  for k = 2, p - 1 do is = is and p % k > 0 end\n"
        "  return is and p or prime(p) end)(n + 1, true)\n"
        "halton(t, j, p, r) = (function(point, cell, left, whole, k)\n"
        "  while whole <= (1 << 44)//p do\n"
        "    local a = scramble and 1 + r.below(0, j, 2*k - 1, p - 1) or 1\n"
        "    cell, point = cell/p, point + (left % p*a + r.below(0, j, 2*k, p)) % p*cell/p\n"
        "    left, whole, k = left//p, whole*p, k + 1\n"
        "  end\n"
        "  return point + ((r.bits(0, j, 0) >> 56) + 0.5)/256*cell end)(0, 1, t, 1, 1)\n"
        /* Sobol: of columns 0 to 7, whose polynomials and first numbers are from the paper. */
        "kuo(j) = ({ { p = 3, 1 }, { p = 7, 1, 3 }, { p = 11, 1, 3, 1 }, { p = 13, 1, 1, 1 },\n"
        "  { p = 19, 1, 1, 3, 3 }, { p = 25, 1, 3, 5, 13 }, { p = 37, 1, 1, 5, 5, 17 } })[j]\n"
        /* Later numbers follow by the recurrence of the polynomial. */
        "directions(kuo, s) = (function(v)\n"
        "  for k = 1, 30 do\n"
        "    v[k] = kuo == nil and 1 << 52 - k or k <= s and kuo[k] << 52 - k or v[k - s] ~ v[k - "
        "s] >> s\n"
        "    for i = 1, kuo and k > s and s - 1 or 0 do\n"
        "      if kuo.p >> s - i & 1 == 1 then v[k] = v[k] ~ v[k - i] end\n"
        "    end\n"
        "  end\n"
        "  return v end)({})\n"
        /* Random digits below each digit of a direction number. */
        "mixed(v, j, r, k) = (function(all)\n"
        "  for i = 1, k do\n"
        "    local one = 1 << 52 - i\n"
        "    if v & one ~= 0 then all = all ~ (one | r.bits(0, j, i) & one - 1) end\n"
        "  end\n"
        "  return all end)(0)\n"
        "sobol(t, j, r) = (function(point, all)\n"
        "  for k = 1, 30 do\n"
        "    if (t ~ t >> 1) >> k - 1 & 1 == 1 then\n"
        "      point = point ~ (scramble and mixed(all[k], j, r, k) or all[k])\n"
        "    end\n"
        "  end\n"
        "  return (point + 0.5)/2^52 end)(r.bits(0, j, 0) >> 12, directions(kuo(j), #(kuo(j) or "
        "{})))\n"
        /* A point in (0, 1). */
        "u(t, j, p, r) = sequence == \"halton\" and halton(t, j, p, r) or j < 8 and sobol(t, j, r) "
        "or 0/0\n"
        "draw(t, r) = (r.dim < 9 or sequence == \"sobol\") and (function(p)\n"
        "  return map(range(r.dim), function(j)\n"
        "    p = r.dim < 9 and prime(p)\n"
        "    return s()*probit(u(t, j - 1, p, r)) end) end)(1)",
    .doc =
        "w_t = sigma F^-1(u_t), F the normal distribution function, u_t point t of a sequence in\n"
        "[0,1]^d; z = <w, x> + b.\n"
        "  sobol   direction numbers of Joe and Kuo 2008, scrambled by random matrices and shifts\n"
        "          (Matousek 1998)\n"
        "  halton  digits in prime bases, scrambled by random linear maps\n"
        "Randomised by the seed, each row by itself is N(0, sigma^2 I), so every kernel of "
        "Gaussian\n"
        "rows holds without bias; in few columns the error falls faster than T^(-1/2)\n"
        "(Avron, Sindhwani, Yang and Mahoney 2016, Quasi-Monte Carlo feature maps).",
    GAUSSIAN_ROWS_SAMPLER(qmc, SCL_SPACE_DENSE),
    SCL_ABILITIES(GAUSSIAN_ROWS_CHARACTERISTIC)};
