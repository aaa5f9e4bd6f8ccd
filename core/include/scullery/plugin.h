/* scullery/plugin.h: the plugin interface, version 1.
 *
 * One shared object exports one symbol, `scullery_plugin` (or `scullery_plugins`, a list), and
 * hides all others. A plugin is a sampler, a nonlinearity, a kernel, a solver, a transport, a row
 * stage, a metric, a loss or a reader. It describes itself in tables of data and functions. The
 * host checks these tables before it calls a function, and refuses a faulty plugin with a sentence
 * that names the fault.
 *
 *   plugin/base.h          tables and how they grow, status, error
 *   plugin/block.h         numbers in memory
 *   plugin/option.h        options, values, the base of an instance
 *   plugin/host.h          what the host does for plugins (random.h, algebra.h)
 *   plugin/parameters.h    parameter spaces and distributions
 *   plugin/rows.h          blocks of rows
 *   plugin/sampler.h, nonlinearity.h, kernel.h, solver.h, transport.h, stage.h, metric.h, loss.h,
 *   reader.h               the table of each kind, and its abilities
 *   plugin/descriptor.h    the descriptor, which the symbol is
 *   plugin/entry.h         an optional symbol: functions called when an object is loaded
 *
 * Rules for every slot (a slot is a function pointer in a table):
 *
 *  - Threads. [any]: many threads may call it at once on one instance, which is constant after
 *    `create`. [one]: one thread at a time. A plugin starts no threads and writes no statics.
 *  - Memory. The caller owns buffers, which are valid during the call; const ones are inputs.
 *    Memory for one call comes from host->scratch, and the host releases it. Memory that outlives
 *    the call comes from host->allocate. `destroy` releases what `create` allocated.
 *  - Failure. A slot returns SCL_STATUS_OK, or `host->fail(error, status, "a sentence")`; one that
 *    returns no status calls `host->fail_call(status, "a sentence")` and returns. It never
 *    aborts, exits, prints, jumps or throws across the boundary, and leaves the floating-point
 *    environment as it was.
 *  - Numbers. Parameters, kernels, laws, targets, coefficients and sums over rows are float64.
 *    Blocks of data and features state their dtype. Matrices are row-major.
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
#include "plugin/loss.h"
#include "plugin/metric.h"
#include "plugin/nonlinearity.h"
#include "plugin/option.h"
#include "plugin/parameters.h"
#include "plugin/reader.h"
#include "plugin/rows.h"
#include "plugin/sampler.h"
#include "plugin/solver.h"
#include "plugin/stage.h"
#include "plugin/transport.h"

#endif
