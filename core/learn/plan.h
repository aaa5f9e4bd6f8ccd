/* What a fit will take, before it starts. Sizes come from the functions that the engine allocates
 * by. Rates of reading and of features are measured on the first rows, with a map that has few of
 * the parameters. */
#ifndef SCULLERY_PLAN_H
#define SCULLERY_PLAN_H

#include "learn/problem.h"

typedef struct scl_plan {
  size_t rows, features, targets;
  double numbers;  /* of a row of features, as passes read it: fewer than features in sparse rows */
  const char *way; /* of summing rows (rows/ways.h) */
  size_t codes;    /* numbers that rows are summed by, where these are fewer; 0: the features */
  scl_cost cost;   /* the solver's, */
  bool told;       /* which it declares itself */
  bool keeps;      /* whether features are stored between passes */
  /* Bytes: the map; the buffers of a walk; the sums, and the most while they are made; the matrix
   * that the solver gets beside them; G; Phi Phi', and the most while it is made; stored features;
   * the solution; the matrices that a function of rows makes in one reading of all rows, which are
   * garbage until Lua's collector runs (0 for other sources). */
  double map, walk, sums, summing, matrix, gram, outer, multiplying, kept, solution, fetched;
  double reducing; /* operations that state the problem in the coordinates of codes, once */
  double judging;  /* bytes of the buffers of a walk that judges models on their folds */
  /* Seconds of the first `tried` rows, with the training's own map of `few` features: reading and
   * stages, making features, adding their products to the sums, a sweep over stored features; and
   * what a walk that sums takes besides, whatever the number of rows. 0: not measured. */
  size_t tried, few;
  double reading, making, adding, sweeping, ending;
  /* Of a solver of models whose time depends on the rows: the seconds of a model of the first
   * `modelled` rows, and the power of the number of rows by which they grow. 0: not tried. */
  size_t modelled;
  double modelling, power;
} scl_plan;

/* What is planned: a solve for `count` values of the path option (NULL: the solver's own value), as
 * if the map had `parameters` parameters (0: as it is). timed: measure seconds. solved: a solver
 * that works from sums is tried on the first rows: systems that are singular to working precision
 * may take passes over the rows. codes: as another plan of the same rows and features found them,
 * where seconds are not measured; 0: none. */
typedef struct scl_planned {
  size_t parameters;
  const double *values;
  size_t count;
  bool timed, solved;
  size_t codes;
} scl_planned;

scl_status scl_training_plan(scl_training *training, const scl_instance *solver,
                             const scl_planned *planned, scl_plan *out, scl_error *error);

#endif
