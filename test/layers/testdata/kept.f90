! The same in Fortran.
program kept
  use mpi
  implicit none
  integer :: rank, total, i, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 1, 10
    call MPI_Comm_size(MPI_COMM_WORLD, total, error)
  end do
  print *, rank, total
  call MPI_Finalize(error)
end program
