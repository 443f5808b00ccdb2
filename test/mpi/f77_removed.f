! Functions that MPI-3 removed, through mpif.h: 32-bit addresses, old attributes and error handlers.
! ranks: 1 2
! mpi: mpich openmpi
      program removed
        implicit none
        include 'mpif.h'
        integer rank, ierr, type, lens(2), at(2), kinds(2), extent, lb, ub, keyval, value, extra, handler, old
        logical flag
        external copy, drop, shrug

        call MPI_Init(ierr)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        lens(1) = 1
        lens(2) = 2
        at(1) = 0
        at(2) = 8
        kinds(1) = MPI_INTEGER
        kinds(2) = MPI_INTEGER
        call MPI_Type_hindexed(2, lens, at, MPI_INTEGER, type, ierr)
        call MPI_Type_extent(type, extent, ierr)
        call MPI_Type_lb(type, lb, ierr)
        call MPI_Type_ub(type, ub, ierr)
        call check(extent .eq. 16 .and. lb .eq. 0 .and. ub .eq. 16, 'hindexed')
        call MPI_Type_free(type, ierr)
        call MPI_Type_hvector(2, 1, 12, MPI_INTEGER, type, ierr)
        call MPI_Type_extent(type, extent, ierr)
        call check(extent .eq. 16, 'hvector')
        call MPI_Type_free(type, ierr)
        call MPI_Type_struct(2, lens, at, kinds, type, ierr)
        call MPI_Type_extent(type, extent, ierr)
        call check(extent .eq. 16, 'struct')
        call MPI_Type_free(type, ierr)
        call MPI_Errhandler_create(shrug, handler, ierr)
        call MPI_Errhandler_get(MPI_COMM_WORLD, old, ierr)
        call MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
        call MPI_Errhandler_set(MPI_COMM_WORLD, handler, ierr)
        call MPI_Errhandler_set(MPI_COMM_WORLD, old, ierr)
        call MPI_Errhandler_free(handler, ierr)

        extra = 7
        call MPI_Keyval_create(copy, drop, keyval, extra, ierr)
        call MPI_Attr_get(MPI_COMM_WORLD, keyval, value, flag, ierr)
        call check(.not. flag, 'no attribute')
        call MPI_Attr_put(MPI_COMM_SELF, keyval, 1234, ierr)
        call MPI_Attr_get(MPI_COMM_SELF, keyval, value, flag, ierr)
        call check(flag .and. value .eq. 1234, 'attribute')
        call MPI_Comm_dup(MPI_COMM_SELF, old, ierr)
        call MPI_Attr_get(old, keyval, value, flag, ierr)
        call check(flag .and. value .eq. 1241, 'copied attribute')
        call MPI_Comm_free(old, ierr)
        call MPI_Attr_delete(MPI_COMM_SELF, keyval, ierr)
        call MPI_Keyval_free(keyval, ierr)
        call check(keyval .eq. MPI_KEYVAL_INVALID, 'keyval')
        call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
        call check(flag .and. value .ge. 32767, 'tag ub')

        if (rank .eq. 0) print '(a)', 'f77_removed: ok'
        call MPI_Finalize(ierr)
      contains
        include 'check.inc'
      end program removed

      subroutine copy(comm, keyval, extra, in, out, flag, ierr)
        implicit none
        include 'mpif.h'
        integer comm, keyval, extra, in, out, ierr
        logical flag
        out = in + extra
        flag = comm .ne. MPI_COMM_NULL .and. keyval .ne. MPI_KEYVAL_INVALID
        ierr = MPI_SUCCESS
      end subroutine copy

      subroutine drop(comm, keyval, value, extra, ierr)
        implicit none
        include 'mpif.h'
        integer comm, keyval, value, extra, ierr
        ierr = MPI_SUCCESS
        if (comm .eq. MPI_COMM_NULL .or. keyval .eq. value + extra) ierr = MPI_ERR_OTHER
      end subroutine drop

      subroutine shrug(comm, code)
        implicit none
        integer comm, code
        if (comm .eq. code) code = 0
      end subroutine shrug
