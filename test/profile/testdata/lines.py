# Lines that call MPI say so: the functions that mpi4py may call there are known by the last one of each line.
import sys
import threading

import mpi4py

mpi4py.rc.thread_level = "multiple"
from mpi4py import MPI

world = MPI.COMM_WORLD
data = bytearray(64)


def plain(comm):
    comm.Barrier()  # MPI_Barrier in plain


class Solver:
    def __init__(self, comm):
        self.comm = comm

    def step(self, depth):
        if depth:
            return self.step(depth - 1)
        self.comm.Allgather(MPI.IN_PLACE, data)  # MPI_Allgather in Solver.step

    def lazily(self):
        for i in range(3):
            self.comm.Bcast(data, root=0)  # MPI_Bcast in Solver.lazily
            yield i


def größe(comm):
    comm.Ibarrier().Wait()  # MPI_Ibarrier, MPI_Wait in größe


def fails(comm):
    try:
        comm.Send(data, dest=12345)  # MPI_Send in fails
    except MPI.Exception:
        comm.Allreduce(MPI.IN_PLACE, data)  # MPI_Allreduce in fails


def threaded(comm):
    comm.Alltoall(MPI.IN_PLACE, data)  # MPI_Alltoall in threaded


plain(world)
solver = Solver(world)
solver.step(100)
for _ in solver.lazily():
    pass
größe(world)
fails(world)
thread = threading.Thread(target=threaded, args=(world,))
thread.start()
thread.join()
for i in range(50):  # code that goes and comes
    scope = {"world": world, "data": data}
    exec("def made%d(comm):\n" % (i % 7) + "\n" * (i % 5) + "    comm.Scan(data, bytearray(64))\nmade%d(world)" % (i % 7), scope)
(lambda comm: comm.Exscan(data, bytearray(64)))(world)  # MPI_Exscan in <lambda>
print("done", flush=True)
