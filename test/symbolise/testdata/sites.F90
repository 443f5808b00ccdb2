! Places of many kinds in Fortran.
module halo
  implicit none
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
       call mark('halo::exchange', __LINE__)
    end do
    call packed()
  contains
    subroutine packed()
      call mark('packed', __LINE__)
    end subroutine packed
  end subroutine exchange
end module halo

subroutine plain(n)
  integer, intent(inout) :: n
  call mark('plain', __LINE__)
  n = n + 1
end subroutine plain

program heat
  use halo
  implicit none
  integer :: n
  n = 1
  call mark('heat', __LINE__)
  call exchange(n)
  call plain(n)
  call maps()
end program heat
