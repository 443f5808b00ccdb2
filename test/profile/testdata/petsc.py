# A Poisson problem on 32 by 32 points: 50 iterations of conjugate gradients.
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc


def assemble(n):
    A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
    lo, hi = A.getOwnershipRange()
    for row in range(lo, hi):
        i, j = divmod(row, n)
        A[row, row] = 4.0
        if i > 0:
            A[row, row - n] = -1.0
        if i < n - 1:
            A[row, row + n] = -1.0
        if j > 0:
            A[row, row - 1] = -1.0
        if j < n - 1:
            A[row, row + 1] = -1.0
    A.assemble()
    return A


def solve(A):
    x, b = A.createVecs()
    b.set(1.0)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType('cg')
    ksp.getPC().setType('jacobi')
    ksp.setTolerances(rtol=1e-30, max_it=50)
    ksp.solve(b, x)
    assert ksp.getIterationNumber() == 50


solve(assemble(32))
