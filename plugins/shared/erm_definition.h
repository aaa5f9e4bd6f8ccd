/* What solvers of the kin of erm minimise, as text of their definitions. */
#ifndef SCULLERY_SHARED_ERM_DEFINITION_H
#define SCULLERY_SHARED_ERM_DEFINITION_H

#include <scullery/plugin.h>

/* The objective of a definition (scl_plugin.definition) that has the loss l(f, y). */
#define ERM_OBJECTIVE \
  "\nR(a) = when(penalty == \"l2\", dot(a, a)/2, penalty == \"l1\", sum(a, abs),\n" \
  "  l1_ratio*sum(a, abs) + (1 - l1_ratio)/2*dot(a, a))\n" \
  "objective(rows, a) = average(rows, function(r) return l(r.f, r.y) end) + lambda*R(a)"
/* Half the deviance of means exp(f), power p(). */
#define ERM_DEVIANCE \
  "\ne(c, x) = when(c == 0, x, expm1(c*x)/c)\n" \
  "l(f, y) = when(y > 0, y^(2 - p())*(e(p() - 1, log(y) - f) + e(2 - p(), f - log(y))),\n" \
  "  exp((2 - p())*f)/(2 - p()))" ERM_OBJECTIVE

#endif
