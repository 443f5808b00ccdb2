! Datatypes through mpi_f08: constructors, contents, packing, MPI_BOTTOM.
! ranks: 2
! mpi: mpich openmpi !mpich>=5.0
! Not with MPICH 5.0.2, whose libraries lack mpi_f_sync_reg_, which its module calls.
program datatypes
  use mpi_f08
  implicit none
  integer :: rank, i, n, ni, na, nd, combiner, pos, isize
  integer, asynchronous :: a(24), b(24)
  integer :: packed(100), ints(20)
  integer(MPI_ADDRESS_KIND) :: at(3), lb, extent, base, where, bytes
  integer(MPI_COUNT_KIND) :: big, big2
  type(MPI_Datatype) :: types(12), kinds(3), old
  type(MPI_Status) :: status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  at = [0, 16, 32]
  kinds = MPI_INTEGER
  call MPI_Type_contiguous(3, MPI_INTEGER, types(1))
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, types(2))
  call MPI_Type_create_hvector(3, 1, 12_MPI_ADDRESS_KIND, MPI_INTEGER, types(3))
  call MPI_Type_indexed(3, [1, 2, 1], [0, 4, 8], MPI_INTEGER, types(4))
  call MPI_Type_create_hindexed(3, [1, 2, 1], at, MPI_INTEGER, types(5))
  call MPI_Type_create_indexed_block(3, 1, [0, 4, 8], MPI_INTEGER, types(6))
  call MPI_Type_create_hindexed_block(3, 1, at, MPI_INTEGER, types(7))
  call MPI_Type_create_struct(3, [1, 2, 1], at, kinds, types(8))
  call MPI_Type_create_subarray(2, [4, 6], [2, 3], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, types(9))
  call MPI_Type_create_darray(2, rank, 2, [4, 6], [MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE], &
                              [1, MPI_DISTRIBUTE_DFLT_DARG], [2, 1], MPI_ORDER_C, MPI_INTEGER, types(10))
  call MPI_Type_create_resized(types(1), 0_MPI_ADDRESS_KIND, 100_MPI_ADDRESS_KIND, types(11))
  call MPI_Type_dup(types(2), types(12))
  a = [(100 * rank + i, i = 1, 24)]
  do i = 1, 12
    call MPI_Type_commit(types(i))
    call MPI_Type_size(types(i), n)
    call MPI_Type_size_x(types(i), big)
    call check(big == n, 'size')
    call MPI_Type_get_extent(types(i), lb, extent)
    call MPI_Type_get_extent_x(types(i), big, big2)
    call check(big == lb .and. big2 == extent, 'extent')
    call MPI_Type_get_true_extent(types(i), lb, extent)
    call MPI_Type_get_true_extent_x(types(i), big, big2)
    call check(big == lb .and. big2 == extent, 'true extent')
    b = -1
    call MPI_Sendrecv(a, 1, types(i), 1 - rank, i, b, 1, types(i), 1 - rank, i, MPI_COMM_WORLD, status)
    call check(4 * count(b >= 0) == n, 'data')
    call MPI_Get_elements_x(status, types(i), big)
    call check(4 * big == n, 'elements')
    call MPI_Status_set_elements_x(status, types(i), big)
    call MPI_Type_get_envelope(types(i), ni, na, nd, combiner)
    call MPI_Type_get_contents(types(i), ni, na, nd, ints, at, kinds)
    call check(kinds(1) == MPI_INTEGER .or. i >= 11, 'contents')
    if (i >= 11) call MPI_Type_free(kinds(1))
  end do
  do i = 1, 12
    call MPI_Type_free(types(i))
  end do

  call MPI_Get_address(a, base)
  call MPI_Get_address(a(5), where)
  call check(MPI_Aint_diff(where, base) == 16 .and. MPI_Aint_add(base, 16_MPI_ADDRESS_KIND) == where, 'addresses')
  call MPI_Type_create_struct(2, [1, 1], [base, where], [MPI_INTEGER, MPI_INTEGER], old)
  call MPI_Type_commit(old)
  if (rank == 0) call MPI_Send(MPI_BOTTOM, 1, old, 1, 1, MPI_COMM_WORLD)
  if (rank == 1) call MPI_Recv(MPI_BOTTOM, 1, old, 0, 1, MPI_COMM_WORLD, status)
  if (rank == 1) call MPI_F_sync_reg(a)
  if (rank == 1) call check(a(1) == 1 .and. a(5) == 5 .and. a(2) == 102, 'from bottom')
  call MPI_Type_free(old)

  pos = 0
  call MPI_Pack_size(2, MPI_INTEGER, MPI_COMM_WORLD, isize)
  call MPI_Pack(a, 2, MPI_INTEGER, packed, 400, pos, MPI_COMM_WORLD)
  call check(pos <= isize, 'pack size')
  pos = 0
  call MPI_Unpack(packed, 400, pos, b, 2, MPI_INTEGER, MPI_COMM_WORLD)
  call check(b(2) == a(2), 'unpacked')
  call MPI_Pack_external_size('external32', 3, MPI_INTEGER, bytes)
  base = 0
  call MPI_Pack_external('external32', a, 3, MPI_INTEGER, packed, 400_MPI_ADDRESS_KIND, base)
  call check(base == bytes, 'external')
  base = 0
  call MPI_Unpack_external('external32', packed, 400_MPI_ADDRESS_KIND, base, b, 3, MPI_INTEGER)
  call check(b(3) == a(3), 'external unpacked')
  call MPI_Type_create_f90_real(6, 30, old)
  call MPI_Type_create_f90_complex(6, 30, old)
  call MPI_Type_create_f90_integer(4, old)
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, old)
  if (rank == 0) print '(a)', 'f08_datatypes: ok'
  call MPI_Finalize()
contains
  include 'check.inc'
end program datatypes
