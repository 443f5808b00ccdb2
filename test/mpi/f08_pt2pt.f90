! All point-to-point calls through mpi_f08, with ierror left out, and statuses as a derived type.
! ranks: 1 2 4
! mpi: mpich openmpi !openmpi>=6.0
! Not with Open MPI 6.0.0rc2, which refuses to start a persistent request of its own mpi_f08.
! nondet: how often a test fails
program pt2pt
  use mpi_f08
  implicit none
  integer, parameter :: k = 4
  integer :: rank, size, next, prev, i, n, round, done, left, indx
  integer :: in(k), out(k), list(2 * k)
  integer, asynchronous :: space(1000)
  type(MPI_Request) :: reqs(2 * k)
  type(MPI_Status) :: stats(2 * k), status
  type(MPI_Message) :: message
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  out = [(100 * rank + i, i = 1, k)]

  call attach()
  do round = 1, 8
    in = -1
    call MPI_Irecv(in, k, MPI_INTEGER, prev, round, MPI_COMM_WORLD, reqs(1))
    call MPI_Barrier(MPI_COMM_WORLD)
    reqs(2) = MPI_REQUEST_NULL
    select case (round)
    case (1); call MPI_Send(out, k, MPI_INTEGER, next, round, MPI_COMM_WORLD)
    case (2); call MPI_Bsend(out, k, MPI_INTEGER, next, round, MPI_COMM_WORLD)
    case (3); call MPI_Ssend(out, k, MPI_INTEGER, next, round, MPI_COMM_WORLD)
    case (4); call MPI_Rsend(out, k, MPI_INTEGER, next, round, MPI_COMM_WORLD)
    case (5); call MPI_Isend(out, k, MPI_INTEGER, next, round, MPI_COMM_WORLD, reqs(2))
    case (6); call MPI_Ibsend(out, k, MPI_INTEGER, next, round, MPI_COMM_WORLD, reqs(2))
    case (7); call MPI_Issend(out, k, MPI_INTEGER, next, round, MPI_COMM_WORLD, reqs(2))
    case (8); call MPI_Irsend(out, k, MPI_INTEGER, next, round, MPI_COMM_WORLD, reqs(2))
    end select
    call MPI_Waitall(2, reqs, stats)
    call check(stats(1)%MPI_SOURCE == prev .and. stats(1)%MPI_TAG == round, 'status')
    call MPI_Get_count(stats(1), MPI_INTEGER, n)
    call check(n == k .and. all(in == [(100 * prev + i, i = 1, k)]), 'data')
  end do
  call detach()

  call MPI_Sendrecv(out, k, MPI_INTEGER, next, 11, in, k, MPI_INTEGER, prev, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call check(in(1) == 100 * prev + 1, 'sendrecv')
  in = out
  call MPI_Sendrecv_replace(in, k, MPI_INTEGER, next, 12, prev, 12, MPI_COMM_WORLD, status)
  call check(status%MPI_TAG == 12 .and. in(k) == 100 * prev + k, 'sendrecv_replace')

  call MPI_Isend(out, k, MPI_INTEGER, next, 13, MPI_COMM_WORLD, reqs(1))
  call MPI_Probe(prev, 13, MPI_COMM_WORLD, status)
  call MPI_Iprobe(prev, 13, MPI_COMM_WORLD, flag, status)
  call check(flag .and. status%MPI_SOURCE == prev, 'iprobe')
  call MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, message, status)
  call check(message /= MPI_MESSAGE_NULL .and. status%MPI_TAG == 13, 'mprobe')
  call MPI_Mrecv(in, k, MPI_INTEGER, message, MPI_STATUS_IGNORE)
  call MPI_Wait(reqs(1), MPI_STATUS_IGNORE)
  call check(reqs(1) == MPI_REQUEST_NULL, 'null')
  call MPI_Isend(out, k, MPI_INTEGER, next, 14, MPI_COMM_WORLD, reqs(1))
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(prev, 14, MPI_COMM_WORLD, flag, message, status)
  end do
  call MPI_Imrecv(in, k, MPI_INTEGER, message, reqs(2))
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(2, reqs, flag, MPI_STATUSES_IGNORE)
  end do

  ! Persistent ones, completed in all ways.
  do i = 1, k
    call MPI_Recv_init(in(i), 1, MPI_INTEGER, prev, i, MPI_COMM_WORLD, reqs(i))
  end do
  call attach()
  call MPI_Send_init(out(1), 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, reqs(5))
  call MPI_Bsend_init(out(2), 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, reqs(6))
  call MPI_Ssend_init(out(3), 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, reqs(7))
  call MPI_Rsend_init(out(4), 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD, reqs(8))
  do round = 1, 6
    in = -1
    call MPI_Startall(k, reqs)
    call MPI_Barrier(MPI_COMM_WORLD)
    do i = k + 1, 2 * k
      call MPI_Start(reqs(i))
    end do
    left = 2 * k
    do while (left > 0)
      done = 0
      select case (round)
      case (1)
        call MPI_Waitany(2 * k, reqs, indx, status)
        call check(indx >= 0 .and. indx <= 2 * k, 'waitany') ! some MPICHs count from 0 here
        done = 1
      case (2)
        call MPI_Testany(2 * k, reqs, indx, flag, MPI_STATUS_IGNORE)
        if (flag .and. indx /= MPI_UNDEFINED) done = 1
      case (3)
        call MPI_Waitsome(2 * k, reqs, done, list, stats)
        do i = 1, done
          call check(list(i) >= 0 .and. list(i) <= 2 * k, 'waitsome')
        end do
      case (4)
        call MPI_Testsome(2 * k, reqs, done, list, MPI_STATUSES_IGNORE)
      case (5)
        call MPI_Test(reqs(left), flag, status)
        if (flag) done = 1
      case (6)
        call MPI_Request_get_status(reqs(left), flag, status)
        if (flag) call MPI_Wait(reqs(left), MPI_STATUS_IGNORE)
        if (flag) done = 1
      end select
      left = left - done
    end do
    call check(all(in == [(100 * prev + i, i = 1, k)]), 'persistent')
  end do
  do i = 1, 2 * k
    call MPI_Request_free(reqs(i))
  end do
  call detach()

  call MPI_Irecv(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, reqs(1))
  call MPI_Cancel(reqs(1))
  call MPI_Wait(reqs(1), status)
  call MPI_Test_cancelled(status, flag)
  call check(flag, 'cancelled')
  call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status)
  call check(status%MPI_SOURCE == MPI_PROC_NULL, 'proc null')
  call MPI_Status_set_cancelled(status, .true.)
  call MPI_Status_set_elements(status, MPI_INTEGER, 3)
  call MPI_Get_elements(status, MPI_INTEGER, n)
  call MPI_Test_cancelled(status, flag)
  call check(flag .and. n == 3, 'status set')

  if (rank == 0) print '(a)', 'f08_pt2pt: ok'
  call MPI_Finalize()
contains
  subroutine attach()
    call MPI_Buffer_attach(space, 4000)
  end subroutine attach

  subroutine detach()
    use, intrinsic :: iso_c_binding
    type(c_ptr) :: where
    integer :: bytes
    call MPI_Buffer_detach(where, bytes)
    call check(bytes == 4000, 'detached')
  end subroutine detach

  include 'check.inc'
end program pt2pt
