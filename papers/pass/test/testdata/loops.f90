! loops.f90: loops of Fortran, counted by the program too.
module work
  implicit none
  include 'mpif.h'
  integer :: made(5) = 0
contains
  subroutine nest(a, b)
    integer, intent(in) :: a, b
    integer :: i, j, ierr
    do i = 1, a; made(1) = made(1) + 1
      do j = 1, b; made(2) = made(2) + 1
        call MPI_Barrier(MPI_COMM_SELF, ierr)
      end do
    end do
  end subroutine
  recursive subroutine deep(n)
    integer, intent(in) :: n
    integer :: i, ierr
    do i = 1, n; made(3) = made(3) + 1
      call deep(n - 1)
    end do
    if (n == 1) call MPI_Barrier(MPI_COMM_SELF, ierr)
  end subroutine
end module

program loops
  use work
  integer :: ierr, k
  call MPI_Init(ierr)
  call nest(1, 2)
  call nest(2, 1)
  call deep(3)
  k = 0
  do while (k < 9); made(4) = made(4) + 1
    k = k + 2
    if (k == 4) cycle
    call nest(k, 1)
  end do
  do
    k = k - 1
    if (k < 5) exit
    made(5) = made(5) + 1
    call nest(0, k)
  end do
  call MPI_Finalize(ierr)
  print '(a,i0)', 'rounds loops.f90:10 ', made(1)
  print '(a,i0)', 'rounds loops.f90:11 ', made(2)
  print '(a,i0)', 'rounds loops.f90:19 ', made(3)
  print '(a,i0)', 'rounds loops.f90:34 ', made(4)
  print '(a,i0)', 'rounds loops.f90:40 ', made(5)
  print '(a)', 'done'
end program
