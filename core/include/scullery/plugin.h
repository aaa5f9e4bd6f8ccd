/* scullery/plugin.h: the plugin interface, version 1.
 *
 * One shared object exports one symbol, `scullery_plugin` (or `scullery_plugins`, a list);
 * everything else stays hidden. A plugin is a sampler, a nonlinearity, a kernel or a solver. It
 * says what it is in data, and computes in functions. The host checks all of it before it calls
 * anything, and refuses what does not fit with a sentence.
 *
 *   plugin/base.h          tables and how they grow, status, error
 *   plugin/block.h         numbers in memory
 *   plugin/option.h        options, values, the base of an instance
 *   plugin/host.h          what the host does for plugins (random.h, algebra.h)
 *   plugin/parameters.h    parameter spaces and laws
 *   plugin/rows.h          rows, as a walk shows them
 *   plugin/sampler.h, nonlinearity.h, kernel.h, solver.h
 *                          the table of each kind, and its abilities
 *   plugin/descriptor.h    the symbol
 *   plugin/entry.h         an optional symbol: what is done when an object is loaded
 *
 * What holds for every slot:
 *
 *  - Threads. [any]: many threads at once on one instance, which is constant after `create`. [one]:
 *    one thread at a time. A plugin starts no thread of its own and keeps no writable static.
 *  - Memory. Buffers are the caller's and live for the call; const ones are inputs. Memory for the
 *    call comes from host->scratch, and the host releases it. What outlives the call comes from
 *    host->allocate; what `create` makes, `destroy` ends.
 *  - Failure. A slot returns SCL_STATUS_OK, or `host->fail(error, status, "a sentence")`; one that
 *    returns no status calls `host->fail_call(status, "a sentence")` and returns. It never
 *    aborts, exits, prints, jumps or throws across the boundary, and leaves the floating-point
 *    environment as it was.
 *  - Numbers. Parameters, kernels, laws, targets, coefficients and sums over rows are float64.
 *    Blocks of data and features have the dtype that they say. Matrices are row-major.
 *  - Determinism. The same numbers for any batch, block size and number of threads.
 *
 * Symbols: n rows, d input columns, T parameters w_t, D features, c targets. Feature k T + t is
 * output k of parameter t.
 *
 * C11; C++20 with designated initialisers, C++11 without. Interface 1 is frozen: it grows as
 * plugin/base.h says and changes in no other way. */
#ifndef SCULLERY_PLUGIN_H
#define SCULLERY_PLUGIN_H

#include "plugin/base.h"
#include "plugin/block.h"
#include "plugin/descriptor.h"
#include "plugin/entry.h"
#include "plugin/host.h"
#include "plugin/kernel.h"
#include "plugin/nonlinearity.h"
#include "plugin/option.h"
#include "plugin/parameters.h"
#include "plugin/rows.h"
#include "plugin/sampler.h"
#include "plugin/solver.h"

#endif
