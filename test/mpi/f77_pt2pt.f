! Blocking communication through mpif.h: send modes, buffers, probes, PROC_NULL, statuses and no statuses.
! ranks: 1 2 4
! mpi: mpich openmpi
      program pt2pt
        implicit none
        include 'mpif.h'
        integer rank, size, ierr, next, prev, n, i, mode, used
        integer out(10), in(10), status(MPI_STATUS_SIZE), room
        parameter (room = 100)
        integer space(4 * room), req, attached
        logical flag

        call MPI_Init(ierr)
        call check(ierr .eq. MPI_SUCCESS, 'init')
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
        next = mod(rank + 1, size)
        prev = mod(rank + size - 1, size)
        do i = 1, 10
          out(i) = rank * 100 + i
        end do

!       Each mode against a receive that is already there.
        call MPI_Pack_size(10, MPI_INTEGER, MPI_COMM_WORLD, used, ierr)
        attached = 2 * (used + MPI_BSEND_OVERHEAD)
        call MPI_Buffer_attach(space, attached, ierr)
        do mode = 1, 4
          in = -1
          call MPI_Irecv(in, 10, MPI_INTEGER, prev, mode, MPI_COMM_WORLD, req, ierr)
          call MPI_Barrier(MPI_COMM_WORLD, ierr)
          if (mode .eq. 1) call MPI_Send(out, mode, MPI_INTEGER, next, mode, MPI_COMM_WORLD, ierr)
          if (mode .eq. 2) call MPI_Bsend(out, mode, MPI_INTEGER, next, mode, MPI_COMM_WORLD, ierr)
          if (mode .eq. 3) call MPI_Ssend(out, mode, MPI_INTEGER, next, mode, MPI_COMM_WORLD, ierr)
          if (mode .eq. 4) call MPI_Rsend(out, mode, MPI_INTEGER, next, mode, MPI_COMM_WORLD, ierr)
          call check(ierr .eq. MPI_SUCCESS, 'send')
          call MPI_Wait(req, status, ierr)
          call check(req .eq. MPI_REQUEST_NULL, 'request null')
          call MPI_Get_count(status, MPI_INTEGER, n, ierr)
          call check(n .eq. mode, 'count')
          call MPI_Get_elements(status, MPI_INTEGER, n, ierr)
          call check(n .eq. mode, 'elements')
          call check(status(MPI_SOURCE) .eq. prev .and. status(MPI_TAG) .eq. mode, 'status')
          call check(in(mode) .eq. prev * 100 + mode .and. in(mode + 1) .eq. -1, 'data')
        end do
        call MPI_Buffer_detach(space, attached, ierr)
        call check(attached .eq. 2 * (used + MPI_BSEND_OVERHEAD), 'detached')

!       Probes, then receives of what they found.
        call MPI_Sendrecv(out, 3, MPI_INTEGER, next, 5, in, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG,
     &                    MPI_COMM_WORLD, status, ierr)
        call check(status(MPI_SOURCE) .eq. prev .and. status(MPI_TAG) .eq. 5, 'sendrecv')
        call MPI_Isend(out, 4, MPI_INTEGER, next, 6, MPI_COMM_WORLD, req, ierr)
        call MPI_Probe(prev, 6, MPI_COMM_WORLD, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, n, ierr)
        call check(n .eq. 4, 'probed')
        call MPI_Iprobe(prev, 6, MPI_COMM_WORLD, flag, status, ierr)
        call check(flag .and. status(MPI_TAG) .eq. 6, 'iprobe')
        call MPI_Iprobe(prev, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
        call check(.not. flag, 'iprobe of nothing')
        call MPI_Recv(in, n, MPI_INTEGER, prev, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call check(in(4) .eq. prev * 100 + 4, 'data after probe')
        call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)

        in = out
        call MPI_Sendrecv_replace(in, 10, MPI_INTEGER, next, 7, prev, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call check(in(10) .eq. prev * 100 + 10, 'replaced')

!       Nobody there.
        call MPI_Send(out, 1, MPI_INTEGER, MPI_PROC_NULL, 8, MPI_COMM_WORLD, ierr)
        call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 8, MPI_COMM_WORLD, status, ierr)
        call check(status(MPI_SOURCE) .eq. MPI_PROC_NULL .and. status(MPI_TAG) .eq. MPI_ANY_TAG, 'proc null')
        call MPI_Get_count(status, MPI_INTEGER, n, ierr)
        call check(n .eq. 0, 'nothing')

        if (rank .eq. 0) print '(a)', 'f77_pt2pt: ok'
        call MPI_Finalize(ierr)
      contains
        include 'check.inc'
      end program pt2pt
