# Loops of R, in functions and without, that call MPI by Rmpi.
library(Rmpi)
relax <- function(n) { s <- 0; for (i in 1:n) s <- s + mpi.allreduce(as.double(i), op="sum", comm=0); s }
outer <- function(k) { for (j in 1:k) { relax(3); mpi.barrier(0) } }
outer(4)
mpi.barrier(0)
invisible(sapply(1:3, function(i) mpi.barrier(0)))
mpi.quit(save="no")
