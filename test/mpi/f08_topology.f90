! Topologies through mpi_f08, with nonblocking neighbourhood collectives on each kind.
! ranks: 2 4
! mpi: mpich openmpi !mpich>=5.0
! Not with MPICH 5.0.2, which knows no topology of what its mpi_f08 made with MPI_Dist_graph_create_adjacent.
program topology
  use mpi_f08
  implicit none
  integer :: rank, size, n, i, k, kind, source, dest, newrank, nodes, edges, n_in, n_out
  integer :: dims(1), got(1), coords(1), from(1), to(1), w_in(1), w_out(1)
  integer, allocatable :: indx(:), edge(:), list(:), w(:)
  type(MPI_Comm) :: comms(3), sub
  logical :: periods(1), weighted

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  from = modulo(rank - 1, size)
  to = modulo(rank + 1, size)

  dims = 0
  call MPI_Dims_create(size, 1, dims)
  call MPI_Cart_map(MPI_COMM_WORLD, 1, dims, [.true.], newrank)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, [.true.], .false., comms(1))
  call MPI_Cartdim_get(comms(1), n)
  call MPI_Cart_get(comms(1), 1, got, periods, coords)
  call check(n == 1 .and. got(1) == size .and. periods(1) .and. coords(1) == rank, 'cart')
  call MPI_Cart_coords(comms(1), rank, 1, coords)
  call MPI_Cart_rank(comms(1), coords, n)
  call check(n == rank, 'rank')
  call MPI_Cart_shift(comms(1), 0, 1, source, dest)
  call check(source == from(1) .and. dest == to(1), 'shift')
  call MPI_Cart_sub(comms(1), [.true.], sub)
  call MPI_Topo_test(sub, kind)
  call check(kind == MPI_CART, 'sub')
  call MPI_Comm_free(sub)

  allocate (indx(size), edge(2 * size), list(2 * size), w(size))
  indx = [(2 * i, i = 1, size)]
  do i = 0, size - 1
    edge(2 * i + 1:2 * i + 2) = [modulo(i - 1, size), modulo(i + 1, size)]
  end do
  call MPI_Graph_map(MPI_COMM_WORLD, size, indx, edge, newrank)
  call MPI_Graph_create(MPI_COMM_WORLD, size, indx, edge, .false., comms(2))
  call MPI_Graphdims_get(comms(2), nodes, edges)
  call MPI_Graph_get(comms(2), nodes, edges, w, list)
  call check(all(list == edge), 'graph')
  call MPI_Graph_neighbors_count(comms(2), rank, n)
  call MPI_Graph_neighbors(comms(2), rank, n, list)
  call check(list(1) == from(1) .and. list(2) == to(1), 'neighbours')

  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], to, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comms(3))
  call MPI_Comm_free(comms(3))
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, [7], 1, to, [8], MPI_INFO_NULL, .false., comms(3))
  call MPI_Dist_graph_neighbors_count(comms(3), n_in, n_out, weighted)
  call check(n_in == 1 .and. n_out == 1 .and. weighted, 'distributed graph')
  call MPI_Dist_graph_neighbors(comms(3), 1, list, w_in, 1, w, w_out)
  call check(w_in(1) == 7 .and. w_out(1) == 8, 'weights')

  do k = 1, 3
    call exchange(comms(k), merge(1, 2, k == 3))
    call MPI_Comm_free(comms(k))
  end do
  if (rank == 0) print '(a)', 'f08_topology: ok'
  call MPI_Finalize()
contains
  subroutine exchange(comm, degree)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: degree
    integer, asynchronous :: mine, out(2), in(2), ones(2), at(2)
    integer(MPI_ADDRESS_KIND), asynchronous :: bytes(2)
    type(MPI_Datatype), asynchronous :: types(2)
    type(MPI_Request) :: req
    integer :: form
    mine = rank
    out = rank
    ones = 1
    at = [0, 1]
    bytes = [0, 4]
    types = MPI_INTEGER
    do form = 1, merge(10, 8, degree == 1) ! MPICH 4.0 knows the w form on distributed graphs alone
      in = -1
      req = MPI_REQUEST_NULL
      select case (form)
      case (1); call MPI_Neighbor_allgather(mine, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm)
      case (2); call MPI_Ineighbor_allgather(mine, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm, req)
      case (3); call MPI_Neighbor_allgatherv(mine, 1, MPI_INTEGER, in, ones, at, MPI_INTEGER, comm)
      case (4); call MPI_Ineighbor_allgatherv(mine, 1, MPI_INTEGER, in, ones, at, MPI_INTEGER, comm, req)
      case (5); call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm)
      case (6); call MPI_Ineighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm, req)
      case (7); call MPI_Neighbor_alltoallv(out, ones, at, MPI_INTEGER, in, ones, at, MPI_INTEGER, comm)
      case (8); call MPI_Ineighbor_alltoallv(out, ones, at, MPI_INTEGER, in, ones, at, MPI_INTEGER, comm, req)
      case (9); call MPI_Neighbor_alltoallw(out, ones, bytes, types, in, ones, bytes, types, comm)
      case (10); call MPI_Ineighbor_alltoallw(out, ones, bytes, types, in, ones, bytes, types, comm, req)
      end select
      call MPI_Wait(req, MPI_STATUS_IGNORE)
      call check(in(1) == from(1), 'left neighbour')
      if (degree == 2) call check(in(2) == to(1), 'right neighbour')
    end do
  end subroutine exchange

  include 'check.inc'
end program topology
