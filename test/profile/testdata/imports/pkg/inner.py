from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
MPI.COMM_WORLD.Barrier()
def work(f):
    for i in range(3):
        f(i)
