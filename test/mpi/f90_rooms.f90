! Arrays with more room than the MPI has to write, filled with rubbish that is another in each call, through the
! module mpi: datatypes, whose handles would have to be converted, and topologies. Open MPI 4 looks at datatypes in
! memory that it allocates for all of the room, and fills all of the addresses; MPICH 4 fills all of the room for neighbours in a distributed graph.
! ranks: 1 4
! mpi: mpich openmpi
program rooms
  use mpi
  implicit none
  integer, parameter :: room = 50
  integer :: rank, size, length, datatypes, i, k, last, next, ierr, t(2), cart, graph, weighted
  integer :: a(room), b(room), c(room), d(room)
  integer, allocatable :: indx(:), edge(:)
  integer(kind=MPI_ADDRESS_KIND) :: addr(room)
  logical :: periods(room)
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Get_library_version(version, length, ierr)
  datatypes = merge(1, room, index(version, 'Open MPI') > 0)
  last = modulo(rank - 1, size)
  next = modulo(rank + 1, size)
  allocate (indx(size), edge(size))
  indx = [(i, i = 1, size)]
  edge = [(modulo(i, size), i = 1, size)]
  call MPI_Type_contiguous(3, MPI_INTEGER, t(1), ierr)
  call MPI_Type_vector(2, 3, 4, t(1), t(2), ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.false.], .false., cart, ierr)
  call MPI_Graph_create(MPI_COMM_WORLD, size, indx, edge, .false., graph, ierr)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [last], [3], 1, [next], [4], MPI_INFO_NULL, .false., weighted, ierr)
  do k = 1, 3
    do i = 1, 2
      call soil()
      call MPI_Type_get_contents(t(i), room, room, datatypes, a, addr, d, ierr)
      call check(all(a(2 * i:) == k * 1000003), 'integers')
      call check(all(d(2:) == k * 1000003 + 3), 'datatypes')
      if (i == 2) call MPI_Type_free(d(1), ierr)
    end do
    call soil()
    call MPI_Cart_get(cart, room, a, periods, c, ierr)
    call MPI_Cart_coords(cart, rank, room, d, ierr)
    call check(a(1) == size .and. .not. periods(1) .and. c(1) == rank .and. d(1) == rank, 'cart')
    call check(all(a(2:) == k * 1000003) .and. all(d(2:) == k * 1000003 + 3), 'rest of cart')
    call soil()
    call MPI_Graph_get(graph, room, room, a, b, ierr)
    call MPI_Graph_neighbors(graph, rank, room, c, ierr)
    call check(b(rank + 1) == next .and. c(1) == next, 'graph')
    call check(all(b(size + 1:) == k * 1000003 + 1) .and. all(c(2:) == k * 1000003 + 2), 'rest of graph')
    call soil()
    call MPI_Dist_graph_neighbors(weighted, room, a, b, room, c, d, ierr)
    call check(a(1) == last .and. b(1) == 3 .and. c(1) == next .and. d(1) == 4, 'weighted')
  end do
  do i = 1, 2
    call MPI_Type_free(t(i), ierr)
  end do
  call MPI_Comm_free(cart, ierr)
  call MPI_Comm_free(graph, ierr)
  call MPI_Comm_free(weighted, ierr)
  if (rank == 0) print '(a)', 'rooms: ok'
  call MPI_Finalize(ierr)
contains
  subroutine soil()
    a = k * 1000003
    b = k * 1000003 + 1
    c = k * 1000003 + 2
    d = k * 1000003 + 3
    addr = k * 1000003
    periods = [(modulo(i + k, 2) == 0, i = 1, room)]
  end subroutine soil
  include 'check.inc'
end program rooms
