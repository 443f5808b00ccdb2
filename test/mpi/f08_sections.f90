! Array sections with strides as buffers, which only a library with descriptors gets as they are.
! ranks: 2 4
! mpi: mpich !mpich>=5.0
! Not with MPICH 5.0.2, whose libraries lack mpi_f_sync_reg_, which its module calls.
! uncompared: the binding sends sections as one element of a datatype of its own
program sections
  use mpi_f08
  implicit none
  integer :: rank, size, next, prev, i, j
  integer, asynchronous :: a(6, 6), b(6, 6), line(6)
  type(MPI_Request) :: reqs(2)

  call MPI_Init()
  call check(MPI_SUBARRAYS_SUPPORTED, 'sections')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  a = reshape([((100 * rank + 10 * i + j, i = 1, 6), j = 1, 6)], [6, 6])
  b = -1
  call MPI_Sendrecv(a(2, :), 6, MPI_INTEGER, next, 1, b(3, :), 6, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call check(all(b(3, :) == [(100 * prev + 20 + j, j = 1, 6)]) .and. all(b(4, :) == -1), 'row')
  ! One dimension only: MPICH 4.0 mixes up the columns of strided matrices.
  call MPI_Irecv(b(1:5:2, 4), 3, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, reqs(1))
  call MPI_Isend(a(2:6:2, 2), 3, MPI_INTEGER, next, 2, MPI_COMM_WORLD, reqs(2))
  call MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE)
  call MPI_F_sync_reg(b)
  call check(all(b(1:5:2, 4) == 100 * prev + [22, 42, 62]) .and. b(2, 4) == -1, 'every second')
  line = a(1, :)
  call MPI_Bcast(line(6:1:-1), 6, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call check(line(1) == 11, 'backwards')
  if (rank == 0) print '(a)', 'f08_sections: ok'
  call MPI_Finalize()
contains
  include 'check.inc'
end program sections
