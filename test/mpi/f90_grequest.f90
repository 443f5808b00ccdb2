! Generalised requests with Fortran callbacks, thread levels and levels of Pcontrol, through the mpi module.
! ranks: 2
! mpi: mpich openmpi
module callbacks
  use mpi
  implicit none
  integer :: freed = 0
contains
  subroutine query(extra, status, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierr
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), ierr)
    call MPI_Status_set_cancelled(status, .false., ierr)
    status(MPI_SOURCE) = MPI_UNDEFINED
    status(MPI_TAG) = MPI_UNDEFINED
  end subroutine query

  subroutine release(extra, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    if (extra == 5) freed = freed + 1
    ierr = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra, complete, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    ierr = MPI_SUCCESS
    if (complete .and. extra == 0) ierr = MPI_ERR_OTHER
  end subroutine cancel
end module callbacks

program grequest
  use mpi
  use callbacks
  implicit none
  integer :: rank, ierr, req, status(MPI_STATUS_SIZE), n, provided, level
  integer(MPI_ADDRESS_KIND) :: extra
  double precision :: t
  logical :: flag

  call MPI_Initialized(flag, ierr)
  call check(.not. flag, 'too early')
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, ierr)
  call MPI_Query_thread(level, ierr)
  call check(level == provided, 'level')
  call MPI_Is_thread_main(flag, ierr)
  call check(flag, 'main')
  call MPI_Finalized(flag, ierr)
  call check(.not. flag, 'not over')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  t = MPI_Wtime()
  call check(MPI_Wtime() >= t .and. MPI_Wtick() > 0, 'time')

  extra = 5
  call MPI_Grequest_start(query, release, cancel, extra, req, ierr)
  call MPI_Test(req, flag, status, ierr)
  call check(.not. flag, 'not complete')
  call MPI_Grequest_complete(req, ierr)
  call MPI_Wait(req, status, ierr)
  call MPI_Get_elements(status, MPI_INTEGER, n, ierr)
  call check(n == 5 .and. freed == 1, 'complete')

  call MPI_Pcontrol(2)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Pcontrol(1)
  if (rank == 0) print '(a)', 'f90_grequest: ok'
  call MPI_Finalize(ierr)
  call MPI_Finalized(flag, ierr)
  call check(flag, 'over')
contains
  include 'check.inc'
end program grequest
