! Blocking collectives through mpif.h: uniform and vector forms, IN_PLACE, predefined and own operations.
! ranks: 1 2 4
! mpi: mpich openmpi
      program collectives
        implicit none
        include 'mpif.h'
        integer most
        parameter (most = 16)
        integer rank, size, ierr, i, j, n, op, err
        integer a(most * 4), b(most * 4), counts(most), displs(most), scounts(most), sdispls(most), types(most)
        double precision x(3), y(3)
        logical commutes, lor, land
        external add_up

        call MPI_Init(ierr)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)

        a(1) = -1
        if (rank .eq. size - 1) a(1) = 42
        call MPI_Bcast(a, 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierr)
        call check(a(1) .eq. 42, 'bcast')

        a(1) = rank
        a(2) = -rank
        call MPI_Gather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        if (rank .eq. 0) call check(b(2 * size) .eq. 1 - size, 'gather')
        if (rank .eq. 0) then
          call MPI_Gather(MPI_IN_PLACE, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        else
          call MPI_Gather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        end if
        call MPI_Scatter(b, 2, MPI_INTEGER, a, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        call check(a(1) .eq. rank .and. a(2) .eq. -rank, 'scatter')

!       Rank i has i + 1 elements.
        n = 0
        do i = 1, size
          counts(i) = i
          displs(i) = n
          n = n + i
        end do
        do i = 1, rank + 1
          a(i) = 10 * rank + i
        end do
        call MPI_Gatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierr)
        if (rank .eq. size - 1) call check(b(n) .eq. 10 * (size - 1) + size, 'gatherv')
        a(rank + 1) = -1
        call MPI_Scatterv(b, counts, displs, MPI_INTEGER, a, rank + 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierr)
        call check(a(rank + 1) .eq. 11 * rank + 1, 'scatterv')
        call MPI_Allgather(rank, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(b(size) .eq. size - 1, 'allgather')
        b(rank + 1) = 2 * rank
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(b(size) .eq. 2 * size - 2, 'allgather in place')
        call MPI_Allgatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(b(n) .eq. 11 * (size - 1) + 1 .and. b(1) .eq. 1, 'allgatherv')

        do i = 1, size
          a(i) = 100 * rank + i
        end do
        call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(b(size) .eq. 100 * (size - 1) + rank + 1, 'alltoall')
        call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(b(size) .eq. 100 * rank + size, 'alltoall in place')
        do i = 1, size
          scounts(i) = 1
          sdispls(i) = size - i
          counts(i) = 1
          displs(i) = i - 1
          types(i) = MPI_INTEGER
        end do
        call MPI_Alltoallv(a, scounts, sdispls, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
        call check(b(1) .eq. size - rank, 'alltoallv')
        do i = 1, size
          sdispls(i) = 4 * sdispls(i)
          displs(i) = 4 * displs(i)
        end do
        call MPI_Alltoallw(a, scounts, sdispls, types, b, counts, displs, types, MPI_COMM_WORLD, ierr)
        call check(b(size) .eq. 100 * (size - 1) + size - rank, 'alltoallw')

        x(1) = rank
        x(2) = 1
        x(3) = -rank
        call MPI_Reduce(x, y, 3, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
        if (rank .eq. 0) call check(nint(y(2)) .eq. size, 'reduce')
        if (rank .eq. 0) then
          call MPI_Reduce(MPI_IN_PLACE, x, 3, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
          call check(nint(x(1)) .eq. size - 1, 'reduce in place')
        else
          call MPI_Reduce(x, x, 3, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
        end if
        call MPI_Allreduce(rank, j, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierr)
        call check(j .eq. 0, 'allreduce')
        land = rank .ge. 0
        call MPI_Allreduce(MPI_IN_PLACE, land, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
        lor = rank .eq. size - 1
        call MPI_Allreduce(MPI_IN_PLACE, lor, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
        call check(land .and. lor, 'logicals')
        a(1) = 5
        a(2) = rank
        call MPI_Allreduce(a, b, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
        call check(b(1) .eq. 5 .and. b(2) .eq. 0, 'maxloc')

        call MPI_Op_create(add_up, .true., op, ierr)
        call MPI_Op_commutative(op, commutes, ierr)
        call check(commutes, 'commutes')
        call MPI_Allreduce(rank, j, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
        call check(j .eq. size * (size - 1) / 2, 'own operation')
        j = 3
        call MPI_Reduce_local(rank, j, 1, MPI_INTEGER, op, ierr)
        call check(j .eq. rank + 3, 'reduce local')
        call MPI_Op_free(op, ierr)
        call check(op .eq. MPI_OP_NULL, 'op null')

        do i = 1, size
          a(i) = i
          counts(i) = 1
        end do
        call MPI_Reduce_scatter(a, j, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(j .eq. size * (rank + 1), 'reduce scatter')
        call MPI_Reduce_scatter_block(a, j, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(j .eq. size * (rank + 1), 'reduce scatter block')
        call MPI_Scan(rank, j, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call check(j .eq. rank * (rank + 1) / 2, 'scan')
        call MPI_Exscan(rank, j, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, err)
        if (rank .gt. 0) call check(j .eq. rank * (rank - 1) / 2, 'exscan')

        if (rank .eq. 0) print '(a)', 'f77_collectives: ok'
        call MPI_Finalize(ierr)
      contains
        include 'check.inc'
      end program collectives

      subroutine add_up(in, inout, n, type)
        implicit none
        integer n, in(n), inout(n), type, i
        if (type .lt. -huge(type)) return
        do i = 1, n
          inout(i) = inout(i) + in(i)
        end do
      end subroutine add_up
