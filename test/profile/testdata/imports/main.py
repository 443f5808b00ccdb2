# Imports that call MPI, one of them a package that imports a module, and C that a line of Python calls.
import ctypes, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mpi4py import MPI
import helper
import pkg
c = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "solve.so"))
for step in range(4):
    helper.sweep()
    c.solve(5)
pkg.inner.work(lambda i: MPI.COMM_WORLD.Barrier())
