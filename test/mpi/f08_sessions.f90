! A program that starts MPI by a session, through mpi_f08: process sets, groups, communicators.
! ranks: 1 2
! mpi: mpich openmpi>=5.0
program sessions
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  type(MPI_Info) :: info
  type(MPI_Errhandler) :: handler
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=20) :: size_text
  integer :: n, i, length, rank, total
  logical :: flag

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  call MPI_Session_get_errhandler(session, handler)
  call MPI_Session_set_errhandler(session, handler)
  call MPI_Session_get_info(session, info)
  call MPI_Info_free(info)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n)
  call check(n >= 2, 'process sets')
  do i = 0, n - 1
    length = 0
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
    call check(length > 0, 'length')
    length = MPI_MAX_OBJECT_NAME
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
    call MPI_Session_get_pset_info(session, trim(name), info)
    call MPI_Info_get(info, 'mpi_size', 20, size_text, flag)
    call check(flag, 'size')
    call MPI_Info_free(info)
  end do
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group)
  call MPI_Comm_create_from_group(group, 'fortran', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
  call MPI_Group_free(group)
  call MPI_Comm_rank(comm, rank)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, comm)
  call MPI_Comm_size(comm, n)
  call check(total == n, 'sum')
  call MPI_Comm_free(comm)
  if (rank == 0) print '(a)', 'f08_sessions: ok'
  call MPI_Session_finalize(session)
contains
  include 'check.inc'
end program sessions
