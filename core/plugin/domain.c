/* Domains of components: reading the ability, and refusing numbers that are outside. */
#include "plugin/domain.h"

#include "plugin/call.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double UNIT = 1e-5; /* how far from 1 the length of a row may be */

static scl_status check_domain(const scl_instance *component, const scl_domain *domain,
                               scl_error *error) {
  const bool phi = scl_instance_kind(component) == SCL_KIND_NONLINEARITY;
  const char *wrong =
      !(domain->low <= domain->high)                ? "no number is in its domain"
      : phi && domain->flags & SCL_DOMAIN_UNIT_ROWS ? "a nonlinearity has no domain of rows"
      : !phi && domain->flags & SCL_DOMAIN_COLUMNS  ? "its domain is not one of columns"
                                                    : NULL;
  if (wrong == NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL, "%s.%s: %s",
                  scl_kind_name(scl_instance_kind(component)), scl_instance_name(component), wrong);
}

scl_status scl_domain_of(const scl_instance *component, scl_domain *out, bool *known,
                         scl_error *error) {
  const scl_ability_domain *ability = scl_instance_ability(component, SCL_ABILITY_DOMAIN);
  *known = ability != NULL;
  if (ability == NULL) return SCL_STATUS_OK;
  *out = (scl_domain){.head = SCL_HEAD(scl_domain),
                      .flags = ability->flags,
                      .range = ability->range,
                      .low = ability->low,
                      .high = ability->high};
  if (ability->domain != NULL) {
    scl_call call;
    scl_call_enter(&call, component->component, "domain", error);
    SCL_TRY(scl_call_leave(&call, ability->domain(component->self, out, error)));
  }
  return check_domain(component, out, error);
}

static bool is_inside(const scl_domain *domain, double x) {
  if (domain->low == 0 && domain->high == 0) return true;
  if (isnan(x)) return false;
  if (domain->range & SCL_RANGE_LOW_OPEN && !isinf(domain->low) ? x <= domain->low
                                                                : x < domain->low)
    return false;
  return domain->range & SCL_RANGE_HIGH_OPEN && !isinf(domain->high) ? x < domain->high
                                                                     : x <= domain->high;
}

/* "numbers of at least 0 and at most 1", and the stage that gives them, or an empty text. */
static void describe(const scl_domain *domain, char *text, size_t size, const char **stage) {
  const char *low = domain->range & SCL_RANGE_LOW_OPEN ? "above" : "of at least",
             *high = domain->range & SCL_RANGE_HIGH_OPEN ? "below" : "at most";
  if (isinf(domain->high))
    (void)snprintf(text, size, "numbers %s %.15g", low, domain->low);
  else if (isinf(domain->low))
    (void)snprintf(text, size, "numbers %s %.15g", high, domain->high);
  else
    (void)snprintf(text, size, "numbers %s %.15g and %s %.15g", low, domain->low, high,
                   domain->high);
  scl_domain closed = *domain;
  closed.range = 0;
  *stage = is_inside(domain, 0) && is_inside(&closed, 1)
               ? "; sc.minmax() makes columns of numbers from 0 to 1"
               : "";
}

static scl_status refuse(const scl_instance *component, const scl_domain *domain, const char *what,
                         size_t at, double x, scl_error *error) {
  char text[120];
  const char *stage;
  describe(domain, text, sizeof text, &stage);
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s.%s takes %s, and %s %zu has %.6g%s",
                  scl_kind_name(scl_instance_kind(component)), scl_instance_name(component), text,
                  what, at + 1, x, stage);
}

/* The numbers of one row, and its length. */
static scl_status check_row(const scl_instance *component, const scl_domain *domain,
                            const void *row, scl_dtype dtype, size_t count, const char *what,
                            scl_error *error) {
  double square = 0;
  for (size_t j = 0; j < count; j++) {
    const double x = scl_number(row, dtype, j);
    square += x * x;
    if (!is_inside(domain, x)) return refuse(component, domain, what, j, x, error);
  }
  if (!(domain->flags & SCL_DOMAIN_UNIT_ROWS) || !(fabs(sqrt(square) - 1) > UNIT))
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s.%s takes rows of length 1, and this one has %.6g; sc.normalize() makes them",
                  scl_kind_name(scl_instance_kind(component)), scl_instance_name(component),
                  sqrt(square));
}

scl_status scl_domain_check_rows(const scl_instance *component, const void *rows, scl_dtype dtype,
                                 size_t count, size_t cols, ptrdiff_t stride, scl_error *error) {
  scl_domain domain;
  bool known;
  SCL_TRY(scl_domain_of(component, &domain, &known, error));
  for (size_t i = 0; known && i < count; i++)
    SCL_TRY(check_row(component, &domain, scl_at(rows, dtype, (ptrdiff_t)i * stride), dtype, cols,
                      "column", error));
  return SCL_STATUS_OK;
}

scl_status scl_domain_check_csr(const scl_instance *component, const scl_csr *rows,
                                scl_error *error) {
  scl_domain domain;
  bool known;
  SCL_TRY(scl_domain_of(component, &domain, &known, error));
  for (size_t i = 0; known && i < rows->rows; i++) {
    const size_t count = (size_t)(rows->starts[i + 1] - rows->starts[i]);
    const int32_t *columns = rows->columns + rows->starts[i];
    size_t first = 0; /* the first column that is not stored */
    while (first < count && (size_t)columns[first] == first)
      first++;
    if (first < rows->cols && !is_inside(&domain, 0))
      return refuse(component, &domain, "column", first, 0, error);
    for (size_t k = 0; k < count; k++) {
      const double x = scl_csr_value(rows, rows->starts[i] + (int64_t)k);
      if (!is_inside(&domain, x))
        return refuse(component, &domain, "column", (size_t)columns[k], x, error);
    }
    SCL_TRY(check_row(component, &domain,
                      scl_at(rows->values, rows->dtype, (ptrdiff_t)rows->starts[i]), rows->dtype,
                      count, "column", error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_domain_check_block(const scl_instance *phi, const scl_const_block *z,
                                  scl_error *error) {
  scl_domain domain;
  bool known;
  SCL_TRY(scl_domain_of(phi, &domain, &known, error));
  const char *what = known && domain.flags & SCL_DOMAIN_COLUMNS ? "column" : "z of parameter";
  for (size_t k = 0; known && k < z->planes; k++)
    for (size_t i = 0; i < z->rows; i++)
      SCL_TRY(check_row(
          phi, &domain,
          scl_at(z->data, z->dtype, (ptrdiff_t)i * z->row_stride + (ptrdiff_t)k * z->plane_stride),
          z->dtype, z->cols, what, error));
  return SCL_STATUS_OK;
}
