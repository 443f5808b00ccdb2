! What MPI-4 added, through mpi_f08: persistent collectives, partitions, combined nonblocking calls, strings of infos.
! ranks: 2
! mpi: mpich openmpi>=6.0
program mpi4
  use mpi_f08
  implicit none
  integer, parameter :: parts = 4
  integer :: rank, size, next, prev, i, n, k
  integer, asynchronous :: a(8), b(8), c(8)
  integer, allocatable, asynchronous :: ones(:), at(:), bytes(:)
  type(MPI_Datatype), allocatable, asynchronous :: types(:)
  type(MPI_Request) :: reqs(16), req
  type(MPI_Info) :: info
  type(MPI_Comm) :: comm
  type(MPI_Group) :: group
  integer(MPI_ADDRESS_KIND), asynchronous :: zero(1) = 0
  character(len=8) :: value
  character(len=20) :: wide
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  allocate (ones(size), at(size), bytes(size), types(size))
  ones = 1
  at = [(i - 1, i = 1, size)]
  bytes = 4 * at
  types = MPI_INTEGER

  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, reqs(1))
  call MPI_Bcast_init(a, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(2))
  call MPI_Gather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(3))
  call MPI_Gatherv_init(a, 1, MPI_INTEGER, b, ones, at, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(4))
  call MPI_Scatter_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(5))
  call MPI_Scatterv_init(a, ones, at, MPI_INTEGER, b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(6))
  call MPI_Allgather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(7))
  call MPI_Allgatherv_init(a, 1, MPI_INTEGER, b, ones, at, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(8))
  call MPI_Alltoall_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(9))
  call MPI_Alltoallv_init(a, ones, at, MPI_INTEGER, b, ones, at, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(10))
  call MPI_Alltoallw_init(a, ones, bytes, types, b, ones, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(11))
  call MPI_Reduce_init(a, b, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(12))
  call MPI_Allreduce_init(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(13))
  call MPI_Reduce_scatter_init(a, b, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(14))
  call MPI_Scan_init(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(15))
  call MPI_Exscan_init(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(16))
  do k = 1, 2
    do i = 1, 16
      a = 1
      call MPI_Start(reqs(i))
      call MPI_Wait(reqs(i), MPI_STATUS_IGNORE)
      if (i == 13) call check(b(1) == size, 'allreduce')
      if (i == 15) call check(b(1) == rank + 1, 'scan')
    end do
  end do
  do i = 1, 16
    call MPI_Request_free(reqs(i))
  end do
  call MPI_Reduce_scatter_block_init(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, req)
  call MPI_Start(req)
  call MPI_Wait(req, MPI_STATUS_IGNORE)
  call MPI_Request_free(req)

  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [prev], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., comm)
  call MPI_Neighbor_allgather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, comm, MPI_INFO_NULL, reqs(1))
  call MPI_Neighbor_allgatherv_init(a, 1, MPI_INTEGER, b, ones, at, MPI_INTEGER, comm, MPI_INFO_NULL, reqs(2))
  call MPI_Neighbor_alltoall_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, comm, MPI_INFO_NULL, reqs(3))
  call MPI_Neighbor_alltoallv_init(a, ones, at, MPI_INTEGER, b, ones, at, MPI_INTEGER, comm, MPI_INFO_NULL, reqs(4))
  call MPI_Neighbor_alltoallw_init(a, ones, zero, types, b, ones, zero, types, comm, MPI_INFO_NULL, reqs(5))
  do i = 1, 5
    a = rank
    b = -1
    call MPI_Start(reqs(i))
    call MPI_Wait(reqs(i), MPI_STATUS_IGNORE)
    call check(b(1) == prev, 'neighbour')
    call MPI_Request_free(reqs(i))
  end do
  call MPI_Comm_free(comm)

  ! Two integers in each of four partitions.
  a = [(10 * rank + i, i = 1, 8)]
  b = -1
  call MPI_Psend_init(a, parts, 2_MPI_COUNT_KIND, MPI_INTEGER, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(1))
  call MPI_Precv_init(b, parts, 2_MPI_COUNT_KIND, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, MPI_INFO_NULL, reqs(2))
  call MPI_Startall(2, reqs)
  call MPI_Pready(3, reqs(1))
  call MPI_Pready_range(0, 1, reqs(1))
  call MPI_Pready_list(1, [2], reqs(1))
  flag = .false.
  do while (.not. flag)
    call MPI_Parrived(reqs(2), 0, flag)
  end do
  call MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE)
  call check(b(8) == 10 * prev + 8, 'partitions')
  call MPI_Request_free(reqs(1))
  call MPI_Request_free(reqs(2))

  call MPI_Isendrecv(a, 2, MPI_INTEGER, next, 2, c, 2, MPI_INTEGER, prev, 2, MPI_COMM_WORLD, reqs(1))
  call MPI_Wait(reqs(1), MPI_STATUS_IGNORE)
  call check(c(2) == 10 * prev + 2, 'isendrecv')
  call MPI_Isendrecv_replace(a, 2, MPI_INTEGER, next, 3, prev, 3, MPI_COMM_WORLD, reqs(1))
  call MPI_Wait(reqs(1), MPI_STATUS_IGNORE)
  call check(a(2) == 10 * prev + 2, 'isendrecv_replace')

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'fruit', 'apple')
  n = 8
  call MPI_Info_get_string(info, 'fruit', n, value, flag)
  call check(flag .and. value == 'apple', 'string')
  n = 20
  call MPI_Info_get_string(info, 'tree', n, wide, flag)
  call check(.not. flag, 'no string')
  call MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, comm, reqs(1))
  call MPI_Wait(reqs(1), MPI_STATUS_IGNORE)
  call MPI_Comm_free(comm)
  call MPI_Info_free(info)
  call MPI_Comm_group(MPI_COMM_WORLD, group)
  call MPI_Comm_create_from_group(group, 'by name', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm)
  call MPI_Comm_size(comm, n)
  call check(n == size, 'from group')
  call MPI_Comm_free(comm)
  call MPI_Group_free(group)
  if (rank == 0) print '(a)', 'f08_mpi4: ok'
  call MPI_Finalize()
contains
  include 'check.inc'
end program mpi4
