! Communicators, groups and intercommunicators through mpi_f08.
! ranks: 2 4 6
! mpi: mpich openmpi
program comms
  use mpi_f08
  implicit none
  integer :: rank, size, n, result, i, got
  integer, allocatable :: ranks(:), other(:)
  type(MPI_Group) :: world, odd, even, g
  type(MPI_Comm) :: comm, half, dup, inter, merged
  type(MPI_Request) :: req
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  allocate (ranks(size / 2), other(size / 2))
  ranks = [(2 * i, i = 0, size / 2 - 1)]
  call MPI_Comm_group(MPI_COMM_WORLD, world)
  call MPI_Group_incl(world, size / 2, ranks, even)
  call MPI_Group_excl(world, size / 2, ranks, odd)
  call MPI_Group_union(even, odd, g)
  call MPI_Group_size(g, n)
  call check(n == size, 'union')
  call MPI_Group_free(g)
  call MPI_Group_intersection(world, odd, g)
  call MPI_Group_compare(g, odd, result)
  call check(result == MPI_IDENT, 'intersection')
  call MPI_Group_free(g)
  call MPI_Group_difference(world, odd, g)
  call MPI_Group_rank(g, n)
  call check(n == merge(rank / 2, MPI_UNDEFINED, mod(rank, 2) == 0), 'rank')
  call MPI_Group_free(g)
  call MPI_Group_range_incl(world, 1, reshape([1, size - 1, 2], [3, 1]), g)
  call MPI_Group_compare(g, odd, result)
  call check(result == MPI_IDENT, 'range')
  call MPI_Group_free(g)
  call MPI_Group_range_excl(world, 1, reshape([1, size - 1, 2], [3, 1]), g)
  call MPI_Group_translate_ranks(g, size / 2, [(i, i = 0, size / 2 - 1)], world, other)
  call check(all(other == ranks), 'translated')
  call MPI_Group_free(g)

  call MPI_Comm_create(MPI_COMM_WORLD, odd, comm)
  call check((comm == MPI_COMM_NULL) .eqv. mod(rank, 2) == 0, 'create')
  if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm)
  if (mod(rank, 2) == 0) then
    call MPI_Comm_create_group(MPI_COMM_WORLD, even, 1, comm)
    call MPI_Comm_disconnect(comm)
  end if
  call MPI_Comm_idup(MPI_COMM_WORLD, dup, req)
  call MPI_Wait(req, MPI_STATUS_IGNORE)
  call MPI_Comm_compare(dup, MPI_COMM_WORLD, result)
  call check(result == MPI_CONGRUENT, 'idup')
  call MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm)
  call MPI_Comm_free(comm)

  call MPI_Comm_split(dup, mod(rank, 2), rank, half)
  call MPI_Intercomm_create(half, 0, dup, merge(1, 0, mod(rank, 2) == 0), 9, inter)
  call MPI_Comm_test_inter(inter, flag)
  call MPI_Comm_remote_size(inter, n)
  call check(flag .and. n == size / 2, 'intercommunicator')
  call MPI_Comm_remote_group(inter, g)
  call MPI_Group_compare(g, merge(odd, even, mod(rank, 2) == 0), result)
  call check(result == MPI_IDENT, 'remote group')
  call MPI_Group_free(g)
  call MPI_Allreduce(1, got, 1, MPI_INTEGER, MPI_SUM, inter)
  call check(got == size / 2, 'across')
  call MPI_Intercomm_merge(inter, mod(rank, 2) == 0, merged)
  call MPI_Comm_rank(merged, n)
  call check(n == merge(rank / 2 + size / 2, rank / 2, mod(rank, 2) == 0), 'merged')
  call MPI_Comm_free(merged)
  call MPI_Comm_free(inter)
  call MPI_Comm_free(half)
  call MPI_Comm_free(dup)
  call MPI_Group_free(odd)
  call MPI_Group_free(even)
  call MPI_Group_free(world)
  if (rank == 0) print '(a)', 'f08_comms: ok'
  call MPI_Finalize()
contains
  include 'check.inc'
end program comms
