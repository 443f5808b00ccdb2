! Attributes of communicators, datatypes and windows with Fortran callbacks, which call MPI themselves; mpi module.
! ranks: 2 4
! mpi: mpich openmpi
module callbacks
  use mpi
  implicit none
  integer :: copies = 0, deletions = 0
contains
  subroutine copy(object, keyval, extra, in, out, flag, ierr)
    integer :: object, keyval, ierr
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    integer :: rank
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (object == keyval) copies = copies + 0
    copies = copies + 1
    out = in + extra
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine copy

  subroutine drop(object, keyval, value, extra, ierr)
    integer :: object, keyval, ierr
    integer(MPI_ADDRESS_KIND) :: value, extra
    if (object == keyval .and. value == extra) deletions = deletions + 0
    deletions = deletions + 1
    ierr = MPI_SUCCESS
  end subroutine drop
end module callbacks

program attributes
  use mpi
  use callbacks
  implicit none
  integer :: rank, ierr, key, dup, type, win, memory(4), type_key, win_key
  integer(MPI_ADDRESS_KIND) :: value, extra, bytes
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  extra = 1000
  call MPI_Comm_create_keyval(copy, drop, key, extra, ierr)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierr)
  call check(.not. flag, 'unset')
  value = 5000000000_MPI_ADDRESS_KIND
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
  call MPI_Comm_get_attr(dup, key, value, flag, ierr)
  call check(flag .and. value == 5000001000_MPI_ADDRESS_KIND, 'copied')
  call MPI_Comm_free(dup, ierr)
  call check(copies == 1 .and. deletions == 1, 'callbacks')
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
  call MPI_Comm_free_keyval(key, ierr)
  call check(deletions == 2 .and. key == MPI_KEYVAL_INVALID, 'deleted')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
  call check(flag .and. value >= 32767, 'tag ub')

  call MPI_Type_create_keyval(copy, MPI_TYPE_NULL_DELETE_FN, type_key, extra, ierr)
  call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
  value = 1
  call MPI_Type_set_attr(type, type_key, value, ierr)
  call MPI_Type_dup(type, dup, ierr)
  call MPI_Type_get_attr(dup, type_key, value, flag, ierr)
  call check(flag .and. value == 1001, 'type attribute')
  call MPI_Type_delete_attr(dup, type_key, ierr)
  call MPI_Type_free(dup, ierr)
  call MPI_Type_free(type, ierr)
  call MPI_Type_free_keyval(type_key, ierr)

  bytes = 16
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, drop, win_key, extra, ierr)
  call MPI_Win_set_attr(win, win_key, value, ierr)
  call MPI_Win_get_attr(win, win_key, value, flag, ierr)
  call check(flag .and. value == 1001, 'window attribute')
  call MPI_Win_delete_attr(win, win_key, ierr)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
  call check(flag .and. value == 16, 'window size')
  call MPI_Win_free_keyval(win_key, ierr)
  call MPI_Win_free(win, ierr)
  call check(copies == 2 .and. deletions == 3, 'all callbacks')

  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, ierr)
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, value, ierr)
  call MPI_Comm_free_keyval(key, ierr)
  if (rank == 0) print '(a)', 'f90_attributes: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program attributes
