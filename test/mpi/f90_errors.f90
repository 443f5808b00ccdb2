! Error handlers through the mpi module, and an error in one of several requests.
! ranks: 2
! mpi: mpich openmpi
module handlers
  use mpi
  implicit none
  integer :: seen = 0
contains
  subroutine count_it(object, error_code)
    integer :: object, error_code
    if (object /= error_code) seen = seen + 1
  end subroutine count_it
end module handlers

program errors
  use mpi
  use handlers
  implicit none
  integer :: rank, ierr, class, comm, win, handler, old, buf(4), small(4), reqs(2), stats(MPI_STATUS_SIZE, 2), i, fh, n
  character(len=200) :: dir
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Bcast(buf, 1, MPI_INTEGER, 77, comm, ierr)
  call MPI_Error_class(ierr, class, i)
  call check(class == MPI_ERR_ROOT, 'root')
  buf = rank
  if (rank == 0) then
    call MPI_Send(buf, 4, MPI_INTEGER, 1, 1, comm, ierr)
    call MPI_Send(buf, 2, MPI_INTEGER, 1, 2, comm, ierr)
  else
    ! The first one is too long. Open MPI 4.1 returns neither statuses nor requests after such an error.
    call MPI_Get_library_version(version, n, ierr)
    n = merge(4, 2, index(version, 'Open MPI') > 0)
    call MPI_Irecv(small, n, MPI_INTEGER, 0, 1, comm, reqs(1), ierr)
    call MPI_Irecv(buf, 2, MPI_INTEGER, 0, 2, comm, reqs(2), ierr)
    call MPI_Waitall(2, reqs, stats, ierr)
    if (n == 2) then
      call MPI_Error_class(ierr, class, i)
      call check(class == MPI_ERR_IN_STATUS, 'in status')
      call MPI_Error_class(stats(MPI_ERROR, 1), class, i)
      call check(class == MPI_ERR_TRUNCATE, 'first')
      if (stats(MPI_ERROR, 2) == MPI_ERR_PENDING) call MPI_Wait(reqs(2), MPI_STATUS_IGNORE, ierr)
    end if
  end if

  call MPI_Comm_create_errhandler(count_it, handler, ierr)
  call MPI_Comm_set_errhandler(comm, handler, ierr)
  call MPI_Comm_get_errhandler(comm, old, ierr)
  call MPI_Errhandler_free(old, ierr)
  call MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER, ierr)
  call MPI_Errhandler_free(handler, ierr)
  call check(seen == 1 .and. handler == MPI_ERRHANDLER_NULL, 'handler')
  call MPI_Win_create(buf, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_create_errhandler(count_it, handler, ierr)
  call MPI_Win_set_errhandler(win, handler, ierr)
  call MPI_Win_get_errhandler(win, old, ierr)
  call MPI_Win_call_errhandler(win, MPI_ERR_OTHER, ierr)
  call check(seen == 2, 'window handler')
  call MPI_Errhandler_free(old, ierr)
  call MPI_Errhandler_free(handler, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_File_create_errhandler(count_it, handler, ierr)
  call get_environment_variable('TMPDIR', dir, n)
  if (n == 0) dir = '/tmp'
  call MPI_File_open(MPI_COMM_WORLD, trim(dir)//'/f90_errors.data', &
                     MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, fh, ierr)
  call MPI_File_set_errhandler(fh, handler, ierr)
  call MPI_File_get_errhandler(fh, old, ierr)
  call MPI_File_call_errhandler(fh, MPI_ERR_OTHER, ierr)
  call check(seen >= 3, 'file handler')
  call MPI_File_close(fh, ierr)
  call MPI_Errhandler_free(handler, ierr)
  call MPI_Comm_free(comm, ierr)
  if (rank == 0) print '(a)', 'f90_errors: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program errors
