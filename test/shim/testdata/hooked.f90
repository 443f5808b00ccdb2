! Calls for plugins to look at, through the three Fortran bindings.
program hooked
  use mpi_f08
  implicit none
  integer :: rank, size, i, in, x
  external :: by_module, by_include
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  x = 1
  do i = 1, 50
    call MPI_Sendrecv(x, 1, MPI_INTEGER, mod(rank + 1, size), 1, in, 1, MPI_INTEGER, mod(rank + size - 1, size), 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call by_module
  end do
  call by_include
  call MPI_Finalize()
  print '(a)', 'rank done'
end program hooked

subroutine by_module
  use mpi
  implicit none
  integer :: ierr
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
end subroutine by_module

subroutine by_include
  implicit none
  include 'mpif.h'
  integer :: ierr, i
  logical :: flag
  do i = 1, 20
    call MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE, ierr)
  end do
end subroutine by_include
