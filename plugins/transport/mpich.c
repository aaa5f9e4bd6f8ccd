/* Processes started by MPICH's mpirun, or by a launcher that speaks PMI. */
#define _GNU_SOURCE
#define MPI_SIZE_VARIABLE "PMI_SIZE"
#define MPI_HANDLE(name, symbol) ((void)g, name)
#include "shared/mpi_transport.h"

const scl_plugin scullery_plugin = {
    .name = "mpich",
    .summary = "processes that mpirun of MPICH has started, on any number of machines",
    .doc =
        "mpirun.mpich -n 4 scullery fit.lua runs the script in four processes. The transport is\n"
        "taken by itself where the variable PMI_SIZE is in the environment, as it is under\n"
        "mpirun and srun --mpi=pmi2.",
    MPI_TRANSPORT};
