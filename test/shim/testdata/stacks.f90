! Calls through procedures, internal ones too, with the old bindings and the new.
module layers
  use mpi_f08
  implicit none
contains
  subroutine leaf(tag)
    integer, intent(in) :: tag
    logical :: flag
    call MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE)
    if (flag) print *, "a message"
  end subroutine
  subroutine upper(tag)
    integer, intent(in) :: tag
    real(8) :: room(tag)
    room = 1
    call inner()
    if (sum(room) > 100) print *, "much"
  contains
    subroutine inner()
      call leaf(tag)
      if (tag > 100) print *, "high"
    end subroutine
  end subroutine
  recursive subroutine again(tag, times)
    integer, intent(in) :: tag, times
    if (times > 0) then
      call again(tag, times - 1)
    else
      call leaf(tag)
    end if
    if (tag > 100) print *, "high"
  end subroutine
end module

subroutine old(tag)
  implicit none
  include 'mpif.h'
  integer :: tag, ierror
  logical :: flag
  call MPI_IPROBE(MPI_ANY_SOURCE, tag, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE, ierror)
  if (flag) print *, "a message"
end subroutine

program stacks
  use layers
  implicit none
  integer :: i
  external :: old
  call MPI_Init()
  do i = 1, 5
    call upper(1)
    call again(2, mod(i, 2))
    call old(3)
  end do
  call MPI_Finalize()
end program
