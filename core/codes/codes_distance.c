/* Hamming distances of packed codes: the counting loops for each instruction set, all pairwise
 * distances, and the k nearest rows. */
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include "codes/codes_internal.h"

#include <stdatomic.h>

#if defined(__GNUC__) && defined(__x86_64__)
#define X86 1
#include <immintrin.h>
#else
#define X86 0
#endif
#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/* ------------ counting: one row against groups of eight, several ways */

/* out[8 g + r] = the number of positions in which row r of group g differs from the query. */
typedef void (*count_groups)(const uint64_t *groups, size_t count, const uint64_t *query,
                             size_t planes, size_t plane_words, uint32_t *out);

/* The positions (one bit each) in which one word of a row differs from the query in any plane. */
ALWAYS_INLINE uint64_t differing(const uint64_t *word, const uint64_t *query, size_t planes,
                                 size_t plane_words) {
  uint64_t any = *word ^ *query;
  for (size_t p = 1; p < planes; p++)
    any |= word[p * plane_words * SCL_CODES_LANES] ^ query[p * plane_words];
  return any;
}

/* The number of ones of a word: sums of neighbouring bits, then of pairs, then of fours; the
 * product adds the eight bytes into the highest one. */
ALWAYS_INLINE uint64_t ones_plain(uint64_t x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

ALWAYS_INLINE uint64_t ones(uint64_t x, bool by_instruction) {
#if X86
  if (by_instruction) return (uint64_t)__builtin_popcountll(x);
#else
  (void)by_instruction;
#endif
  return ones_plain(x);
}

/* The reference loop. The compiler resolves `by_instruction`, a constant in each of the functions
 * that this one is inlined into. */
ALWAYS_INLINE void count_by(bool by_instruction, const uint64_t *groups, size_t count,
                            const uint64_t *query, size_t planes, size_t plane_words,
                            uint32_t *out) {
  for (size_t g = 0; g < count; g++, groups += planes * plane_words * SCL_CODES_LANES)
    for (size_t r = 0; r < SCL_CODES_LANES; r++) {
      uint64_t sum = 0;
      for (size_t w = 0; w < plane_words; w++)
        sum += ones(differing(groups + w * SCL_CODES_LANES + r, query + w, planes, plane_words),
                    by_instruction);
      out[g * SCL_CODES_LANES + r] = (uint32_t)sum;
    }
}

static void count_plain(const uint64_t *groups, size_t count, const uint64_t *query, size_t planes,
                        size_t plane_words, uint32_t *out) {
  count_by(false, groups, count, query, planes, plane_words, out);
}

#if X86
__attribute__((target("popcnt"))) static void count_popcnt(const uint64_t *groups, size_t count,
                                                           const uint64_t *query, size_t planes,
                                                           size_t plane_words, uint32_t *out) {
  count_by(true, groups, count, query, planes, plane_words, out);
}

/* The counts of four rows for one word of the query: a table look-up gives the number of ones of
 * each half byte, and the bytes of a row are added. */
__attribute__((target("avx2"), always_inline)) static inline __m256i
count_four(const uint64_t *word, const uint64_t *query, size_t planes, size_t plane_words) {
  const __m256i table = _mm256_broadcastsi128_si256(
                    _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)),
                low = _mm256_set1_epi8(15);
  __m256i any = _mm256_setzero_si256();
  for (size_t p = 0; p < planes; p++) {
    const void *at = word + p * plane_words * SCL_CODES_LANES;
    const __m256i asked = _mm256_set1_epi64x((long long)query[p * plane_words]);
    any = _mm256_or_si256(any, _mm256_xor_si256(_mm256_loadu_si256(at), asked));
  }
  const __m256i right = _mm256_and_si256(any, low),
                left = _mm256_and_si256(_mm256_srli_epi16(any, 4), low),
                bytes = _mm256_add_epi8(_mm256_shuffle_epi8(table, right),
                                        _mm256_shuffle_epi8(table, left));
  return _mm256_sad_epu8(bytes, _mm256_setzero_si256());
}

/* Two vectors of four 64-bit counts for the eight rows of a group. */
__attribute__((target("avx2"))) static void count_avx2(const uint64_t *groups, size_t count,
                                                       const uint64_t *query, size_t planes,
                                                       size_t plane_words, uint32_t *out) {
  for (size_t g = 0; g < count; g++, groups += planes * plane_words * SCL_CODES_LANES) {
    __m256i first = _mm256_setzero_si256(), second = first;
    uint64_t sums[SCL_CODES_LANES];
    for (size_t w = 0; w < plane_words; w++) {
      const uint64_t *word = groups + w * SCL_CODES_LANES;
      first = _mm256_add_epi64(first, count_four(word, query + w, planes, plane_words));
      second = _mm256_add_epi64(second, count_four(word + 4, query + w, planes, plane_words));
    }
    _mm256_storeu_si256((void *)sums, first);
    _mm256_storeu_si256((void *)(sums + 4), second);
    for (size_t r = 0; r < SCL_CODES_LANES; r++)
      out[g * SCL_CODES_LANES + r] = (uint32_t)sums[r];
  }
}

/* One vector of eight 64-bit counts, by the instruction that counts the ones of each word. */
__attribute__((target("avx512f,avx512vpopcntdq"))) static void
count_avx512(const uint64_t *groups, size_t count, const uint64_t *query, size_t planes,
             size_t plane_words, uint32_t *out) {
  for (size_t g = 0; g < count; g++, groups += planes * plane_words * SCL_CODES_LANES) {
    __m512i sum = _mm512_setzero_si512();
    for (size_t w = 0; w < plane_words; w++) {
      const uint64_t *word = groups + w * SCL_CODES_LANES, *asked = query + w;
      __m512i any =
          _mm512_xor_si512(_mm512_loadu_si512(word), _mm512_set1_epi64((long long)*asked));
      for (size_t p = 1; p < planes; p++) {
        const __m512i other = _mm512_set1_epi64((long long)asked[p * plane_words]);
        any = _mm512_or_si512(
            any,
            _mm512_xor_si512(_mm512_loadu_si512(word + p * plane_words * SCL_CODES_LANES), other));
      }
      sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(any));
    }
    /* Eight 64-bit counts to 32 bits: a count is at most the number of columns. */
    _mm256_storeu_si256((__m256i *)(void *)(out + g * SCL_CODES_LANES), _mm512_cvtepi64_epi32(sum));
  }
}

/* Whether this machine has the instructions, and the instruction sets that the user allows
 * (scl_loops_allow) include them. */
static bool has_popcnt(void) { return scl_loops_allow("avx2") && __builtin_cpu_supports("popcnt"); }
static bool has_avx2(void) { return scl_loops_allow("avx2") && __builtin_cpu_supports("avx2"); }
static bool has_avx512(void) {
  return scl_loops_allow("avx512") && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

/* From the plainest to the fastest. A machine that supports one also supports all before it. */
static const struct {
  const char *name;
  count_groups count;
  bool (*works)(void); /* whether this machine supports it */
} ways[] = {
    {"plain", count_plain, NULL}, /* works on every machine */
#if X86
    {"popcnt", count_popcnt, has_popcnt},
    {"avx2", count_avx2, has_avx2},
    {"avx512", count_avx512, has_avx512},
#endif
};

static atomic_size_t chosen_way = SIZE_MAX; /* SIZE_MAX: the fastest */

size_t scl_codes_ways(void) {
  size_t count = 1;
  while (count < sizeof ways / sizeof *ways && ways[count].works())
    count++;
  return count;
}

const char *scl_codes_way_name(size_t way) { return ways[way].name; }

void scl_codes_use_way(size_t way) { atomic_store(&chosen_way, way); }

/* ------------ a tile: some queries against a range of rows */

/* Queries of a tile; rows that are counted at a time (PIECE), and rows of a task (SPAN). */
enum { TILE = 16, PIECE_GROUPS = 128, PIECE = PIECE_GROUPS * SCL_CODES_LANES, SPAN = 16 * PIECE };

/* For each thread its own memory for the queries of a tile, one after another. */
typedef struct scratch {
  uint64_t *queries;
  size_t words; /* for one thread */
} scratch;

/* Memory for the queries of a tile, for each thread of the pool. The caller releases
 * out->queries. */
static scl_status make_scratch(const scl_codes *queries, scratch *out, scl_error *error) {
  out->words = TILE * scl_codes_row_words(queries);
  out->queries = scl_allocate_array(out->words * scl_pool_threads(), sizeof *out->queries);
  return out->queries == NULL
             ? scl_fail_memory(error, out->words * scl_pool_threads() * sizeof *out->queries,
                               "codes")
             : SCL_STATUS_OK;
}

/* One query's distances to rows [first, first + count) of `codes`, first a multiple of 8. */
typedef void (*take_counts)(void *context, size_t query, size_t first, size_t count,
                            const uint32_t *distance);

/* Queries first_query .. first_query+n_queries-1 against rows first_row .. last_row-1 of
 * `codes`. */
typedef struct tile {
  const scl_codes *codes, *queries;
  size_t first_query, n_queries, first_row, last_row;
  take_counts take;
  void *context;
} tile;

/* Call t->take with the distances of the tile. Rows are taken in pieces of at most 32 KiB, which
 * stay in the cache while all queries of the tile are compared with them. */
static void walk_tile(const tile *t, const scratch *memory) {
  const scl_codes *codes = t->codes;
  const size_t words = scl_codes_row_words(codes), group_words = scl_codes_group_words(codes);
  uint64_t *queries = memory->queries + memory->words * scl_pool_worker();
  uint32_t distance[PIECE];
  for (size_t i = 0; i < t->n_queries; i++)
    scl_codes_get_row(t->queries, t->first_query + i, queries + i * words);
  const count_groups count_all =
      ways[scl_min(atomic_load(&chosen_way), scl_codes_ways() - 1)].count;
  const size_t piece_groups =
      scl_max(1, scl_min(PIECE_GROUPS, ((size_t)32 << 10) / (group_words * sizeof(uint64_t))));
  for (size_t first = t->first_row; first < t->last_row && !scl_interrupted();
       first += piece_groups * SCL_CODES_LANES) {
    const size_t count = scl_min(piece_groups * SCL_CODES_LANES, t->last_row - first);
    const size_t groups = (count + SCL_CODES_LANES - 1) / SCL_CODES_LANES;
    for (size_t i = 0; i < t->n_queries; i++) {
      count_all(codes->words + first / SCL_CODES_LANES * group_words, groups, queries + i * words,
                codes->planes, codes->plane_words, distance);
      t->take(t->context, t->first_query + i, first, count, distance);
    }
  }
}

/* count / each, rounded up. */
static size_t parts_of(size_t count, size_t each) { return (count + each - 1) / each; }

/* Codes are comparable only if they have the same number of numbers and of levels. */
static scl_status check_alike(const scl_codes *a, const scl_codes *b, scl_error *error) {
  if (a->cols != b->cols)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "codes of %zu and of %zu numbers cannot be compared", a->cols, b->cols);
  if (a->levels != b->levels)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "codes of %zu and of %zu levels cannot be compared", a->levels, b->levels);
  return SCL_STATUS_OK;
}

/* ------------ all distances */

typedef struct comparing {
  const scl_codes *a, *b;
  scl_matrix *out;
  scratch memory;
  bool agree;
} comparing;

/* Take counts: row `query` of the result, from column `first`. */
static void write_shares(void *context, size_t query, size_t first, size_t count,
                         const uint32_t *distance) {
  const comparing *c = context;
  const double cols = (double)c->a->cols;
  double *out = scl_matrix_row(c->out, query) + first;
  for (size_t r = 0; r < count; r++)
    out[r] = (c->agree ? cols - distance[r] : distance[r]) / cols;
}

/* A task of the pool: TILE rows of a against SPAN rows of b. Tasks write disjoint blocks of out. */
static void compare_tile(void *context, size_t index) {
  comparing *c = context;
  const size_t spans = parts_of(c->b->rows, SPAN), first = index / spans * TILE,
               row = index % spans * SPAN;
  const tile t = {c->b,         c->a,
                  first,        scl_min(TILE, c->a->rows - first),
                  row,          scl_min(row + SPAN, c->b->rows),
                  write_shares, c};
  walk_tile(&t, &c->memory);
}

scl_status scl_codes_compare(const scl_codes *a, const scl_codes *b, bool agree, scl_matrix *out,
                             scl_error *error) {
  SCL_TRY(check_alike(a, b, error));
  comparing c = {.a = a, .b = b, .out = out, .agree = agree};
  SCL_TRY(make_scratch(a, &c.memory, error));
  scl_pool_run(parts_of(a->rows, TILE) * parts_of(b->rows, SPAN), compare_tile, &c);
  scl_release(c.memory.queries);
  return scl_interrupt_check(error);
}

/* ------------ nearest rows */

/* The least keys so far, at most `most` of them, as a binary heap with the greatest key first. A
 * key is distance * 2^32 + row, so that the earlier row wins among equal distances. */
typedef struct heap {
  uint64_t *keys;
  size_t count, most;
} heap;

/* Restore the heap order below entry `at`, after its key became smaller. */
static void sift_down(uint64_t *keys, size_t count, size_t at) {
  const uint64_t key = keys[at];
  for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
    if (child + 1 < count && keys[child + 1] > keys[child]) child++;
    if (keys[child] <= key) break;
    keys[at] = keys[child];
  }
  keys[at] = key;
}

/* Insert a key while there is room; afterwards it replaces the greatest key if it is less. */
static void offer_key(heap *h, uint64_t key) {
  if (h->count < h->most) {
    size_t at = h->count++; /* parents that are less move down, until the key has its place */
    for (; at > 0 && h->keys[(at - 1) / 2] < key; at = (at - 1) / 2)
      h->keys[at] = h->keys[(at - 1) / 2];
    h->keys[at] = key;
  } else if (key < h->keys[0]) {
    h->keys[0] = key;
    sift_down(h->keys, h->count, 0);
  }
}

/* Sort the keys in place, ascending (heap sort). */
static void sort_heap(heap *h) {
  for (size_t left = h->count; left > 1; left--) {
    const uint64_t greatest = h->keys[0];
    h->keys[0] = h->keys[left - 1];
    h->keys[left - 1] = greatest;
    sift_down(h->keys, left - 1, 0);
  }
}

typedef struct looking {
  const scl_codes *codes, *queries;
  size_t k, parts, part_rows; /* rows are divided into `parts` parts of part_rows rows */
  heap *heaps;                /* queries x parts */
  uint64_t *keys;             /* the memory of all heaps */
  scratch memory;
  scl_matrix *index, *distance;
} looking;

/* One task's part of the rows, as the context of offer_counts. */
typedef struct part {
  looking *all;
  size_t number;
} part;

/* Take counts: offer each row to the heap of this query and part. Only one task has that heap, so
 * no lock is needed. */
static void offer_counts(void *context, size_t query, size_t first, size_t count,
                         const uint32_t *distance) {
  const part *p = context;
  heap *h = &p->all->heaps[query * p->all->parts + p->number];
  size_t r = 0;
  for (; r < count && h->count < h->most; r++)
    offer_key(h, (uint64_t)distance[r] << 32 | (first + r));
  /* Rows come in ascending order: a row at a distance equal to the greatest in the heap loses. */
  uint32_t limit = (uint32_t)(h->keys[0] >> 32);
  for (; r < count; r++) {
    if (distance[r] >= limit) continue;
    offer_key(h, (uint64_t)distance[r] << 32 | (first + r));
    limit = (uint32_t)(h->keys[0] >> 32);
  }
}

/* A task of the pool: TILE queries against one part of the rows. */
static void look_tile(void *context, size_t index) {
  looking *l = context;
  part p = {l, index % l->parts};
  const size_t first = index / l->parts * TILE, row = p.number * l->part_rows;
  const tile t = {l->codes,     l->queries,
                  first,        scl_min(TILE, l->queries->rows - first),
                  row,          scl_min(row + l->part_rows, l->codes->rows),
                  offer_counts, &p};
  walk_tile(&t, &l->memory);
}

/* Merge the heaps of all parts of one query into the first, sort it and write row `query` of the
 * results. */
static void write_nearest(void *context, size_t query) {
  const looking *l = context;
  heap *all = &l->heaps[query * l->parts];
  if (scl_interrupted()) return;
  all->most = l->k; /* make_heaps gave the first part room for k keys */
  for (size_t p = 1; p < l->parts; p++)
    for (size_t i = 0; i < all[p].count; i++)
      offer_key(all, all[p].keys[i]);
  sort_heap(all);
  for (size_t i = 0; i < l->k; i++) {
    scl_matrix_set(l->index, query, i, (double)(all->keys[i] & UINT32_MAX) + 1);
    scl_matrix_set(l->distance, query, i, (double)(all->keys[i] >> 32) / (double)l->codes->cols);
  }
}

/* With many queries each task scans all rows. With few, rows are divided into parts, so that every
 * thread has work; a part is a multiple of 8 rows, and at least SPAN. */
static void plan_parts(looking *l) {
  const size_t tiles = parts_of(l->queries->rows, TILE), threads = scl_pool_threads();
  const size_t wanted = tiles >= 4 * threads || threads == 1 ? 1 : 4 * threads;
  const size_t rows = parts_of(l->codes->rows, wanted);
  l->part_rows = scl_max(SPAN, parts_of(rows, SCL_CODES_LANES) * SCL_CODES_LANES);
  l->parts = parts_of(l->codes->rows, l->part_rows);
}

/* Heaps of min(k, part_rows) keys for each query and part; the first part of a query has room for
 * k, into which write_nearest merges the others. The caller releases l->heaps and l->keys, also
 * after a failure. */
static scl_status make_heaps(looking *l, scl_error *error) {
  const size_t each = scl_min(l->k, l->part_rows), query_keys = l->k + (l->parts - 1) * each,
               queries = l->queries->rows;
  l->heaps = scl_allocate_array(queries * l->parts, sizeof *l->heaps);
  l->keys = scl_allocate_array(queries, query_keys * sizeof *l->keys);
  if (l->heaps == NULL || l->keys == NULL)
    return scl_fail_memory(error, queries * query_keys * sizeof *l->keys, "the nearest codes");
  for (size_t q = 0; q < queries; q++)
    for (size_t p = 0; p < l->parts; p++)
      l->heaps[q * l->parts + p] =
          (heap){l->keys + q * query_keys + (p == 0 ? 0 : l->k + (p - 1) * each), 0, each};
  return SCL_STATUS_OK;
}

scl_status scl_codes_nearest(const scl_codes *codes, const scl_codes *queries, size_t k,
                             scl_matrix *index, scl_matrix *distance, scl_error *error) {
  SCL_TRY(check_alike(codes, queries, error));
  if (k < 1 || k > codes->rows)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "'k' got %zu; it takes a whole number from 1 to %zu, the number of codes", k,
                    codes->rows);
  looking l = {.codes = codes, .queries = queries, .k = k, .index = index, .distance = distance};
  plan_parts(&l);
  scl_status status = make_heaps(&l, error);
  if (status == SCL_STATUS_OK) status = make_scratch(queries, &l.memory, error);
  if (status == SCL_STATUS_OK) {
    scl_pool_run(parts_of(queries->rows, TILE) * l.parts, look_tile, &l);
    /* After an interrupt the heaps may have fewer than k keys, and nothing is written. */
    if (!scl_interrupted()) scl_pool_run(queries->rows, write_nearest, &l);
    status = scl_interrupt_check(error);
  }
  SCL_RELEASE(l.heaps, l.keys, l.memory.queries);
  return status;
}
