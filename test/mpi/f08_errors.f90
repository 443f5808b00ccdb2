! Errors that return through mpi_f08: codes in ierror, own handlers, errors in statuses, and ierror left out.
! ranks: 2
! mpi: mpich openmpi
module handlers
  use mpi_f08
  implicit none
  integer :: seen = 0
contains
  subroutine on_comm(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    if (comm /= MPI_COMM_NULL .and. error_code /= MPI_SUCCESS) seen = seen + 1
  end subroutine on_comm

  subroutine on_win(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    if (win /= MPI_WIN_NULL .and. error_code /= MPI_SUCCESS) seen = seen + 1
  end subroutine on_win

  subroutine on_file(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    if (file%MPI_VAL == error_code) seen = seen - 1
    seen = seen + 1
  end subroutine on_file
end module handlers

program errors
  use mpi_f08
  use handlers
  implicit none
  integer :: rank, ierr, class, buf(4), n
  type(MPI_Errhandler) :: handler, old
  type(MPI_Win) :: win
  type(MPI_Comm) :: comm
  type(MPI_Status) :: status
  type(MPI_File) :: fh
  character(len=200) :: dir

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Send(buf, 1, MPI_INTEGER, 99, 0, comm, ierr)
  call MPI_Error_class(ierr, class)
  call check(class == MPI_ERR_RANK, 'rank')
  call MPI_Send(buf, 1, MPI_INTEGER, 99, 0, comm)
  call MPI_Send(buf, -1, MPI_INTEGER, 0, 0, comm, ierr)
  call MPI_Error_class(ierr, class)
  call check(class == MPI_ERR_COUNT, 'count')
  buf = 7
  if (rank == 0) call MPI_Send(buf, 4, MPI_INTEGER, 1, 1, comm)
  if (rank == 1) then
    call MPI_Recv(buf, 2, MPI_INTEGER, 0, 1, comm, status, ierr)
    call MPI_Error_class(ierr, class)
    call check(class == MPI_ERR_TRUNCATE, 'truncated')
  end if

  call MPI_Comm_create_errhandler(on_comm, handler)
  call MPI_Comm_set_errhandler(comm, handler)
  call MPI_Comm_get_errhandler(comm, old)
  call check(old == handler, 'handler')
  call MPI_Errhandler_free(old)
  call MPI_Send(buf, 1, MPI_INTEGER, 99, 0, comm, ierr)
  call MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER)
  call check(seen == 2, 'handler called')
  call MPI_Errhandler_free(handler)

  call MPI_Win_create(buf, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_create_errhandler(on_win, handler)
  call MPI_Win_set_errhandler(win, handler)
  call MPI_Win_get_errhandler(win, old)
  call MPI_Errhandler_free(old)
  call MPI_Win_call_errhandler(win, MPI_ERR_OTHER)
  call check(seen == 3, 'window handler')
  call MPI_Errhandler_free(handler)
  call MPI_Win_free(win)

  call MPI_File_create_errhandler(on_file, handler)
  call get_environment_variable('TMPDIR', dir, n)
  if (n == 0) dir = '/tmp'
  call MPI_File_open(MPI_COMM_WORLD, trim(dir)//'/f08_errors.data', &
                     MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, fh)
  call MPI_File_set_errhandler(fh, handler)
  call MPI_File_get_errhandler(fh, old)
  call MPI_File_call_errhandler(fh, MPI_ERR_OTHER)
  call check(seen >= 3, 'file handler')
  call MPI_File_close(fh)
  call MPI_Errhandler_free(handler)
  call MPI_Info_get_nkeys(MPI_INFO_ENV, n)
  call MPI_Comm_free(comm)
  if (rank == 0) print '(a)', 'f08_errors: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program errors
