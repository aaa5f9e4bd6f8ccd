#include "shared/csr_rows.h"

scl_status csr_read(const scl_problem *problem, scl_const_csr *out, scl_error *error) {
  if (!SCL_HAS(problem, sparse_rows) || problem->sparse_rows == NULL)
    return problem->host->fail(error, SCL_STATUS_UNSUPPORTED,
                               "this host gives no sparse rows as a whole");
  return problem->sparse_rows(problem, out, error);
}

void csr_squares(const scl_const_csr *x, double *squares) {
  for (size_t i = 0; i < x->rows; i++) {
    squares[i] = 0;
    for (int64_t k = x->starts[i]; k < x->starts[i + 1]; k++)
      squares[i] += scl_csr_number(x, k) * scl_csr_number(x, k);
  }
}

/* ------------ all rows */

/* Rows of a task. */
enum { CSR_TASK = 4096 };

typedef struct csr_job {
  const scl_const_csr *x;
  const double *a;
  double *out;
  size_t k;
} csr_job;

/* Products of the rows of one task with all k columns of a. */
static scl_status csr_product_task(void *context, size_t task, scl_error *error) {
  const csr_job *job = context;
  const size_t first = task * CSR_TASK,
               end = first + CSR_TASK < job->x->rows ? first + CSR_TASK : job->x->rows;
  (void)error;
  for (size_t i = first; i < end; i++)
    csr_scores(job->x, i, job->a, job->k, job->out + i * job->k);
  return SCL_STATUS_OK;
}

scl_status csr_product(const scl_host *host, const scl_const_csr *x, const double *a, size_t k,
                       double *out, scl_error *error) {
  csr_job job = {.x = x, .a = a, .out = out, .k = k};
  return host->parallel((x->rows + CSR_TASK - 1) / CSR_TASK, csr_product_task, &job, error);
}

scl_status csr_scores_of(const scl_problem *problem, const scl_solution *solution, double *scores,
                         scl_error *error) {
  const size_t c = problem->targets;
  scl_const_csr x;
  scl_status status = csr_read(problem, &x, error);
  if (status == SCL_STATUS_OK)
    status = csr_product(problem->host, &x, solution->coefficients, c, scores, error);
  for (size_t i = 0; status == SCL_STATUS_OK && problem->intercept && i < problem->rows * c; i++)
    scores[i] += solution->intercept[i % c];
  return status;
}

/* ------------ sums over rows */

/* Parts at most; what adding a part's sums may cost: entries for each of its numbers. */
enum { CSR_PARTS = 8, CSR_SHARE = 8 };

scl_status csr_sums_open(csr_sums *s, const scl_host *host, const scl_const_csr *x, size_t size,
                         scl_error *error) {
  const size_t entries = x->rows == 0 ? 0 : (size_t)(x->starts[x->rows] - x->starts[0]),
               parts = entries / CSR_SHARE / (size + 1);
  *s = (csr_sums){.host = host, .x = x, .size = size};
  s->parts = parts < 1 ? 1 : parts > CSR_PARTS ? CSR_PARTS : parts;
  s->room = host->scratch((s->parts * size + 1) * sizeof *s->room);
  if (s->room != NULL) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for sums of %zu numbers", size);
}

typedef struct csr_sums_job {
  const csr_sums *s;
  csr_sum sum;
  const void *context;
} csr_sums_job;

/* Parts have about equally many entries. */
static size_t csr_cut(const csr_sums *s, size_t part) {
  const scl_const_csr *x = s->x;
  size_t low = 0, high = x->rows;
  const int64_t first = x->rows == 0 ? 0 : x->starts[0],
                all = x->rows == 0 ? 0 : x->starts[x->rows] - first,
                at = first + all / (int64_t)s->parts * (int64_t)part;
  if (part == s->parts) return x->rows;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (x->starts[middle] < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The sums of one part, in memory of its own: they are added in the order of parts. */
static scl_status csr_sums_task(void *context, size_t part, scl_error *error) {
  const csr_sums_job *job = context;
  const csr_sums *s = job->s;
  double *sums = s->room + part * s->size;
  (void)error;
  memset(sums, 0, s->size * sizeof *sums);
  job->sum(job->context, s->x, csr_cut(s, part), csr_cut(s, part + 1), sums);
  return SCL_STATUS_OK;
}

scl_status csr_sums_make(const csr_sums *s, csr_sum sum, const void *context, double *out,
                         scl_error *error) {
  csr_sums_job job = {.s = s, .sum = sum, .context = context};
  const scl_status status = s->host->parallel(s->parts, csr_sums_task, &job, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(out, s->room, s->size * sizeof *out);
  for (size_t part = 1; part < s->parts; part++)
    for (size_t j = 0; j < s->size; j++)
      out[j] += s->room[part * s->size + j];
  return SCL_STATUS_OK;
}
