! PMPI_ names of the newest binding.
program f08
  use mpi_f08
  implicit none
  integer :: rank, x, y, i
  call PMPI_Init()
  call PMPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  do i = 1, 10
    call PMPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  end do
  print '(i0,a,i0)', rank, ': ', y
  call PMPI_Finalize()
end program
