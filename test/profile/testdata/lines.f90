! As lines.c, in Fortran. Without debug information the main program has no name.
module halo
  use mpi
  implicit none
contains
  subroutine exchange(rank, size)
    integer, intent(in) :: rank, size
    integer :: i, n, ierr
    n = 0
    do i = 1, 3
       call MPI_Sendrecv_replace(n, 1, MPI_INTEGER, mod(rank + 1, size), 3, & ! in halo::exchange
            mod(rank + size - 1, size), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
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

program heat
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
