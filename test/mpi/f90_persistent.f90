! Persistent requests through the mpi module: all send modes, start and startall, free; also matched probes.
! ranks: 1 2 4
! mpi: mpich openmpi
program persistent
  use mpi
  implicit none
  integer, parameter :: k = 4
  integer :: rank, size, ierr, next, prev, i, round, message, n
  integer :: in(k), out(k), reqs(2 * k), stats(MPI_STATUS_SIZE, 2 * k), status(MPI_STATUS_SIZE)
  integer :: space(1000), attached
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)

  attached = 4 * 1000
  call MPI_Buffer_attach(space, attached, ierr)
  do i = 1, k
    call MPI_Recv_init(in(i), 1, MPI_INTEGER, prev, i, MPI_COMM_WORLD, reqs(i), ierr)
  end do
  call MPI_Send_init(out(1), 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, reqs(5), ierr)
  call MPI_Ssend_init(out(2), 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, reqs(6), ierr)
  call MPI_Bsend_init(out(3), 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, reqs(7), ierr)
  call MPI_Rsend_init(out(4), 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD, reqs(8), ierr)
  do round = 1, 5
    out = [(100 * rank + 10 * round + i, i = 1, k)]
    call MPI_Startall(k, reqs, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do i = k + 1, 2 * k
      call MPI_Start(reqs(i), ierr)
    end do
    if (mod(round, 2) == 0) then
      call MPI_Waitall(2 * k, reqs, MPI_STATUSES_IGNORE, ierr)
    else
      call MPI_Waitall(2 * k, reqs, stats, ierr)
      call check(all(stats(MPI_TAG, 1:k) == [(i, i = 1, k)]), 'tags')
    end if
    call check(all(reqs /= MPI_REQUEST_NULL), 'requests stay')
    call check(all(in == [(100 * prev + 10 * round + i, i = 1, k)]), 'data')
  end do
  call MPI_Test(reqs(1), flag, status, ierr)
  call check(flag, 'an inactive request is complete')
  do i = 1, 2 * k
    call MPI_Request_free(reqs(i), ierr)
  end do
  call check(all(reqs == MPI_REQUEST_NULL), 'freed')
  call MPI_Buffer_detach(space, attached, ierr)

  call MPI_Isend(out, k, MPI_INTEGER, next, 9, MPI_COMM_WORLD, reqs(1), ierr)
  call MPI_Mprobe(prev, 9, MPI_COMM_WORLD, message, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, n, ierr)
  call check(n == k .and. message /= MPI_MESSAGE_NULL, 'mprobe')
  call MPI_Mrecv(in, n, MPI_INTEGER, message, status, ierr)
  call check(message == MPI_MESSAGE_NULL .and. status(MPI_SOURCE) == prev, 'mrecv')
  call MPI_Wait(reqs(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Improbe(prev, 11, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE, ierr)
  call check(.not. flag, 'improbe of nothing')
  call MPI_Isend(out, k, MPI_INTEGER, next, 10, MPI_COMM_WORLD, reqs(1), ierr)
  call MPI_Probe(prev, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Improbe(prev, 10, MPI_COMM_WORLD, flag, message, status, ierr)
  call check(flag .and. status(MPI_TAG) == 10, 'improbe')
  call MPI_Imrecv(in, k, MPI_INTEGER, message, reqs(2), ierr)
  call MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE, ierr)
  call MPI_Mprobe(MPI_PROC_NULL, 10, MPI_COMM_WORLD, message, status, ierr)
  call check(message == MPI_MESSAGE_NO_PROC, 'no process')
  call MPI_Mrecv(in, k, MPI_INTEGER, message, status, ierr)
  call check(status(MPI_SOURCE) == MPI_PROC_NULL, 'from nobody')

  if (rank == 0) print '(a)', 'f90_persistent: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program persistent
