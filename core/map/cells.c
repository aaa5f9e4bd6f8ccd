/* A dictionary of cells: for each grid a hash table with open addressing, whose keys are the names
 * of the cells (words, packed into as few bytes as the grid's numbers need). Rows are named tile by
 * tile; learning visits the rows of each grid in order, so that the numbers of cells do not depend
 * on the number of threads. */
#include "map/cells.h"

#include "base/loops.h"
#include "base/pool.h"
#include "plugin/nonlinearity.h"
#include <math.h>
#include <string.h>

/* A slot of a grid's hash table; entry 0 is empty, else the cell's number plus 1. */
typedef struct slot {
  uint32_t tag, entry;
} slot;

/* The cells of one grid, numbered in the order in which rows first fell into them. Key e is at
 * keys + e words width. */
typedef struct grid {
  slot *table;
  size_t mask, count, room; /* table size - 1, cells, cells that keys has room for */
  unsigned width;           /* bytes a word: 1, 2 or 4 */
  unsigned char *keys;
} grid;

struct scl_cells {
  scl_instance *phi; /* names cells: `words` whole numbers of the dim numbers z of a row */
  size_t dim, grids, words;
  double *shift, *pitch; /* dim x grids each: neighbouring grids adjacent */
  uint32_t *odd;         /* words: factors of the hash */
  grid *grid;            /* grids */
  size_t *start;         /* grids + 1 once settled: the first feature of each grid */
  bool settled;          /* false while cells are learnt, when no feature has a number */
};

enum {
  GROUP = 8,       /* grids whose cells are named together: their numbers are adjacent */
  TILE_ROWS = 64,  /* rows named together */
  FIRST_TABLE = 64 /* slots of a grid's first table, and cells of its first memory for keys */
};

/* ------------ making */

/* An empty dictionary with memory for the grids' numbers, which the caller fills in. */
static scl_status create_blank(scl_instance *phi, size_t dim, size_t grids, size_t words,
                               scl_cells **out, scl_error *error) {
  scl_cells *cells = scl_allocate_zero(sizeof *cells);
  if (cells == NULL) return scl_fail_memory(error, sizeof *cells, "cells");
  cells->phi = scl_instance_share(phi);
  cells->dim = dim;
  cells->grids = grids;
  cells->words = words;
  const size_t numbers = cells->dim * cells->grids;
  cells->shift = scl_allocate_array(numbers + 1, sizeof *cells->shift);
  cells->pitch = scl_allocate_array(numbers + 1, sizeof *cells->pitch);
  cells->odd = scl_allocate_array(cells->words + 1, sizeof *cells->odd);
  cells->grid = scl_allocate_zero((cells->grids + 1) * sizeof *cells->grid);
  cells->start = scl_allocate_zero((cells->grids + 1) * sizeof *cells->start);
  if (!cells->shift || !cells->pitch || !cells->odd || !cells->grid || !cells->start) {
    scl_cells_destroy(cells);
    return scl_fail_memory(error, 2 * numbers * sizeof *cells->shift, "grids");
  }
  for (size_t t = 0; t < grids; t++)
    cells->grid[t].width = 1;
  uint64_t state = 0x9E3779B97F4A7C15u; /* any fixed odd numbers without pattern: they only spread
                                           cells over the table */
  for (size_t k = 0; k < cells->words; k++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    cells->odd[k] = (uint32_t)(state >> 32) | 1u;
  }
  *out = cells;
  return SCL_STATUS_OK;
}

scl_status scl_cells_create(scl_instance *phi, const scl_parameters *grids, scl_cells **out,
                            scl_error *error) {
  size_t words, levels;
  SCL_TRY(scl_nonlinearity_key(phi, grids->dim, &words, &levels, error));
  SCL_TRY(create_blank(phi, grids->dim, grids->count, words, out, error));
  scl_cells *cells = *out;
  for (size_t t = 0; t < cells->grids; t++)
    for (size_t j = 0; j < cells->dim; j++) {
      const double *row = grids->weights + (ptrdiff_t)t * grids->stride;
      cells->pitch[j * cells->grids + t] = row[j];
      cells->shift[j * cells->grids + t] = row[cells->dim + j];
    }
  return SCL_STATUS_OK;
}

scl_status scl_cells_create_empty(const scl_cells *like, scl_cells **out, scl_error *error) {
  const size_t bytes = like->dim * like->grids * sizeof(double);
  SCL_TRY(create_blank(like->phi, like->dim, like->grids, like->words, out, error));
  memcpy((*out)->pitch, like->pitch, bytes);
  memcpy((*out)->shift, like->shift, bytes);
  return SCL_STATUS_OK;
}

void scl_cells_destroy(scl_cells *cells) {
  if (cells == NULL) return;
  for (size_t t = 0; cells->grid != NULL && t < cells->grids; t++) {
    scl_release(cells->grid[t].table);
    scl_release(cells->grid[t].keys);
  }
  SCL_RELEASE(cells->grid, cells->shift, cells->pitch, cells->odd, cells->start);
  scl_instance_release(cells->phi);
  scl_release(cells);
}

size_t scl_cells_count(const scl_cells *cells) {
  return cells->settled ? cells->start[cells->grids] : 0;
}

size_t scl_cells_bytes(const scl_cells *cells) {
  size_t bytes = 0;
  for (size_t t = 0; t < cells->grids; t++)
    bytes += (cells->grid[t].table == NULL ? 0 : (cells->grid[t].mask + 1) * sizeof(slot)) +
             cells->grid[t].room * cells->words * cells->grid[t].width;
  return bytes;
}

/* ------------ keys */

/* Bytes a word that hold all words of a key as signed numbers: 1, 2 or 4. */
static unsigned width_of(size_t words, const int32_t *word) {
  uint32_t bits = 0; /* all magnitudes together */
  for (size_t k = 0; k < words; k++)
    bits |= (uint32_t)(word[k] < 0 ? ~word[k] : word[k]);
  return bits < 128 ? 1 : bits < 32768 ? 2 : 4;
}

/* key = the words as signed numbers of `width` bytes each. The caller makes sure that they fit. */
static void pack_key(size_t words, const int32_t *word, unsigned width, unsigned char *key) {
  if (width == 1)
    for (size_t k = 0; k < words; k++)
      key[k] = (unsigned char)(uint32_t)word[k];
  else if (width == 2)
    for (size_t k = 0; k < words; k++) {
      const uint16_t half = (uint16_t)(uint32_t)word[k];
      memcpy(key + 2 * k, &half, 2);
    }
  else
    memcpy(key, word, words * sizeof *word);
}

/* The words of a packed key. */
static void unpack_key(size_t words, const unsigned char *key, unsigned width, int32_t *word) {
  for (size_t k = 0; k < words; k++) {
    int16_t half;
    if (width == 1)
      word[k] = (int8_t)key[k];
    else if (width == 2)
      memcpy(&half, key + 2 * k, 2), word[k] = half;
    else
      memcpy(&word[k], key + 4 * k, 4);
  }
}

/* A table's hash of a key: the high half of the mixed sum of the key's words times `odd`. */
static uint32_t tag_of(uint64_t sum) {
  sum ^= sum >> 32;
  sum *= 0xD6E8FEB86659FD93u;
  return (uint32_t)(sum >> 32);
}

/* The cell's number, or SIZE_MAX. key holds the packed words in the grid's width. */
static size_t find_key(const grid *g, size_t bytes, uint32_t tag, const unsigned char *key) {
  for (size_t at = tag & g->mask; g->table[at].entry != 0; at = (at + 1) & g->mask)
    if (g->table[at].tag == tag &&
        memcmp(g->keys + (g->table[at].entry - 1) * bytes, key, bytes) == 0)
      return g->table[at].entry - 1;
  return SIZE_MAX;
}

/* Put an entry into the first empty slot from that of its tag on. The table is never full. */
static void place_slot(slot *table, size_t mask, slot what) {
  size_t at = what.tag & mask;
  while (table[at].entry != 0)
    at = (at + 1) & mask;
  table[at] = what;
}

/* Room for one more cell: the table at most two thirds full. */
static scl_status make_room(grid *g, size_t words, scl_error *error) {
  if (g->count == g->room) {
    const size_t room = scl_max(g->room + g->room / 2, FIRST_TABLE), bytes = words * g->width;
    unsigned char *keys = scl_allocate_array(room, bytes);
    if (keys == NULL) return scl_fail_memory(error, room * bytes, "the cells of a grid");
    if (g->count > 0) memcpy(keys, g->keys, g->count * bytes);
    scl_release(g->keys);
    g->keys = keys;
    g->room = room;
  }
  if (g->table != NULL && 3 * (g->count + 1) <= 2 * (g->mask + 1)) return SCL_STATUS_OK;
  const size_t size = g->table == NULL ? FIRST_TABLE : 2 * (g->mask + 1);
  slot *table = size > (size_t)1 << 32 ? NULL : scl_allocate_zero(size * sizeof *table);
  if (table == NULL) return scl_fail_memory(error, size * sizeof *table, "the cells of a grid");
  for (size_t i = 0; g->table != NULL && i <= g->mask; i++)
    if (g->table[i].entry != 0) place_slot(table, size - 1, g->table[i]);
  scl_release(g->table);
  g->table = table;
  g->mask = size - 1;
  return SCL_STATUS_OK;
}

/* Pack all keys again, with more bytes a word. `word` is memory for one key. Tags do not change. */
static scl_status widen_keys(grid *g, size_t words, unsigned width, int32_t *word,
                             scl_error *error) {
  unsigned char *keys = scl_allocate_array(scl_max(g->room, 1), words * width);
  if (keys == NULL) return scl_fail_memory(error, g->room * words * width, "the cells of a grid");
  for (size_t e = 0; e < g->count; e++) {
    unpack_key(words, g->keys + e * words * g->width, g->width, word);
    pack_key(words, word, width, keys + e * words * width);
  }
  scl_release(g->keys);
  g->keys = keys;
  g->width = width;
  return SCL_STATUS_OK;
}

/* ------------ cells of a tile of rows in a group of grids */

/* Arrays of one thread for TILE_ROWS rows and a group of GROUP grids. */
typedef struct tile {
  const scl_cells *cells;
  size_t first, grids; /* the group */
  double *z;           /* dim planes of TILE_ROWS x GROUP */
  int32_t *word;       /* TILE_ROWS x GROUP x words */
  uint32_t *tag;       /* TILE_ROWS x GROUP */
  int32_t *spare;      /* words */
  unsigned char *key;  /* words x 4 bytes */
} tile;

/* Bytes of a tile's arrays, in whole cache lines and one more: no two threads share a line. */
static size_t tile_bytes(const scl_cells *cells) {
  const size_t numbers = (size_t)TILE_ROWS * GROUP;
  const size_t bytes = cells->dim * numbers * sizeof(double) +
                       numbers * cells->words * sizeof(int32_t) + numbers * sizeof(uint32_t) +
                       cells->words * (sizeof(int32_t) + 4);
  return (bytes + 255) / 64 * 64;
}

/* A tile whose arrays are in `memory`, for the group of `grids` grids from `first` on. */
static tile tile_in(const scl_cells *cells, char *memory, size_t first, size_t grids) {
  const size_t numbers = (size_t)TILE_ROWS * GROUP;
  tile t = {.cells = cells, .first = first, .grids = grids, .z = (double *)(void *)memory};
  t.word = (int32_t *)(void *)(t.z + cells->dim * numbers);
  t.tag = (uint32_t *)(void *)(t.word + numbers * cells->words);
  t.spare = (int32_t *)(void *)(t.tag + numbers);
  t.key = (unsigned char *)(t.spare + cells->words);
  return t;
}

/* z of column j for each row, in all grids of the group. A number that repeats the row before, as
 * in one-hot columns, is not computed again. */
static void name_numbers(tile *t, scl_dtype dtype, const void *x, ptrdiff_t x_stride, size_t rows,
                         size_t j) {
  const scl_cells *cells = t->cells;
  const scl_loops *loops = scl_loops_get();
  const double *shift = cells->shift + j * cells->grids + t->first,
               *pitch = cells->pitch + j * cells->grids + t->first;
  double *z = t->z + j * TILE_ROWS * GROUP, last = NAN;
  for (size_t i = 0; i < rows; i++, z += GROUP) {
    const double number = scl_number(scl_at(x, dtype, (ptrdiff_t)i * x_stride), dtype, j);
    if (number == last)
      memcpy(z, z - GROUP, GROUP * sizeof *z);
    else
      loops->cell_f64(t->grids, number, shift, pitch, z);
    last = number;
  }
}

/* Name the cells of at most TILE_ROWS rows of x: fill word and tag of the tile. */
static scl_status name_cells(tile *t, scl_dtype dtype, const void *x, ptrdiff_t x_stride,
                             size_t rows, scl_error *error) {
  const scl_cells *cells = t->cells;
  const scl_loops *loops = scl_loops_get();
  const size_t words = cells->words;
  for (size_t j = 0; j < cells->dim; j++)
    name_numbers(t, dtype, x, x_stride, rows, j);
  const scl_const_block z = {.data = t->z,
                             .dtype = SCL_DTYPE_FLOAT64,
                             .rows = rows,
                             .cols = t->grids,
                             .planes = cells->dim,
                             .row_stride = GROUP,
                             .plane_stride = TILE_ROWS * GROUP};
  SCL_TRY(scl_nonlinearity_categories(cells->phi, &z, t->word, (ptrdiff_t)(GROUP * words), error));
  for (size_t i = 0; i < rows; i++)
    for (size_t g = 0; g < t->grids; g++)
      t->tag[i * GROUP + g] =
          tag_of(loops->hash_i32(words, t->word + (i * GROUP + g) * words, cells->odd));
  return SCL_STATUS_OK;
}

/* Prefetch the slots of a grid's table at which the search for the cells of the rows begins. */
static void prefetch_slots(const tile *t, size_t g, size_t rows) {
  const grid *at = &t->cells->grid[t->first + g];
#if defined(__GNUC__)
  for (size_t i = 0; at->table != NULL && i < rows; i++)
    __builtin_prefetch(&at->table[t->tag[i * GROUP + g] & at->mask]);
#else
  (void)at, (void)rows;
#endif
}

/* Add the cell with these words to a grid, if the grid does not have it. */
static scl_status learn_cell(tile *t, grid *g, const int32_t *word, uint32_t tag,
                             scl_error *error) {
  const size_t words = t->cells->words;
  const unsigned width = width_of(words, word);
  if (width > g->width) SCL_TRY(widen_keys(g, words, width, t->spare, error));
  pack_key(words, word, g->width, t->key);
  const size_t bytes = words * g->width;
  if (g->table != NULL && find_key(g, bytes, tag, t->key) != SIZE_MAX) return SCL_STATUS_OK;
  if (g->count >= INT32_MAX)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "a grid has more than 2^31 - 1 occupied cells");
  SCL_TRY(make_room(g, words, error));
  memcpy(g->keys + g->count * bytes, t->key, bytes);
  place_slot(g->table, g->mask, (slot){tag, (uint32_t)++g->count});
  return SCL_STATUS_OK;
}

/* The feature of a cell, -1 if it was not learnt. */
static int32_t find_cell(tile *t, size_t place_of_grid, const int32_t *word, uint32_t tag) {
  const scl_cells *cells = t->cells;
  const grid *g = &cells->grid[place_of_grid];
  const size_t words = cells->words;
  if (g->count == 0 || width_of(words, word) > g->width) return -1;
  pack_key(words, word, g->width, t->key);
  const size_t cell = find_key(g, words * g->width, tag, t->key);
  return cell == SIZE_MAX ? -1 : (int32_t)(cells->start[place_of_grid] + cell);
}

/* ------------ learning: a task is a group of grids, which sees all rows in order */

/* One call of learn, merge or find, for all tasks. */
typedef struct cells_job {
  scl_cells *learner;     /* NULL: find */
  const scl_cells *cells; /* the same */
  const scl_cells *from;  /* merging */
  scl_dtype dtype;
  const void *x;
  ptrdiff_t x_stride;
  size_t rows, groups; /* groups of GROUP grids, the last one smaller */
  int32_t *columns;    /* finding: rows x grids */
  char *memory;        /* a tile for each thread */
  size_t each;         /* bytes of a tile */
} cells_job;

/* Learn or find the cells of rows first .. first+rows-1 in the tile's group of grids. */
static scl_status visit_rows(const cells_job *job, tile *t, size_t first, size_t rows,
                             scl_error *error) {
  const size_t words = job->cells->words, grids = job->cells->grids;
  const void *x = scl_at(job->x, job->dtype, (ptrdiff_t)first * job->x_stride);
  SCL_TRY(name_cells(t, job->dtype, x, job->x_stride, rows, error));
  for (size_t g = 0; g < t->grids; g++) {
    prefetch_slots(t, g, rows);
    for (size_t i = 0; i < rows; i++) {
      const int32_t *word = t->word + (i * GROUP + g) * words;
      const uint32_t tag = t->tag[i * GROUP + g];
      if (job->learner != NULL)
        SCL_TRY(learn_cell(t, &job->learner->grid[t->first + g], word, tag, error));
      else
        job->columns[(first + i) * grids + t->first + g] = find_cell(t, t->first + g, word, tag);
    }
  }
  return SCL_STATUS_OK;
}

/* Index: a tile of rows (finding alone), then a group of grids. */
static scl_status cells_task(void *context, size_t index, scl_error *error) {
  const cells_job *job = context;
  const size_t first = index % job->groups * GROUP,
               grids = scl_min(GROUP, job->cells->grids - first);
  tile t = tile_in(job->cells, job->memory + scl_pool_worker() * job->each, first, grids);
  const bool learn = job->learner != NULL;
  /* Finding splits the rows too; learning keeps their order. */
  const size_t begin = learn ? 0 : index / job->groups * TILE_ROWS,
               end = learn ? job->rows : scl_min(begin + TILE_ROWS, job->rows);
  for (size_t at = begin; at < end; at += TILE_ROWS)
    SCL_TRY(visit_rows(job, &t, at, scl_min(TILE_ROWS, end - at), error));
  return SCL_STATUS_OK;
}

/* Run `task` for each group of grids, `times` times over, with a tile's memory for each thread. */
static scl_status run_groups(cells_job *job, scl_job task, size_t times, scl_error *error) {
  const size_t threads = scl_pool_threads();
  job->groups = (job->cells->grids + GROUP - 1) / GROUP;
  job->each = tile_bytes(job->cells);
  job->memory = scl_allocate_array(threads, job->each);
  if (job->memory == NULL)
    return scl_fail_memory(error, threads * job->each, "a tile of cells per thread");
  const scl_status status = scl_pool_try(job->groups * times, task, job, error);
  scl_release(job->memory);
  return status;
}

/* Learn the cells of another dictionary, in a group of grids. */
static scl_status merge_task(void *context, size_t index, scl_error *error) {
  const cells_job *job = context;
  const size_t first = index * GROUP, grids = scl_min(GROUP, job->cells->grids - first),
               words = job->cells->words;
  tile t = tile_in(job->cells, job->memory + scl_pool_worker() * job->each, first, grids);
  for (size_t g = 0; g < grids; g++) {
    const grid *from = &job->from->grid[first + g];
    for (size_t e = 0; e < from->count; e++) {
      unpack_key(words, from->keys + e * words * from->width, from->width, t.word);
      const uint32_t tag = tag_of(scl_loops_get()->hash_i32(words, t.word, job->cells->odd));
      SCL_TRY(learn_cell(&t, &job->learner->grid[first + g], t.word, tag, error));
    }
  }
  return SCL_STATUS_OK;
}

scl_status scl_cells_learn(scl_cells *cells, scl_dtype dtype, const void *x, ptrdiff_t x_stride,
                           size_t rows, scl_error *error) {
  cells_job job = {
      .learner = cells, .cells = cells, .dtype = dtype, .x = x, .x_stride = x_stride, .rows = rows};
  cells->settled = false;
  return rows == 0 ? SCL_STATUS_OK : run_groups(&job, cells_task, 1, error);
}

scl_status scl_cells_merge(scl_cells *into, const scl_cells *from, scl_error *error) {
  cells_job job = {.learner = into, .cells = into, .from = from};
  into->settled = false;
  return run_groups(&job, merge_task, 1, error);
}

size_t scl_cells_words(const scl_cells *cells) { return cells->words; }

void scl_cells_export(const scl_cells *cells, int64_t *counts, int32_t *words) {
  for (size_t t = 0; t < cells->grids; t++) {
    const grid *g = &cells->grid[t];
    counts[t] = (int64_t)g->count;
    for (size_t e = 0; e < g->count; e++, words += cells->words)
      unpack_key(cells->words, g->keys + e * cells->words * g->width, g->width, words);
  }
}

scl_status scl_cells_import(scl_cells *cells, const int64_t *counts, const int32_t *words,
                            size_t rows, scl_error *error) {
  const size_t each = cells->words;
  void *memory = scl_allocate(tile_bytes(cells));
  if (memory == NULL) return scl_fail_memory(error, tile_bytes(cells), "a tile of cells");
  tile t = tile_in(cells, memory, 0, 0);
  scl_status status = SCL_STATUS_OK;
  size_t left = rows;
  cells->settled = false;
  for (size_t k = 0; status == SCL_STATUS_OK && k < cells->grids; k++) {
    const bool fits = counts[k] >= 0 && (size_t)counts[k] <= left;
    for (int64_t e = 0; status == SCL_STATUS_OK && fits && e < counts[k]; e++, words += each) {
      const uint32_t tag = tag_of(scl_loops_get()->hash_i32(each, words, cells->odd));
      status = learn_cell(&t, &cells->grid[k], words, tag, error);
    }
    if (status == SCL_STATUS_OK && (!fits || cells->grid[k].count != (size_t)counts[k]))
      status = scl_fail(error, SCL_STATUS_BAD_DATA,
                        "the saved cells of grid %zu are more than there are, or not all different",
                        k + 1);
    left -= fits ? (size_t)counts[k] : 0;
  }
  /* Fewer cells in the counts than rows of words: the file contradicts itself. */
  if (status == SCL_STATUS_OK && left > 0)
    status = scl_fail(error, SCL_STATUS_BAD_DATA, "%zu saved cells are of no grid", left);
  scl_release(memory);
  return status;
}

scl_status scl_cells_settle(scl_cells *cells, scl_error *error) {
  for (size_t t = 0; t < cells->grids; t++)
    cells->start[t + 1] = cells->start[t] + cells->grid[t].count;
  if (cells->start[cells->grids] > INT32_MAX)
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "%zu occupied cells are more than 2^31 - 1 features: fewer grids, or wider cells",
        cells->start[cells->grids]);
  cells->settled = true;
  return SCL_STATUS_OK;
}

scl_status scl_cells_find(const scl_cells *cells, scl_dtype dtype, const void *x,
                          ptrdiff_t x_stride, size_t rows, int32_t *columns, scl_error *error) {
  if (!cells->settled)
    return scl_fail(error, SCL_STATUS_INTERNAL, "cells are asked for before rows were learnt");
  cells_job job = {.cells = cells,
                   .dtype = dtype,
                   .x = x,
                   .x_stride = x_stride,
                   .rows = rows,
                   .columns = columns};
  return run_groups(&job, cells_task, (rows + TILE_ROWS - 1) / TILE_ROWS, error);
}
