/* Processes started by Open MPI's mpirun, or by a launcher that knows it. */
#define _GNU_SOURCE
#define MPI_SIZE_VARIABLE "OMPI_COMM_WORLD_SIZE"
#define MPI_HANDLE(name, symbol) dlsym(g->library, symbol)
#include "shared/mpi_transport.h"

const scl_plugin scullery_plugin = {
    .name = "openmpi",
    .summary = "processes that mpirun of Open MPI has started, on any number of machines",
    .doc =
        "mpirun.openmpi -n 4 --bind-to none scullery fit.lua runs the script in four processes.\n"
        "The transport is taken by itself where mpirun's variables are in the environment;\n"
        "scullery --transport openmpi asks for it under other launchers (srun --mpi=pmix).",
    MPI_TRANSPORT};
