/* Seconds of ScaLAPACK's pdpotrf (libscalapack-openmpi-dev) on a random positive definite matrix, in
 * blocks of 256 over a grid of 1 x P processes: the peer of p:fit(ds, { tiles = true }).
 *
 *   mpicc -O2 -o factor_peer scripts/bench/factor_peer.c -lscalapack-openmpi -lopenblas
 *   OPENBLAS_NUM_THREADS=1 mpirun -n 2 --bind-to none factor_peer 6000
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern void Cblacs_get(int context, int what, int *value);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int cols);
extern void Cblacs_gridinfo(int context, int *rows, int *cols, int *row, int *col);
extern int numroc_(const int *n, const int *block, const int *process, const int *source,
                   const int *count);
extern void descinit_(int *description, const int *m, const int *n, const int *mb, const int *nb,
                      const int *row, const int *col, const int *context, const int *stride,
                      int *status);
extern void pdpotrf_(const char *half, const int *n, double *a, const int *ia, const int *ja,
                     const int *description, int *status);

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 4000, block = 256, zero = 0, one = 1;
  int rank, count, context, rows, cols, row, col, description[9], status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, count);
  Cblacs_gridinfo(context, &rows, &cols, &row, &col);
  const int high = numroc_(&n, &block, &row, &zero, &rows),
            wide = numroc_(&n, &block, &col, &zero, &cols), stride = high > 0 ? high : 1;
  descinit_(description, &n, &n, &block, &block, &zero, &zero, &context, &stride, &status);
  double *a = malloc((size_t)stride * (size_t)(wide > 0 ? wide : 1) * sizeof *a);
  if (a == NULL) return 1;
  for (int j = 0; j < wide; j++)
    for (int i = 0; i < high; i++) { /* symmetric, and its diagonal dominates */
      const int r = (i / block * rows + row) * block + i % block,
                c = (j / block * cols + col) * block + j % block;
      a[(size_t)j * (size_t)stride + (size_t)i] =
          r == c ? n : (double)((r * 31 + c * 31 + (r ^ c) * 17) % 1000) / 1000;
    }
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  pdpotrf_("L", &n, a, &one, &one, description, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("n = %d, %d processes: %.2f s%s\n", n, count, MPI_Wtime() - began,
           status == 0 ? "" : ", failed");
  free(a);
  MPI_Finalize();
  return 0;
}
