/* L-BFGS for all targets at once: a sweep an iteration (shared/lbfgs.h). */
#include "shared/erm.h"

scl_status erm_lbfgs(erm_machine *m, double tolerance, scl_error *error) {
  scl_solution out = {.head = SCL_HEAD(scl_solution)};
  scl_status status = SCL_STATUS_OK;
  if (m->steps >= m->self->max_iterations) return SCL_STATUS_OK;
  if (m->lbfgs.risk == NULL) status = lbfgs_open(&m->lbfgs, &m->risk, error);
  m->lbfgs.pairs = m->lbfgs.next = 0;
  if (status == SCL_STATUS_OK)
    status = lbfgs_minimise(&m->lbfgs, m->x, m->risk.size, m->unit, tolerance,
                            m->self->max_iterations - m->steps, &out, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(m->x, m->lbfgs.x, m->risk.size * sizeof *m->x);
  memcpy(m->scores, m->lbfgs.scores, m->risk.scores * sizeof *m->scores);
  memcpy(m->gradient, m->lbfgs.gradient, m->risk.size * sizeof *m->gradient);
  m->norm = erm_norm(m, m->gradient);
  m->value = m->lbfgs.value;
  m->steps += out.iterations;
  return SCL_STATUS_OK;
}
