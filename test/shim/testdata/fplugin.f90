! The plugin of local.c in Fortran, through two bindings.
integer(c_int) function plugin_main(argc, argv) bind(c)
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  type(c_ptr), value :: argc, argv
  integer :: rank, i, most
  external :: old_style
  if (.not. c_associated(argc, argv)) call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do i = 0, 9
    most = i
    call MPI_Allreduce(MPI_IN_PLACE, most, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  end do
  call old_style(most)
  if (rank == 0) print '(a,i0)', 'max ', most
  call MPI_Finalize()
  plugin_main = 0
end function plugin_main

subroutine old_style(number)
  implicit none
  include 'mpif.h'
  integer :: number, ierr
  call MPI_Bcast(number, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
end subroutine old_style
