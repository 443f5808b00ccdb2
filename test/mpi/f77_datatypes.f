! Datatypes through mpif.h: all constructors, the removed ones too, contents, packing, MPI_BOTTOM, names.
! ranks: 2
! mpi: mpich openmpi
      program datatypes
        implicit none
        include 'mpif.h'
        integer rank, ierr, n, i, old, pos, size, other
        integer ni, na, nd, combiner, types(12), ints(20), dts(5)
        integer lens(3), displs(3), sizes(2), subs(2), starts(2), kinds(3)
        integer(kind=MPI_ADDRESS_KIND) at(3), lb, extent, base, bytes, where
        integer(kind=MPI_COUNT_KIND) big, big2
        integer a(24), b(24), packed(100), status(MPI_STATUS_SIZE), at4(3)
        double precision d
        logical apart
        external apart
        character(len=MPI_MAX_OBJECT_NAME) name

        call MPI_Init(ierr)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        lens(1) = 1
        lens(2) = 2
        lens(3) = 1
        displs(1) = 0
        displs(2) = 4
        displs(3) = 8
        do i = 1, 3
          at(i) = 4 * displs(i)
          at4(i) = 4 * displs(i)
          kinds(i) = MPI_INTEGER
        end do
        sizes(1) = 4
        sizes(2) = 6
        subs(1) = 2
        subs(2) = 3
        starts(1) = 1
        starts(2) = 2
        call MPI_Type_contiguous(3, MPI_INTEGER, types(1), ierr)
        call MPI_Type_vector(3, 1, 2, MPI_INTEGER, types(2), ierr)
        bytes = 12
        call MPI_Type_create_hvector(3, 1, bytes, MPI_INTEGER, types(3), ierr)
        call MPI_Type_indexed(3, lens, displs, MPI_INTEGER, types(4), ierr)
        call MPI_Type_create_hindexed(3, lens, at, MPI_INTEGER, types(5), ierr)
        call MPI_Type_create_indexed_block(3, 1, displs, MPI_INTEGER, types(6), ierr)
        call MPI_Type_create_hindexed_block(3, 1, at, MPI_INTEGER, types(7), ierr)
        call MPI_Type_create_struct(3, lens, at, kinds, types(8), ierr)
        call MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_FORTRAN, MPI_INTEGER, types(9), ierr)
        kinds(1) = MPI_DISTRIBUTE_BLOCK
        kinds(2) = MPI_DISTRIBUTE_NONE
        ints(1) = MPI_DISTRIBUTE_DFLT_DARG
        ints(2) = MPI_DISTRIBUTE_DFLT_DARG
        ints(3) = 2
        ints(4) = 1
        call MPI_Type_create_darray(2, rank, 2, sizes, kinds, ints, ints(3), MPI_ORDER_FORTRAN, MPI_INTEGER, types(10), ierr)
        lb = 0
        extent = 100
        call MPI_Type_create_resized(types(1), lb, extent, types(11), ierr)
        call MPI_Type_dup(types(2), types(12), ierr)
        do i = 1, 24
          a(i) = 100 * rank + i
        end do
        do i = 1, 12
          call MPI_Type_commit(types(i), ierr)
          call MPI_Type_size(types(i), size, ierr)
          call MPI_Type_size_x(types(i), big, ierr)
          call check(big .eq. size .and. size .ge. 12, 'size')
          call MPI_Type_get_extent(types(i), lb, extent, ierr)
          call MPI_Type_get_extent_x(types(i), big, big2, ierr)
          call check(big2 .eq. extent, 'extent')
          call MPI_Type_get_true_extent(types(i), lb, extent, ierr)
          call MPI_Type_get_true_extent_x(types(i), big, big2, ierr)
          call check(big2 .eq. extent .and. big .eq. lb, 'true extent')
          b = -1
          call MPI_Sendrecv(a, 1, types(i), 1 - rank, i, b, 1, types(i), 1 - rank, i, MPI_COMM_WORLD, status, ierr)
          n = count(b .ge. 0)
          call check(4 * n .eq. size, 'elements')
          call MPI_Get_elements_x(status, types(i), big, ierr)
          call check(big .eq. n, 'elements of status')
          call MPI_Status_set_elements_x(status, types(i), big, ierr)
        end do

        call MPI_Type_get_envelope(types(4), ni, na, nd, combiner, ierr)
        call check(ni .eq. 7 .and. na .eq. 0 .and. nd .eq. 1 .and. combiner .eq. MPI_COMBINER_INDEXED, 'envelope')
        call MPI_Type_get_contents(types(4), ni, na, nd, ints, at, dts, ierr)
        call check(ints(1) .eq. 3 .and. ints(5) .eq. 0 .and. dts(1) .eq. MPI_INTEGER, 'contents')
        call MPI_Type_get_envelope(types(8), ni, na, nd, combiner, ierr)
        call MPI_Type_get_contents(types(8), ni, na, nd, ints, at, dts, ierr)
        call check(na .eq. 3 .and. at(3) .eq. 32, 'addresses')
        call MPI_Type_set_name(types(1), 'three of them', ierr)
        call MPI_Type_get_name(types(1), name, n, ierr)
        call check(n .eq. 13 .and. name .eq. 'three of them', 'name')
        do i = 1, 12
          call MPI_Type_free(types(i), ierr)
          call check(types(i) .eq. MPI_DATATYPE_NULL, 'freed')
        end do

!       Absolute addresses from MPI_BOTTOM.
        call MPI_Get_address(a, base, ierr)
        call MPI_Get_address(a(5), where, ierr)
        call check(apart(base, where), 'addresses')
        at(1) = base
        at(2) = where
        kinds(1) = MPI_INTEGER
        kinds(2) = MPI_INTEGER
        call MPI_Type_create_struct(2, lens, at, kinds, old, ierr)
        call MPI_Type_commit(old, ierr)
        if (rank .eq. 0) then
          call MPI_Send(MPI_BOTTOM, 1, old, 1, 1, MPI_COMM_WORLD, ierr)
        else
          call MPI_Recv(MPI_BOTTOM, 1, old, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
          call check(a(1) .eq. 1 .and. a(5) .eq. 5 .and. a(2) .eq. 102, 'from bottom')
        end if
        call MPI_Type_free(old, ierr)

!       Packing, in both forms.
        pos = 0
        d = 1.5d0
        call MPI_Pack_size(1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, size, ierr)
        call MPI_Pack(rank, 1, MPI_INTEGER, packed, 400, pos, MPI_COMM_WORLD, ierr)
        call MPI_Pack(d, 1, MPI_DOUBLE_PRECISION, packed, 400, pos, MPI_COMM_WORLD, ierr)
        call MPI_Sendrecv_replace(packed, 400, MPI_PACKED, 1 - rank, 2, 1 - rank, 2, MPI_COMM_WORLD, status, ierr)
        pos = 0
        call MPI_Unpack(packed, 400, pos, other, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        d = 0
        call MPI_Unpack(packed, 400, pos, d, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
        call check(other .eq. 1 - rank .and. nint(2 * d) .eq. 3, 'unpacked')
        call MPI_Pack_external_size('external32', 3, MPI_INTEGER, bytes, ierr)
        call check(bytes .eq. 12, 'external size')
        base = 0
        bytes = 400
        call MPI_Pack_external('external32', a, 3, MPI_INTEGER, packed, bytes, base, ierr)
        call check(base .eq. 12, 'external position')
        base = 0
        call MPI_Unpack_external('external32', packed, bytes, base, b, 3, MPI_INTEGER, ierr)
        call check(b(3) .eq. a(3), 'external')

!       Types of Fortran's kinds belong to the MPI and are not freed.
        call MPI_Type_create_f90_real(15, 300, old, ierr)
        call MPI_Type_size(old, size, ierr)
        call check(size .eq. 8, 'f90 real')
        call MPI_Type_create_f90_complex(15, 300, old, ierr)
        call MPI_Type_create_f90_integer(9, old, ierr)
        call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, old, ierr)
        call MPI_Type_size(old, size, ierr)
        call check(size .eq. 4, 'match size')

        if (rank .eq. 0) print '(a)', 'f77_datatypes: ok'
        call MPI_Finalize(ierr)
      contains
        include 'check.inc'
      end program datatypes

!     Only some mpif.h declare these two functions.
      logical function apart(base, where)
        implicit none
        integer(kind=8) base, where, sixteen, MPI_Aint_add, MPI_Aint_diff
        external MPI_Aint_add, MPI_Aint_diff
        sixteen = 16
        apart = MPI_Aint_diff(where, base) .eq. sixteen .and. MPI_Aint_add(base, sixteen) .eq. where
      end function apart
