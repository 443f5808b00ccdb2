from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
def sweep():
    MPI.COMM_WORLD.Barrier()
