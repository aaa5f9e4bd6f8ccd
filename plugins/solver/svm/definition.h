/* What solver.svm computes (scl_plugin.definition): functions in Lua of rows { x =, y =, w = }. */
#ifndef SCULLERY_SVM_DEFINITION_H
#define SCULLERY_SVM_DEFINITION_H

static const char svm_definition[] =
    /* The kernel: that of the option, or Gaussian. The rate gamma is 1/d for d columns where it is not
     * given. */
    "value(u, v) = kernel and kernel.K(u, v) or exp(-rate(u)*squared_distance(u, v))\n"
    "rate(u) = gamma and gamma == gamma and gamma or 1/#u\n"
    /* f + f0 that fits y with coefficients from low to high, by steps on the pair that violates the
     * conditions most; false where it does not converge, or no row fixes the constant. */
    "machine(rows, y, low, high, slack) = (function(K, b, f)\n"
    "  local function off(i, above) return y[i] - f[i] - (above and slack or -slack) end\n"
    "  local function up(i) return b[i] < high[i] and off(i, b[i] >= 0) end\n"
    "  local function down(i) return b[i] > low[i] and off(i, b[i] > 0) end\n"
    "  local most, least\n"
    "  for _ = 1, 3000 do\n"
    "    local i, j\n"
    "    for k = 1, #rows do\n"
    "      if up(k) and (not i or up(k) > up(i)) then i = k end\n"
    "      if down(k) and (not j or down(k) < down(j)) then j = k end\n"
    "    end\n"
    "    if not (i and j) then return false end\n"
    "    most, least = up(i), down(j)\n"
    "    if most - least < 1e-9 then break end\n"
    "    local top = b[i] < 0 and min(0, high[i]) or high[i]\n"
    "    local bottom = b[j] > 0 and max(0, low[j]) or low[j]\n"
    "    local step = min((most - least)/max(K[i][i] + K[j][j] - 2*K[i][j], 1e-300), top - b[i],\n"
    "      b[j] - bottom)\n"
    "    b[i] = step < top - b[i] and b[i] + step or top\n"
    "    b[j] = step < b[j] - bottom and b[j] - step or bottom\n"
    "    for k = 1, #rows do f[k] = f[k] + step*(K[i][k] - K[j][k]) end\n"
    "  end\n"
    "  local free = sum(b, function(x, i)\n"
    "    return min(abs(x), x - low[i], high[i] - x) > 1e-9*C and 1 or 0\n"
    "  end)\n"
    "  return free > 0 and most - least < 1e-6 and function(x)\n"
    "    return (most + least)/2 + sum(rows, function(r, i) return b[i]*value(r.x, x) end)\n"
    "  end\n"
    "end)(map(rows, function(r) return map(rows, function(s) return value(r.x, s.x) end) end),\n"
    "  map(rows, function() return 0 end), map(rows, function() return 0 end))\n"
    /* A function for classes y = +-1, or for numbers. */
    "one(rows, y, classes) = machine(rows, y,\n"
    "  map(rows, function(r, i) return (classes and y[i] > 0 and 0 or -1)*C*r.w end),\n"
    "  map(rows, function(r, i) return (classes and y[i] < 0 and 0 or 1)*C*r.w end),\n"
    "  classes and 0 or epsilon)\n"
    /* Targets of one column. */
    "column_of(rows, k) = map(rows, function(r)\n"
    "  return type(r.y) == \"number\" and r.y or r.y[k]\n"
    "end)\n"
    /* Class i against class j, on their rows alone. */
    "duel(rows, i, j) = (function(some)\n"
    "  for k = 1, #rows do\n"
    "    if rows[k].y[i] > 0 or rows[k].y[j] > 0 then some[#some + 1] = rows[k] end\n"
    "  end\n"
    "  return one(some, column_of(some, i), true)\n"
    "end)({})\n"
    /* Functions of targets, or of two classes. Of more classes each pair has one vote, and the sums of
     * its functions are worth less than a third of one. */
    "score(rows) = (function(K, made)\n"
    "  for i = 1, K do\n"
    "    if rows.classes < 3 then \n"
    "      made[#made + 1] = one(rows, column_of(rows, i), rows.classes > 0) or nil\n"
    "    end\n"
    "    for j = i + 1, rows.classes > 2 and K or 0 do\n"
    "      made[#made + 1] = duel(rows, i, j) or nil\n"
    "    end\n"
    "  end\n"
    "  if #made < (rows.classes > 2 and K*(K - 1)/2 or K) then return nil end\n"
    "  return function(x)\n"
    "    if rows.classes < 3 then return map(made, function(f) return f(x) end) end\n"
    "    local votes, sums, at = map(range(K), function() return 0 end), {}, 0\n"
    "    for i = 1, K do\n"
    "      for j = i + 1, K do\n"
    "        at = at + 1\n"
    "        local f = made[at](x)\n"
    "        local winner = f > 0 and i or j\n"
    "        votes[winner] = votes[winner] + 1\n"
    "        sums[i], sums[j] = (sums[i] or 0) + f, (sums[j] or 0) - f\n"
    "      end\n"
    "    end\n"
    "    return map(votes, function(v, k) return v + sums[k]/(3*(abs(sums[k]) + 1)) end)\n"
    "  end\n"
    "end)(type(rows[1].y) == \"number\" and 1 or #rows[1].y, {})";

#endif
