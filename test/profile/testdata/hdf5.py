from mpi4py import MPI
import numpy

try:
    import h5py._debian_h5py_mpi as h5py
except ImportError:
    import h5py

comm = MPI.COMM_WORLD


def save(step):
    with h5py.File("out.h5", "w", driver="mpio", comm=comm) as f:
        d = f.create_dataset("field", (comm.size, 1000), dtype="f8")
        d[comm.rank] = numpy.full(1000, step)


for step in range(5):
    save(step)
