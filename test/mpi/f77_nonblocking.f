! Nonblocking communication through mpif.h: every way to complete one, any, some or all of the requests.
! ranks: 1 2 4
! mpi: mpich openmpi
! nondet: how often a test fails, which requests complete first
      program nonblocking
        implicit none
        include 'mpif.h'
        integer k
        parameter (k = 4)
        integer rank, size, ierr, next, prev, i, j, left, done, indx
        integer in(k), out(k), reqs(2 * k), stats(MPI_STATUS_SIZE, 2 * k), status(MPI_STATUS_SIZE), list(2 * k)
        integer round
        logical flag

        call MPI_Init(ierr)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
        next = mod(rank + 1, size)
        prev = mod(rank + size - 1, size)

        do round = 1, 10
          do i = 1, k
            out(i) = 1000 * rank + 10 * round + i
            in(i) = -1
            call MPI_Irecv(in(i), 1, MPI_INTEGER, prev, i, MPI_COMM_WORLD, reqs(i), ierr)
          end do
          call MPI_Isend(out(1), 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, reqs(k + 1), ierr)
          call MPI_Issend(out(2), 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, reqs(k + 2), ierr)
          call MPI_Isend(out(3), 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, reqs(k + 3), ierr)
          call MPI_Barrier(MPI_COMM_WORLD, ierr)
          call MPI_Irsend(out(4), 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD, reqs(k + 4), ierr)
          left = 2 * k
          if (round .eq. 1) then
            call MPI_Waitall(2 * k, reqs, stats, ierr)
            call check(stats(MPI_SOURCE, 2) .eq. prev .and. stats(MPI_TAG, 3) .eq. 3, 'waitall')
          else if (round .eq. 2) then
            call MPI_Waitall(2 * k, reqs, MPI_STATUSES_IGNORE, ierr)
          else if (round .eq. 3 .or. round .eq. 4) then
            do while (left .gt. 0)
              if (round .eq. 3) then
                call MPI_Waitany(2 * k, reqs, indx, status, ierr)
                flag = .true.
              else
                call MPI_Testany(2 * k, reqs, indx, flag, status, ierr)
              end if
              if (flag) then
                call check(indx .ge. 1 .and. indx .le. 2 * k, 'index')
                call check(reqs(indx) .eq. MPI_REQUEST_NULL, 'that one is done')
                if (indx .le. k) call check(status(MPI_TAG) .eq. indx, 'tag of any')
                left = left - 1
              end if
            end do
            call MPI_Waitany(2 * k, reqs, indx, status, ierr)
!           MPICH 4.0 adds 1 to MPI_UNDEFINED too.
            call check(indx .lt. 0, 'none left')
          else if (round .le. 7) then
            do while (left .gt. 0)
              if (round .eq. 5) call MPI_Waitsome(2 * k, reqs, done, list, stats, ierr)
              if (round .eq. 6) call MPI_Testsome(2 * k, reqs, done, list, stats, ierr)
              if (round .eq. 7) call MPI_Waitsome(2 * k, reqs, done, list, MPI_STATUSES_IGNORE, ierr)
              do j = 1, done
                if (list(j) .le. k .and. round .lt. 7) then
                  call check(stats(MPI_TAG, j) .eq. list(j) .and. in(list(j)) .eq. 1000 * prev + 10 * round + list(j), 'some')
                end if
              end do
              left = left - done
            end do
            call MPI_Testsome(2 * k, reqs, done, list, MPI_STATUSES_IGNORE, ierr)
            call check(done .eq. MPI_UNDEFINED, 'no more')
          else if (round .eq. 8) then
            flag = .false.
            do while (.not. flag)
              call MPI_Testall(2 * k, reqs, flag, stats, ierr)
            end do
            call check(stats(MPI_TAG, 4) .eq. 4, 'testall')
          else
            do i = 1, 2 * k
              flag = .false.
              do while (.not. flag)
                if (round .eq. 9) then
                  call MPI_Test(reqs(i), flag, status, ierr)
                else
                  call MPI_Request_get_status(reqs(i), flag, status, ierr)
                end if
              end do
              if (i .le. k) call check(status(MPI_SOURCE) .eq. prev, 'test')
              call MPI_Wait(reqs(i), MPI_STATUS_IGNORE, ierr)
            end do
          end if
          do i = 1, k
            call check(in(i) .eq. 1000 * prev + 10 * round + i, 'data')
          end do
        end do

!       A receive that never gets a message, and a send whose request is given up.
        call MPI_Irecv(in(1), 1, MPI_INTEGER, prev, 77, MPI_COMM_WORLD, reqs(1), ierr)
        call MPI_Cancel(reqs(1), ierr)
        call MPI_Wait(reqs(1), status, ierr)
        call MPI_Test_cancelled(status, flag, ierr)
        call check(flag, 'cancelled')
        call MPI_Irecv(in(1), 1, MPI_INTEGER, prev, 78, MPI_COMM_WORLD, reqs(1), ierr)
        call MPI_Isend(out(1), 1, MPI_INTEGER, next, 78, MPI_COMM_WORLD, reqs(2), ierr)
        call MPI_Request_free(reqs(2), ierr)
        call check(reqs(2) .eq. MPI_REQUEST_NULL, 'freed')
        call MPI_Wait(reqs(1), MPI_STATUS_IGNORE, ierr)

        if (rank .eq. 0) print '(a)', 'f77_nonblocking: ok'
        call MPI_Finalize(ierr)
      contains
        include 'check.inc'
      end program nonblocking
