# What R's users call, by Rmpi's glue, whose functions have names of MPI's for Fortran.
library(Rmpi)
rank <- mpi.comm.rank(0)
size <- mpi.comm.size(0)
sum <- mpi.allreduce(as.integer(rank + 1), type = 1, op = "sum", comm = 0)
all <- mpi.allgather(as.double(rank), type = 2, rdata = double(size), comm = 0)
if (rank == 0) {
  mpi.send.Robj(list(1, "two"), 1, 7, comm = 0)
  back <- mpi.recv.Robj(1, 8, comm = 0)
  stopifnot(size == 2, sum == 3, all == c(0, 1), back == "two three")
  # R writes lines in pieces, and those of two ranks get into each other
  writeLines(c("right", back), "result")
} else {
  got <- mpi.recv.Robj(0, 7, comm = 0)
  mpi.send.Robj(paste(got[[2]], "three"), 0, 8, comm = 0)
}
mpi.barrier(0)
invisible(.Call("mpi_finalize", PACKAGE = "Rmpi"))
