! Cartesian, graph and distributed graph topologies through the mpi module, with blocking neighbourhood collectives.
! ranks: 4 6
! mpi: mpich openmpi
program topology
  use mpi
  implicit none
  ! Two ranks are too few: Open MPI 4.1 takes the w form's arrays to be as long as the communicator.
  integer :: rank, size, ierr, comm, sub, i, n, kind, source, dest, newrank, nodes, edges, n_in, n_out
  integer :: dims(2), got(2), coords(2), mine(2), displs(4), counts(4), types(4), sendbuf(4), recvbuf(4)
  integer(MPI_ADDRESS_KIND) :: at(4)
  integer, allocatable :: indx(:), edge(:), list(:), weights(:)
  integer :: from(1), to(1), w_in(1), w_out(1)
  logical :: periods(2), got_periods(2), weighted

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)

  dims = [0, 2]
  call MPI_Dims_create(size, 2, dims, ierr)
  call check(product(dims) == size .and. dims(2) == 2, 'dims')
  periods = [.false., .true.]
  call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, newrank, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., comm, ierr)
  call MPI_Topo_test(comm, kind, ierr)
  call check(kind == MPI_CART, 'cart')
  call MPI_Cartdim_get(comm, n, ierr)
  call MPI_Cart_get(comm, 2, got, got_periods, mine, ierr)
  call check(n == 2 .and. all(got == dims) .and. all(got_periods .eqv. periods), 'cart get')
  call MPI_Cart_coords(comm, rank, 2, coords, ierr)
  call check(all(coords == mine), 'coords')
  call MPI_Cart_rank(comm, coords, n, ierr)
  call check(n == rank, 'cart rank')
  call MPI_Cart_shift(comm, 0, 1, source, dest, ierr)
  call check(merge(source == MPI_PROC_NULL, source >= 0, coords(1) == 0), 'shift')
  call MPI_Cart_sub(comm, [.false., .true.], sub, ierr)
  call MPI_Comm_size(sub, n, ierr)
  call check(n == 2, 'sub')
  call MPI_Comm_free(sub, ierr)

  recvbuf = -1
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, recvbuf, 1, MPI_INTEGER, comm, ierr)
  call check(recvbuf(3) == ieor(rank, 1) .and. recvbuf(4) == ieor(rank, 1), 'neighbor_allgather')
  counts = 1
  displs = [0, 1, 2, 3]
  at = 4 * displs
  types = MPI_INTEGER
  sendbuf = rank
  call MPI_Neighbor_allgatherv(rank, 1, MPI_INTEGER, recvbuf, counts, displs, MPI_INTEGER, comm, ierr)
  call MPI_Neighbor_alltoall(sendbuf, 1, MPI_INTEGER, recvbuf, 1, MPI_INTEGER, comm, ierr)
  call MPI_Neighbor_alltoallv(sendbuf, counts, displs, MPI_INTEGER, recvbuf, counts, displs, MPI_INTEGER, comm, ierr)
  call MPI_Neighbor_alltoallw(sendbuf, counts, at, types, recvbuf, counts, at, types, comm, ierr)
  call check(recvbuf(4) == ieor(rank, 1), 'neighbor_alltoall')
  call MPI_Comm_free(comm, ierr)

  ! A ring as a graph: everybody knows all of it.
  allocate (indx(size), edge(2 * size))
  indx = [(2 * i, i = 1, size)]
  do i = 0, size - 1
    edge(2 * i + 1:2 * i + 2) = [modulo(i - 1, size), modulo(i + 1, size)]
  end do
  call MPI_Graph_map(MPI_COMM_WORLD, size, indx, edge, newrank, ierr)
  call MPI_Graph_create(MPI_COMM_WORLD, size, indx, edge, .false., comm, ierr)
  call MPI_Graphdims_get(comm, nodes, edges, ierr)
  call check(nodes == size .and. edges == 2 * size, 'graph dims')
  allocate (list(2 * size), weights(size))
  call MPI_Graph_get(comm, nodes, edges, weights, list, ierr)
  call check(all(list == edge) .and. all(weights == indx), 'graph get')
  call MPI_Graph_neighbors_count(comm, rank, n, ierr)
  call MPI_Graph_neighbors(comm, rank, n, list, ierr)
  call check(n == 2 .and. list(2) == modulo(rank + 1, size), 'graph neighbours')
  call MPI_Comm_free(comm, ierr)

  ! The same ring, one direction, as a distributed graph, in three ways.
  from = modulo(rank - 1, size)
  to = modulo(rank + 1, size)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, [3], 1, to, [4], MPI_INFO_NULL, .false., comm, ierr)
  call MPI_Dist_graph_neighbors_count(comm, n_in, n_out, weighted, ierr)
  call check(n_in == 1 .and. n_out == 1 .and. weighted, 'weighted')
  call MPI_Dist_graph_neighbors(comm, 1, list, w_in, 1, weights, w_out, ierr)
  call check(list(1) == from(1) .and. w_in(1) == 3 .and. weights(1) == to(1) .and. w_out(1) == 4, 'neighbours')
  call MPI_Comm_free(comm, ierr)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                      .false., comm, ierr)
  call MPI_Dist_graph_neighbors_count(comm, n_in, n_out, weighted, ierr)
  call check(.not. weighted, 'unweighted')
  call MPI_Comm_free(comm, ierr)
  n = merge(size, 0, rank == 0)
  list(1:size) = [(i, i = 0, size - 1)]
  edge(1:size) = [(modulo(i + 1, size), i = 0, size - 1)]
  weights = 1
  if (rank == 0) then
    call MPI_Dist_graph_create(MPI_COMM_WORLD, n, list, weights, edge, weights, MPI_INFO_NULL, .false., comm, ierr)
  else
    call MPI_Dist_graph_create(MPI_COMM_WORLD, n, list, weights, edge, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., &
                               comm, ierr)
  end if
  recvbuf = -1
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, recvbuf, 1, MPI_INTEGER, comm, ierr)
  call check(recvbuf(1) == from(1), 'ring')
  call MPI_Comm_free(comm, ierr)

  if (rank == 0) print '(a)', 'f90_topology: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program topology
