! ten iterations: halo exchange polled 0..4 times with one call, then an inner CG of 2 to 6 iterations with two calls
program p
  use mpi
  implicit none
  integer :: e, r, s, i, f(1), q(1), b(8), c(8)
  logical :: flag
  integer, parameter :: polls(10) = (/2,0,1,4,0,3,1,0,2,0/), cg(10) = (/3,2,6,2,4,1,5,2,3,2/)
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, r, e)
  do s = 1, 10
    call MPI_Irecv(b, 1, MPI_INTEGER, r, 0, MPI_COMM_WORLD, q(1), e)
    do i = 1, polls(s)
      call MPI_Iprobe(r, 5, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, e)
    end do
    call MPI_Send(c, 1, MPI_INTEGER, r, 0, MPI_COMM_WORLD, e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    do i = 1, cg(s)
      call MPI_Allreduce(b, c, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
      call MPI_Bcast(b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    end do
    call MPI_Reduce(b, c, 1, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, e)
  end do
  call MPI_Finalize(e)
end program
