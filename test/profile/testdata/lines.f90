! As lines.c, in Fortran. With Open MPI's module, gfortran gives calls of MPI_Init
! and MPI_Finalize the line of the PROGRAM statement; the test allows for it.
module halo
  use mpi
  implicit none
contains
  subroutine exchange(rank, size)
    integer, intent(in) :: rank, size
    integer :: i, n, to, from, ierr
    n = 0
    to = mod(rank + 1, size)
    from = mod(rank + size - 1, size)
    do i = 1, 3
       call MPI_Sendrecv_replace(n, 1, MPI_INTEGER, to, 3, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! in halo::exchange
       call MPI_Barrier(MPI_COMM_WORLD, ierr) ! in halo::exchange
    end do
  end subroutine exchange
end module halo

subroutine total(n)
  use mpi
  implicit none
  integer, intent(inout) :: n
  integer :: ierr
  call MPI_Allreduce(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr) ! in total
end subroutine total

program heat ! PROGRAM
  use mpi
  use halo
  implicit none
  integer :: rank, size, ierr
  call MPI_Init(ierr) ! in heat, inlined in main program
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr) ! in heat, inlined in main program
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr) ! in heat, inlined in main program
  call exchange(rank, size)
  call total(rank)
  call MPI_Finalize(ierr) ! in heat, inlined in main program
end program heat
