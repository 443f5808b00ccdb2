# What R's users call, by Rmpi's glue, whose functions have names of MPI's for Fortran.
library(Rmpi)
rank <- mpi.comm.rank(0)
size <- mpi.comm.size(0)
sum <- mpi.allreduce(as.integer(rank + 1), type = 1, op = "sum", comm = 0)
all <- mpi.allgather(as.double(rank), type = 2, rdata = double(size), comm = 0)
if (rank == 0) {
  mpi.send.Robj(list(1, "two"), 1, 7, comm = 0)
} else {
  got <- mpi.recv.Robj(0, 7, comm = 0)
  cat("got", got[[2]], "\n")
}
mpi.barrier(0)
cat(rank, size, sum, all, "\n")
invisible(mpi.finalize())
