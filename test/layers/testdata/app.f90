! As app.c, through the old binding; with OWN it has mpi_allreduce itself, with CALL it calls PMPI_ names.
program app
  implicit none
  include 'mpif.h'
  integer :: rank, size, x, y, i, ierror
#ifdef CALL
  call PMPI_Init(ierror)
#else
  call MPI_Init(ierror)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  x = rank
  do i = 1, 10
#ifdef CALL
    call PMPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
#else
    call MPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
#endif
  end do
  print '(i0,a,i0,a,i0)', rank, ' of ', size, ': ', y
  call MPI_Finalize(ierror)
end program
#ifdef OWN
subroutine mpi_allreduce(a, b, n, t, o, c, ierror)
  integer :: a(*), b(*), n, t, o, c, ierror
  call pmpi_allreduce(a, b, n, t, o, c, ierror)
end subroutine
#endif
