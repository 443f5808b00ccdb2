# Solves a system on a grid with petsc4py, as its tutorials do.
from petsc4py import PETSc

n = 24
matrix = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
start, end = matrix.getOwnershipRange()
for row in range(start, end):
    matrix[row, row] = 4.5
    i, j = divmod(row, n)
    for a, b in (i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j):
        if 0 <= a < n and 0 <= b < n:
            matrix[row, a * n + b] = -1.0
matrix.assemble()
x, b = matrix.createVecs()
b.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("bjacobi")
solver.solve(b, x)
PETSc.Sys.Print("iterations", solver.getIterationNumber(), "norm %.6f" % x.norm())
