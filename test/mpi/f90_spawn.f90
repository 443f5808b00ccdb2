! Spawned processes with arguments, and two worlds that meet at a port, through the mpi module.
! ranks: 1 2
! mpi: openmpi !openmpi=5.0
! Not with Open MPI 5.0.7, whose launcher crashes in MPI_Comm_spawn_multiple.
program spawn
  use mpi
  implicit none
  integer :: rank, ierr, parent, child, codes(2), number, counts(2), infos(2), all_codes(2), length, size
  character(len=MPI_MAX_PORT_NAME) :: port
  character(len=512) :: self
  character(len=16) :: argv(3), arg, argvs(2, 2)
  character(len=512) :: commands(2)

  call MPI_Init(ierr)
  call MPI_Comm_get_parent(parent, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  if (parent /= MPI_COMM_NULL) then
    call get_command_argument(1, arg)
    call MPI_Bcast(number, 1, MPI_INTEGER, 0, parent, ierr)
    call check(number == 17 .and. arg(1:3) == 'arg', 'child')
    call MPI_Comm_disconnect(parent, ierr)
    call MPI_Finalize(ierr)
    stop
  end if
  call get_command_argument(0, self, length)
  number = 17
  argv = ['argone', 'two   ', '      ']
  call MPI_Comm_spawn(self, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, child, codes, ierr)
  if (rank == 0) call check(all(codes == MPI_SUCCESS), 'codes')
  call MPI_Bcast(number, 1, MPI_INTEGER, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), child, ierr)
  call MPI_Comm_disconnect(child, ierr)
  commands = self
  argvs(1, :) = ['arg-a', '     ']
  argvs(2, :) = ['arg-b', '     ']
  counts = 1
  infos = MPI_INFO_NULL
  call MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, child, all_codes, ierr)
  call MPI_Bcast(number, 1, MPI_INTEGER, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), child, ierr)
  call MPI_Comm_disconnect(child, ierr)
  if (size > 1) then
    if (rank == 0) then
      call MPI_Open_port(MPI_INFO_NULL, port, ierr)
      call MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 1, 1, MPI_COMM_WORLD, ierr)
      call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, child, ierr)
      call MPI_Close_port(port, ierr)
    else
      call MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, child, ierr)
    end if
    call MPI_Comm_disconnect(child, ierr)
  end if
  if (rank == 0) print '(a)', 'f90_spawn: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program spawn
