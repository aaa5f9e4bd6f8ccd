/* Matrices of bits: storage, copying of rows, and B'B by counting common bits. */
#include "algebra/bits.h"

#include "algebra/bits_count.h"
#include "algebra/symmetric_internal.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include <string.h>

enum { EIGHT = SCL_BITS_COLUMNS };

scl_status scl_bits_create(size_t columns, size_t rows, scl_bits *out, scl_error *error) {
  const size_t apart = scl_bits_words(rows), count = scl_bits_groups(columns) * apart * EIGHT;
  *out = (scl_bits){scl_allocate_zero((count + 1) * sizeof *out->words), columns, apart};
  return out->words == NULL ? scl_fail_memory(error, count * sizeof *out->words, "features as bits")
                            : SCL_STATUS_OK;
}

void scl_bits_release(scl_bits *bits) { SCL_RELEASE(bits->words); }

const char *scl_bits_way(void) { return scl_bits_counter_get()->name; }

/* ------------ copying */

typedef struct copying {
  const scl_bits *from, *to;
  size_t start, count, at;
} copying;

/* out = rows row .. row+63 of a group of eight columns that have `words` words. Rows before the
 * first (row may be negative) and after the last are 0. */
static void take_word(const uint64_t *from, size_t words, ptrdiff_t row, uint64_t out[EIGHT]) {
  const ptrdiff_t word = row >= 0 ? row / SCL_BITS_ROWS : -1;
  const unsigned shift = (unsigned)(row - word * SCL_BITS_ROWS);
  const uint64_t *low = word < 0 ? NULL : from + word * EIGHT,
                 *high = shift > 0 && (size_t)(word + 1) < words ? from + (word + 1) * EIGHT : NULL;
  for (size_t j = 0; j < EIGHT; j++)
    out[j] = low == NULL ? 0 : low[j] >> shift;
  for (size_t j = 0; high != NULL && j < EIGHT; j++)
    out[j] |= high[j] << (SCL_BITS_ROWS - shift);
}

/* Task: copy one group of eight columns. If both runs of rows begin at the same bit of a word,
 * words are copied; else each word of the result is put together from two. The bits before the
 * first row are kept, those after the last are set to 0. */
static void copy_group(void *context, size_t group) {
  const copying *c = context;
  const size_t before = c->at % SCL_BITS_ROWS, end = before + c->count, words = scl_bits_words(end),
               had = scl_bits_words(c->start + c->count);
  const uint64_t *from = scl_bits_at(c->from, group * EIGHT, 0), kept = ((uint64_t)1 << before) - 1;
  uint64_t *to = scl_bits_at(c->to, group * EIGHT, c->at / SCL_BITS_ROWS), old[EIGHT];
  memcpy(old, to, sizeof old);
  if (c->start % SCL_BITS_ROWS == before)
    memcpy(to, from + c->start / SCL_BITS_ROWS * EIGHT, words * EIGHT * sizeof *to);
  else
    for (size_t w = 0; w < words; w++)
      take_word(from, had, (ptrdiff_t)(c->start + w * SCL_BITS_ROWS) - (ptrdiff_t)before,
                to + w * EIGHT);
  for (size_t j = 0; before > 0 && j < EIGHT; j++)
    to[j] = (to[j] & ~kept) | (old[j] & kept);
  for (size_t j = 0; end % SCL_BITS_ROWS > 0 && j < EIGHT; j++)
    to[(words - 1) * EIGHT + j] &= ((uint64_t)1 << end % SCL_BITS_ROWS) - 1;
}

void scl_bits_copy(const scl_bits *from, size_t start, size_t count, const scl_bits *to,
                   size_t at) {
  copying job = {from, to, start, count, at};
  if (count > 0) scl_pool_run(scl_bits_groups(from->columns), copy_group, &job);
}

/* ------------ selecting */

/* The bits of a word that a mask selects move to its lower end in STEPS steps: in step k those of
 * move[k] by 2^k places (Warren, Hacker's Delight, 7-4). */
enum { STEPS = 6 };

typedef struct selected_word {
  uint64_t mask, move[STEPS];
  unsigned rows;
} selected_word;

typedef struct selecting {
  const scl_bits *from, *to;
  selected_word *words;
  size_t count;
} selecting;

static void find_moves(uint64_t mask, uint64_t move[STEPS]) {
  uint64_t zeros = ~mask << 1; /* places below a bit, of which steps count those that are 0 */
  for (unsigned k = 0; k < STEPS; k++) {
    uint64_t odd = zeros;
    for (unsigned by = 1; by < SCL_BITS_ROWS; by *= 2)
      odd ^= odd << by;
    move[k] = odd & mask;
    mask = (mask ^ move[k]) | move[k] >> (1u << k);
    zeros &= ~odd;
  }
}

/* Task: the rows of one group of eight columns. */
static void select_group(void *context, size_t group) {
  const selecting *s = context;
  const uint64_t *from = scl_bits_at(s->from, group * EIGHT, 0);
  uint64_t *to = scl_bits_at(s->to, group * EIGHT, 0), open[EIGHT] = {0};
  unsigned at = 0; /* rows in `open` */
  for (const selected_word *word = s->words; word < s->words + s->count; word++, from += EIGHT) {
    const unsigned both = at + word->rows;
    uint64_t x[EIGHT];
    if (word->rows == 0) continue;
    for (size_t j = 0; j < EIGHT; j++)
      x[j] = from[j] & word->mask;
    for (unsigned k = 0; k < STEPS; k++)
      for (size_t j = 0; j < EIGHT; j++) {
        const uint64_t moved = x[j] & word->move[k];
        x[j] = (x[j] ^ moved) | moved >> (1u << k);
      }
    for (size_t j = 0; j < EIGHT; j++)
      open[j] |= x[j] << at;
    at = both % SCL_BITS_ROWS;
    if (both < SCL_BITS_ROWS) continue;
    memcpy(to, open, sizeof open);
    to += EIGHT;
    for (size_t j = 0; j < EIGHT; j++)
      open[j] = at == 0 ? 0 : x[j] >> (word->rows - at);
  }
  if (at > 0) memcpy(to, open, sizeof open);
}

scl_status scl_bits_select(const scl_bits *from, const uint64_t *mask, size_t words,
                           const scl_bits *to, size_t *rows, scl_error *error) {
  selecting job = {from, to, scl_allocate_array(words + 1, sizeof *job.words), words};
  if (job.words == NULL) return scl_fail_memory(error, words * sizeof *job.words, "rows of bits");
  *rows = 0;
  for (size_t w = 0; w < words; w++) {
    job.words[w].mask = mask[w];
    job.words[w].rows = (unsigned)__builtin_popcountll(mask[w]);
    find_moves(mask[w], job.words[w].move);
    *rows += job.words[w].rows;
  }
  scl_pool_run(scl_bits_groups(from->columns), select_group, &job);
  scl_release(job.words);
  return SCL_STATUS_OK;
}

/* ------------ B'B
 *
 * A task is a tile of the matrix, done in pieces of PIECE x PIECE counts that stay in cache while
 * all words go by. */

enum { PIECE = 128, PIECE_GROUPS = PIECE / EIGHT };

/* Memory of one thread: widened columns of both sides, and the counts of a piece. */
typedef struct desk {
  uint64_t *left, *right;
  uint32_t counts[PIECE * PIECE];
} desk;

typedef struct counting {
  const scl_bits_part *parts;
  size_t n_parts;
  const scl_bits_counter *counter;
  scl_symmetric *a;
  desk *desks;
} counting;

/* The words of a group from `word` on in the form that the counter takes: in place, or widened into
 * `room`. */
static const uint64_t *widened_words(const scl_bits_counter *counter, const scl_bits *bits,
                                     size_t group, size_t word, size_t words, uint64_t *room) {
  const uint64_t *from = scl_bits_at(bits, group * EIGHT, word);
  if (counter->widened == 0) return from;
  counter->widen(words, from, room);
  return room;
}

/* The counts of columns first_row .. +rows and first_col .. +cols, both multiples of eight, in
 * words word .. +words. */
static void count_words(const scl_bits_counter *counter, const scl_bits *bits, desk *d,
                        size_t first_row, size_t rows, size_t first_col, size_t cols, size_t word,
                        size_t words) {
  const size_t apart = words * counter->widened * EIGHT;
  const uint64_t *right[PIECE_GROUPS];
  for (size_t j = 0; j < scl_bits_groups(cols); j++)
    right[j] =
        widened_words(counter, bits, first_col / EIGHT + j, word, words, d->right + j * apart);
  for (size_t i = 0; i < scl_bits_groups(rows); i++) {
    const uint64_t *left =
        widened_words(counter, bits, first_row / EIGHT + i, word, words, d->left);
    for (size_t j = 0; j < scl_bits_groups(cols) && first_col + j * EIGHT <= first_row + i * EIGHT;
         j++)
      counter->count(words, left, right[j], d->counts + i * EIGHT * PIECE + j * EIGHT, PIECE);
  }
}

/* out (rows x cols of a tile) += factor times the counts of one part, in runs of as many words as
 * the counter takes. Both first indices are multiples of eight. */
static void count_piece(const counting *job, const scl_bits_part *part, desk *d, size_t first_row,
                        size_t rows, size_t first_col, size_t cols, double *out) {
  const size_t most = job->counter->most == 0 ? part->count : job->counter->most;
  if (part->count == 0) return;
  memset(d->counts, 0, sizeof d->counts);
  for (size_t at = 0; at < part->count; at += most)
    count_words(job->counter, part->bits, d, first_row, rows, first_col, cols, part->first + at,
                scl_min(most, part->count - at));
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      out[i * job->a->tile + j] += part->factor * (double)d->counts[i * PIECE + j];
}

/* Task: one tile of the matrix, piece by piece; of a diagonal tile the pieces up to the
 * diagonal. */
static void count_tile(void *context, size_t index) {
  const counting *job = context;
  const scl_symmetric *a = job->a;
  size_t row, col;
  scl_tile_place(a, index, &row, &col);
  const size_t rows = scl_tile_rows(a, row), cols = scl_tile_rows(a, col);
  for (size_t i = 0; i < rows; i += PIECE)
    for (size_t j = 0; j < (row == col ? scl_min(cols, i + PIECE) : cols); j += PIECE)
      for (size_t p = 0; p < job->n_parts; p++)
        count_piece(job, job->parts + p, job->desks + scl_pool_worker(), row * a->tile + i,
                    scl_min(PIECE, rows - i), col * a->tile + j, scl_min(PIECE, cols - j),
                    scl_tile_at(a, row, col) + i * a->tile + j);
}

scl_status scl_bits_gram(const scl_bits_part *parts, size_t n_parts, scl_symmetric *a,
                         scl_error *error) {
  const scl_bits_counter *counter = scl_bits_counter_get();
  const size_t threads = scl_pool_threads(), wide = counter->most * counter->widened * EIGHT,
               each = (PIECE_GROUPS + 1) * wide;
  desk *desks = scl_allocate_array(threads, sizeof *desks);
  uint64_t *room = scl_allocate_array(threads * each + 1, sizeof *room);
  scl_status status = SCL_STATUS_OK;
  if (desks == NULL || room == NULL) {
    status = scl_fail_memory(error, threads * (sizeof *desks + each * sizeof *room), "counts");
  } else {
    for (size_t t = 0; t < threads; t++) {
      desks[t].left = room + t * each;
      desks[t].right = desks[t].left + wide;
    }
    counting job = {parts, n_parts, counter, a, desks};
    scl_pool_run_interruptible(scl_tile_count(a), count_tile, &job);
    status = scl_interrupt_check(error);
  }
  SCL_RELEASE(desks, room);
  return status;
}
