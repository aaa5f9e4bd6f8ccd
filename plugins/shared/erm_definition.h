/* What solvers of the kin of erm minimise, as text of their definitions. */
#ifndef SCULLERY_SHARED_ERM_DEFINITION_H
#define SCULLERY_SHARED_ERM_DEFINITION_H

#include <scullery/plugin.h>

/* The duality gap of smooth losses. The dual numbers v are the slopes of the loss at the scores.
 * Where there is a constant they must sum to 0: those of the sign with the larger sum are scaled
 * down. Where the penalty has no square, u = average of v x must stay within lambda: all are scaled
 * down. The gap is divided by start(), the objective at a = 0. */
#define ERM_GAP \
  "v(f, y) = (l(f + 1e-5, y) - l(f - 1e-5, y))/2e-5\n" \
  "kink(f, y) = not (l(f + 1e-5, y) + l(f - 1e-5, y) - 2*l(f, y) < 1e-8)\n" \
  "conjugate(v, y) = -lowest(function(f) return l(f, y) - v*f end, -99, 99)\n" \
  "l1() = when(penalty == \"l2\", 0, penalty == \"l1\", lambda, lambda*l1_ratio)\n" \
  "signed(rows, s) = average(rows, function(r) return max(s*v(r.f, r.y), 0) end)\n" \
  "balance(v, p, q) = v > 0 and min(1, q/p) or v < 0 and min(1, p/q) or 1\n" \
  "beyond(u, l2) = l2 > 0 and sum(u, function(x) return max(0, abs(x) - l1())^2 end)/(2*l2) or " \
  "0\n" \
  "scaled(rows, b) = (function(p, q) return map(rows, function(r)\n" \
  "  local v = v(r.f, r.y)\n" \
  "  return { v = b and v*balance(v, p, q) or v, x = r.x, f = r.f, y = r.y, w = r.w } end)\n" \
  "end)(signed(rows, 1), signed(rows, -1))\n" \
  "bound(rows, u, a, l2) = (function(less)\n" \
  "  return average(rows, function(r) return l(r.f, r.y) + conjugate(less*r.v, r.y) end)\n" \
  "    + l1()*sum(a, abs) + l2/2*dot(a, a) + beyond(u, l2) end)(\n" \
  "    l2 == 0 and min(1, l1()/largest(u, abs)) or 1)\n" \
  "start(rows, b) = b and lowest(function(c) return average(rows, function(r)\n" \
  "  return l(c, r.y) end) end, -99, 99) or average(rows, function(r) return l(0, r.y) end)\n" \
  "rough(rows) = sum(rows, function(r) return (kink(r.f, r.y) or kink(r.y, r.y)) and 1 or 0 " \
  "end)\n" \
  "gap(rows, a, b) = lambda > 0 and method ~= \"dual\" and l(0, 1) and rough(rows) == 0\n" \
  "  and (function(s) return bound(s, map(a, function(_, j) return average(s, function(r)\n" \
  "    return r.v*r.x[j] end) end), a, lambda - l1())/start(rows, b) end)(scaled(rows, b))"

/* The objective of a definition (scl_plugin.definition) that has the loss l(f, y). */
#define ERM_OBJECTIVE \
  "\nR(a) = when(penalty == \"l2\", dot(a, a)/2, penalty == \"l1\", sum(a, abs),\n" \
  "  l1_ratio*sum(a, abs) + (1 - l1_ratio)/2*dot(a, a))\n" \
  "objective(rows, a) = average(rows, function(r) return l(r.f, r.y) end) + lambda*R(a)\n" ERM_GAP

/* Half the deviance of means exp(f), power p(). */
#define ERM_DEVIANCE \
  "\ne(c, x) = when(c == 0, x, expm1(c*x)/c)\n" \
  "l(f, y) = when(y > 0, y^(2 - p())*(e(p() - 1, log(y) - f) + e(2 - p(), f - log(y))),\n" \
  "  exp((2 - p())*f)/(2 - p()))" ERM_OBJECTIVE

#endif
