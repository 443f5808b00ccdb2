! Nonblocking collectives through the mpi module, many under way at a time.
! ranks: 1 2 4
! mpi: mpich openmpi
program icollectives
  use mpi
  implicit none
  integer, parameter :: calls = 17
  integer :: rank, size, ierr, i, n, reqs(calls)
  integer, allocatable :: a(:, :), b(:, :), ones(:), at(:), at4(:), types(:)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  n = size
  allocate (a(n, calls), b(n, calls))
  ones = [(1, i = 1, n)]
  at = [(i - 1, i = 1, n)]
  at4 = 4 * at
  types = [(MPI_INTEGER, i = 1, n)]
  a = rank + 1
  b = -1

  call MPI_Ibarrier(MPI_COMM_WORLD, reqs(1), ierr)
  call MPI_Ibcast(a(1, 2), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, reqs(2), ierr)
  call MPI_Igather(a(1, 3), 1, MPI_INTEGER, b(1, 3), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, reqs(3), ierr)
  call MPI_Igatherv(a(1, 4), 1, MPI_INTEGER, b(1, 4), ones, at, MPI_INTEGER, 0, MPI_COMM_WORLD, reqs(4), ierr)
  call MPI_Iscatter(a(1, 5), 1, MPI_INTEGER, b(1, 5), 1, MPI_INTEGER, n - 1, MPI_COMM_WORLD, reqs(5), ierr)
  call MPI_Iscatterv(a(1, 6), ones, at, MPI_INTEGER, b(1, 6), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, reqs(6), ierr)
  call MPI_Iallgather(a(1, 7), 1, MPI_INTEGER, b(1, 7), 1, MPI_INTEGER, MPI_COMM_WORLD, reqs(7), ierr)
  call MPI_Iallgatherv(a(1, 8), 1, MPI_INTEGER, b(1, 8), ones, at, MPI_INTEGER, MPI_COMM_WORLD, reqs(8), ierr)
  call MPI_Ialltoall(a(1, 9), 1, MPI_INTEGER, b(1, 9), 1, MPI_INTEGER, MPI_COMM_WORLD, reqs(9), ierr)
  call MPI_Ialltoallv(a(1, 10), ones, at, MPI_INTEGER, b(1, 10), ones, at, MPI_INTEGER, MPI_COMM_WORLD, reqs(10), ierr)
  call MPI_Ialltoallw(a(1, 11), ones, at4, types, b(1, 11), ones, at4, types, MPI_COMM_WORLD, reqs(11), ierr)
  call MPI_Ireduce(a(1, 12), b(1, 12), n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, reqs(12), ierr)
  call MPI_Iallreduce(MPI_IN_PLACE, a(1, 13), n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, reqs(13), ierr)
  call MPI_Ireduce_scatter(a(1, 14), b(1, 14), ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, reqs(14), ierr)
  call MPI_Ireduce_scatter_block(a(1, 15), b(1, 15), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, reqs(15), ierr)
  call MPI_Iscan(a(1, 16), b(1, 16), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, reqs(16), ierr)
  call MPI_Iexscan(a(1, 17), b(1, 17), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, reqs(17), ierr)
  call MPI_Waitall(calls, reqs, MPI_STATUSES_IGNORE, ierr)

  call check(a(1, 2) == 1, 'ibcast')
  if (rank == 0) call check(all(b(:, 3) == at + 1) .and. all(b(:, 4) == at + 1), 'igather')
  call check(b(1, 5) == n .and. b(1, 6) == 1, 'iscatter')
  do i = 7, 11
    call check(all(b(:, i) == at + 1), 'iallgather, ialltoall')
  end do
  if (rank == 0) call check(all(b(:, 12) == n * (n + 1) / 2), 'ireduce')
  call check(all(a(:, 13) == n), 'iallreduce')
  call check(b(1, 14) == n * (n + 1) / 2 .and. b(1, 15) == n * (n + 1) / 2, 'ireduce_scatter')
  call check(b(1, 16) == (rank + 1) * (rank + 2) / 2, 'iscan')
  if (rank > 0) call check(b(1, 17) == rank * (rank + 1) / 2, 'iexscan')

  if (rank == 0) print '(a)', 'f90_icollectives: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program icollectives
