! Communicators, groups and intercommunicators through mpif.h.
! ranks: 2 4 6
! mpi: mpich openmpi
      program comms
        implicit none
        include 'mpif.h'
        integer rank, size, ierr, i, n, world, odd, even, both, common, rest, comm, half, inter, merged, result
        integer ranks(6), other(6), ranges(3, 1), req, dup, remote
        logical flag

        call MPI_Init(ierr)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
        call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
        call MPI_Group_size(world, n, ierr)
        call check(n .eq. size, 'group size')
        do i = 1, size / 2
          ranks(i) = 2 * i - 2
        end do
        call MPI_Group_incl(world, size / 2, ranks, even, ierr)
        call MPI_Group_excl(world, size / 2, ranks, odd, ierr)
        call MPI_Group_union(odd, even, both, ierr)
        call MPI_Group_compare(both, world, result, ierr)
        call check(result .eq. MPI_SIMILAR, 'union')
        call MPI_Group_intersection(odd, even, common, ierr)
        call MPI_Group_compare(common, MPI_GROUP_EMPTY, result, ierr)
        call MPI_Group_size(common, n, ierr)
        call check(n .eq. 0, 'intersection')
        call MPI_Group_difference(world, even, rest, ierr)
        call MPI_Group_compare(rest, odd, result, ierr)
        call check(result .eq. MPI_IDENT, 'difference')
        call MPI_Group_free(rest, ierr)
        ranges(1, 1) = 0
        ranges(2, 1) = size - 1
        ranges(3, 1) = 2
        call MPI_Group_range_incl(world, 1, ranges, rest, ierr)
        call MPI_Group_compare(rest, even, result, ierr)
        call check(result .eq. MPI_IDENT, 'range')
        call MPI_Group_free(rest, ierr)
        call MPI_Group_range_excl(world, 1, ranges, rest, ierr)
        call MPI_Group_translate_ranks(world, size / 2, ranks, odd, other, ierr)
        call check(other(1) .eq. MPI_UNDEFINED, 'translate')
        call MPI_Group_rank(even, n, ierr)
        if (mod(rank, 2) .eq. 0) call check(n .eq. rank / 2, 'group rank')
        if (mod(rank, 2) .eq. 1) call check(n .eq. MPI_UNDEFINED, 'not in group')

        call MPI_Comm_create(MPI_COMM_WORLD, even, comm, ierr)
        if (mod(rank, 2) .eq. 0) then
          call MPI_Comm_size(comm, n, ierr)
          call check(n .eq. size / 2, 'comm create')
          call MPI_Comm_free(comm, ierr)
        end if
        call check(comm .eq. MPI_COMM_NULL, 'outside')
        if (mod(rank, 2) .eq. 1) then
          call MPI_Comm_create_group(MPI_COMM_WORLD, odd, 3, comm, ierr)
          call MPI_Barrier(comm, ierr)
          call MPI_Comm_free(comm, ierr)
        end if
        call MPI_Comm_idup(MPI_COMM_WORLD, dup, req, ierr)
        call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
        call MPI_Comm_compare(MPI_COMM_WORLD, dup, result, ierr)
        call check(result .eq. MPI_CONGRUENT, 'idup')
        call MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, comm, ierr)
        call MPI_Comm_disconnect(comm, ierr)
        n = MPI_UNDEFINED
        if (rank .eq. 0) n = 5
        call MPI_Comm_split(dup, n, 0, comm, ierr)
        if (rank .eq. 0) call MPI_Comm_free(comm, ierr)
        call check(comm .eq. MPI_COMM_NULL, 'split')

        call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
        call MPI_Intercomm_create(half, 0, dup, size - 1 - mod(size - 1 + mod(rank + 1, 2), 2), 4, inter, ierr)
        call MPI_Comm_test_inter(inter, flag, ierr)
        call MPI_Comm_remote_size(inter, n, ierr)
        call check(flag .and. n .eq. size / 2, 'intercomm')
        call MPI_Comm_remote_group(inter, remote, ierr)
        call MPI_Group_compare(remote, odd, result, ierr)
        if (mod(rank, 2) .eq. 0) call check(result .eq. MPI_SIMILAR .or. result .eq. MPI_IDENT, 'remote group')
        call MPI_Comm_rank(half, n, ierr)
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, n, 5, other, 1, MPI_INTEGER, n, 5, inter, MPI_STATUS_IGNORE, ierr)
        call check(other(1) .eq. ieor(rank, 1), 'across')
        i = MPI_PROC_NULL
        if (mod(rank, 2) .eq. 1) i = 0
        if (rank .eq. size - 2) i = MPI_ROOT
        other(1) = 99
        call MPI_Bcast(other, 1, MPI_INTEGER, i, inter, ierr)
        call check(other(1) .eq. 99, 'broadcast across')
        call MPI_Intercomm_merge(inter, mod(rank, 2) .eq. 1, merged, ierr)
        call MPI_Comm_size(merged, n, ierr)
        call check(n .eq. size, 'merged')
        call MPI_Comm_free(merged, ierr)
        call MPI_Comm_free(inter, ierr)
        call MPI_Comm_free(half, ierr)
        call MPI_Comm_free(dup, ierr)
        call MPI_Group_free(remote, ierr)
        call MPI_Group_free(rest, ierr)
        call MPI_Group_free(common, ierr)
        call MPI_Group_free(both, ierr)
        call MPI_Group_free(odd, ierr)
        call MPI_Group_free(even, ierr)
        call MPI_Group_free(world, ierr)
        call check(world .eq. MPI_GROUP_NULL, 'freed')
        if (rank .eq. 0) print '(a)', 'f77_comms: ok'
        call MPI_Finalize(ierr)
      contains
        include 'check.inc'
      end program comms
