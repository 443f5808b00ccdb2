! Blocking and nonblocking collectives through mpi_f08, side by side, with an own operation and IN_PLACE.
! ranks: 1 2 4
! mpi: mpich openmpi !openmpi>=6.0
! Not with Open MPI 6.0.0rc2, whose mpi_f08 crashes in MPI_Ialltoall.
module operations
  use mpi_f08
  implicit none
contains
  subroutine add_up(invec, inoutvec, n, type)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: n
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    if (type /= MPI_INTEGER) error stop 1
    call c_f_pointer(invec, a, [n])
    call c_f_pointer(inoutvec, b, [n])
    b = a + b
  end subroutine add_up
end module operations

program collectives
  use mpi_f08
  use operations
  implicit none
  integer :: rank, size, i, n, nonblocking
  integer, asynchronous, allocatable :: a(:), b(:), counts(:), displs(:), ones(:), sdispls(:)
  integer, asynchronous :: one
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Request) :: req
  type(MPI_Op) :: op
  logical :: commutes
  type(MPI_Comm) :: world

  call MPI_Init()
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank)
  call MPI_Comm_size(world, size)
  n = size * (size + 1) / 2
  allocate (a(n), b(n), types(size))
  counts = [(i, i = 1, size)]
  displs = [(i * (i - 1) / 2, i = 1, size)]
  ones = [(1, i = 1, size)]
  types = MPI_INTEGER
  call MPI_Op_create(add_up, .true., op)
  call MPI_Op_commutative(op, commutes)
  call check(commutes, 'commutes')

  do nonblocking = 0, 1
    if (nonblocking == 0) call MPI_Barrier(world)
    if (nonblocking == 1) call MPI_Ibarrier(world, req)
    call finish()
    a(1) = merge(42, -1, rank == size - 1)
    if (nonblocking == 0) call MPI_Bcast(a, 1, MPI_INTEGER, size - 1, world)
    if (nonblocking == 1) call MPI_Ibcast(a, 1, MPI_INTEGER, size - 1, world, req)
    call finish()
    call check(a(1) == 42, 'bcast')

    one = rank
    if (nonblocking == 0) call MPI_Gather(one, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, world)
    if (nonblocking == 1) call MPI_Igather(one, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, world, req)
    call finish()
    one = -1
    if (nonblocking == 0) call MPI_Scatter(b, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, world)
    if (nonblocking == 1) call MPI_Iscatter(b, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, world, req)
    call finish()
    call check(one == rank, 'gather and scatter')
    a(1:rank + 1) = [(10 * rank + i, i = 1, rank + 1)]
    if (nonblocking == 0) call MPI_Gatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, 0, world)
    if (nonblocking == 1) call MPI_Igatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, 0, world, req)
    call finish()
    if (rank == 0) call check(b(n) == 10 * (size - 1) + size, 'gatherv')
    a = -1
    if (nonblocking == 0) call MPI_Scatterv(b, counts, displs, MPI_INTEGER, a, rank + 1, MPI_INTEGER, 0, world)
    if (nonblocking == 1) call MPI_Iscatterv(b, counts, displs, MPI_INTEGER, a, rank + 1, MPI_INTEGER, 0, world, req)
    call finish()
    call check(a(rank + 1) == 11 * rank + 1, 'scatterv')
    one = rank + 1
    if (nonblocking == 0) call MPI_Allgather(one, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world)
    if (nonblocking == 1) call MPI_Iallgather(one, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, req)
    call finish()
    call check(all(b(1:size) == counts), 'allgather')
    if (nonblocking == 0) call MPI_Allgatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, world)
    if (nonblocking == 1) call MPI_Iallgatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, world, req)
    call finish()
    call check(b(n) == 11 * size - 10, 'allgatherv')

    a(1:size) = [(100 * rank + i, i = 1, size)]
    if (nonblocking == 0) call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world)
    if (nonblocking == 1) call MPI_Ialltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, req)
    call finish()
    call check(b(size) == 100 * (size - 1) + rank + 1, 'alltoall')
    sdispls = [(i - 1, i = 1, size)]
    if (nonblocking == 0) call MPI_Alltoallv(a, ones, sdispls, MPI_INTEGER, b, ones, sdispls, MPI_INTEGER, world)
    if (nonblocking == 1) &
      call MPI_Ialltoallv(a, ones, sdispls, MPI_INTEGER, b, ones, sdispls, MPI_INTEGER, world, req)
    call finish()
    call check(b(size) == 100 * (size - 1) + rank + 1, 'alltoallv')
    sdispls = 4 * sdispls
    if (nonblocking == 0) call MPI_Alltoallw(a, ones, sdispls, types, b, ones, sdispls, types, world)
    if (nonblocking == 1) call MPI_Ialltoallw(a, ones, sdispls, types, b, ones, sdispls, types, world, req)
    call finish()
    call check(b(size) == 100 * (size - 1) + rank + 1, 'alltoallw')
    b(1:size) = a(1:size)
    if (nonblocking == 0) call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, world)
    if (nonblocking == 1) call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, world, req)
    call finish()
    call check(b(size) == 100 * (size - 1) + rank + 1, 'alltoall in place')

    one = 1
    if (nonblocking == 0) call MPI_Reduce(one, b, 1, MPI_INTEGER, MPI_SUM, 0, world)
    if (nonblocking == 1) call MPI_Ireduce(one, b, 1, MPI_INTEGER, MPI_SUM, 0, world, req)
    call finish()
    if (rank == 0) call check(b(1) == size, 'reduce')
    if (nonblocking == 0) call MPI_Allreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, op, world)
    if (nonblocking == 1) call MPI_Iallreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, op, world, req)
    call finish()
    call check(one == size, 'allreduce')
    a(1:size) = counts
    if (nonblocking == 0) call MPI_Reduce_scatter(a, one, ones, MPI_INTEGER, MPI_SUM, world)
    if (nonblocking == 1) call MPI_Ireduce_scatter(a, one, ones, MPI_INTEGER, MPI_SUM, world, req)
    call finish()
    call check(one == size * (rank + 1), 'reduce_scatter')
    if (nonblocking == 0) call MPI_Reduce_scatter_block(a, one, 1, MPI_INTEGER, MPI_SUM, world)
    if (nonblocking == 1) call MPI_Ireduce_scatter_block(a, one, 1, MPI_INTEGER, MPI_SUM, world, req)
    call finish()
    call check(one == size * (rank + 1), 'reduce_scatter_block')
    a(1) = rank
    if (nonblocking == 0) call MPI_Scan(a, one, 1, MPI_INTEGER, MPI_SUM, world)
    if (nonblocking == 1) call MPI_Iscan(a, one, 1, MPI_INTEGER, MPI_SUM, world, req)
    call finish()
    call check(one == rank * (rank + 1) / 2, 'scan')
    if (nonblocking == 0) call MPI_Exscan(a, one, 1, MPI_INTEGER, MPI_SUM, world)
    if (nonblocking == 1) call MPI_Iexscan(a, one, 1, MPI_INTEGER, MPI_SUM, world, req)
    call finish()
    if (rank > 0) call check(one == rank * (rank - 1) / 2, 'exscan')
  end do
  a(1) = 3
  one = 4
  call MPI_Reduce_local(a, one, 1, MPI_INTEGER, op)
  call check(one == 7, 'reduce_local')
  call MPI_Op_free(op)
  call check(op == MPI_OP_NULL, 'op freed')

  if (rank == 0) print '(a)', 'f08_collectives: ok'
  call MPI_Finalize()
contains
  subroutine finish()
    if (nonblocking == 1) call MPI_Wait(req, MPI_STATUS_IGNORE)
  end subroutine finish

  include 'check.inc'
end program collectives
