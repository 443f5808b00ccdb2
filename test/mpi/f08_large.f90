! Counts of kind MPI_COUNT_KIND through mpi_f08, which has a specific procedure for each.
! ranks: 2 4
! mpi: mpich openmpi>=6.0
program large
  use mpi_f08
  implicit none
  integer(MPI_COUNT_KIND), parameter :: four = 4, one = 1
  integer :: rank, size, next, prev, i
  integer(MPI_COUNT_KIND) :: n, pos, big, lb, extent
  integer(MPI_COUNT_KIND), allocatable, asynchronous :: counts(:)
  integer(MPI_ADDRESS_KIND), allocatable, asynchronous :: displs(:)
  integer, asynchronous :: a(64), b(64)
  integer :: packed(16)
  type(MPI_Request) :: reqs(2)
  type(MPI_Status) :: status
  type(MPI_Datatype) :: type

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  allocate (counts(size), displs(size))
  counts = 1
  displs = [(i - 1, i = 1, size)]
  a = rank
  b = -1
  call MPI_Irecv(b, four, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, reqs(1))
  call MPI_Isend(a, four, MPI_INTEGER, next, 1, MPI_COMM_WORLD, reqs(2))
  call MPI_Wait(reqs(1), status)
  call MPI_Wait(reqs(2), MPI_STATUS_IGNORE)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call check(n == 4 .and. b(4) == prev, 'isend')
  call MPI_Get_elements(status, MPI_INTEGER, n)
  call check(n == 4, 'elements')
  call MPI_Sendrecv(a, four, MPI_INTEGER, next, 2, b, four, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  if (mod(rank, 2) == 0) then
    call MPI_Send(a, four, MPI_INTEGER, next, 3, MPI_COMM_WORLD)
    call MPI_Recv(b, four, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, status)
  else
    call MPI_Recv(b, four, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Ssend(a, four, MPI_INTEGER, next, 3, MPI_COMM_WORLD)
  end if
  call MPI_Bcast(a, four, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call check(a(4) == 0, 'bcast')
  a = rank
  call MPI_Allreduce(MPI_IN_PLACE, a, four, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call check(a(4) == size - 1, 'allreduce')
  call MPI_Gather([rank], one, MPI_INTEGER, b, one, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call MPI_Allgatherv([rank], one, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
  call check(b(size) == size - 1, 'allgatherv')
  call MPI_Alltoallv(a, counts, displs, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
  call MPI_Ialltoall(a, one, MPI_INTEGER, b, one, MPI_INTEGER, MPI_COMM_WORLD, reqs(1))
  call MPI_Wait(reqs(1), MPI_STATUS_IGNORE)
  call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)

  call MPI_Type_vector(four, one, 2_MPI_COUNT_KIND, MPI_INTEGER, type)
  call MPI_Type_commit(type)
  call MPI_Type_size(type, big)
  call check(big == 16, 'size')
  call MPI_Type_get_extent(type, lb, extent)
  call check(extent == 28, 'extent')
  call MPI_Type_free(type)
  call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_BYTE, type)
  call MPI_Type_size(type, big)
  call check(big == 3000000000_MPI_COUNT_KIND, 'more than 32 bits')
  call MPI_Type_free(type)
  pos = 0
  call MPI_Pack(a, four, MPI_INTEGER, packed, 64_MPI_COUNT_KIND, pos, MPI_COMM_WORLD)
  call check(pos == 16, 'packed')
  pos = 0
  call MPI_Unpack(packed, 64_MPI_COUNT_KIND, pos, b, four, MPI_INTEGER, MPI_COMM_WORLD)
  call check(b(4) == a(4), 'unpacked')
  if (rank == 0) print '(a)', 'f08_large: ok'
  call MPI_Finalize()
contains
  include 'check.inc'
end program large
