! Attributes through mpi_f08: typed callbacks, predefined callbacks, predefined attributes.
! ranks: 2 4
! mpi: mpich openmpi
module callbacks
  use mpi_f08
  implicit none
contains
  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in * extra_state
    flag = oldcomm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine copy

  subroutine drop(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    ierror = MPI_SUCCESS
    if (comm == MPI_COMM_NULL .or. comm_keyval == MPI_KEYVAL_INVALID) ierror = MPI_ERR_OTHER
    if (attribute_val == -extra_state) ierror = MPI_ERR_OTHER
  end subroutine drop
end module callbacks

program attributes
  use mpi_f08
  use callbacks
  implicit none
  integer :: rank, key, memory(4)
  integer(MPI_ADDRESS_KIND) :: value, three
  type(MPI_Comm) :: dup
  type(MPI_Datatype) :: type, again
  type(MPI_Win) :: win
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  three = 3
  call MPI_Comm_create_keyval(copy, drop, key, three)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 14_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup)
  call MPI_Comm_get_attr(dup, key, value, flag)
  call check(flag .and. value == 42, 'copied')
  call MPI_Comm_free(dup)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
  call MPI_Comm_free_keyval(key)
  call check(key == MPI_KEYVAL_INVALID, 'keyval')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag)

  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, three)
  call MPI_Type_contiguous(2, MPI_REAL, type)
  call MPI_Type_set_attr(type, key, 9_MPI_ADDRESS_KIND)
  call MPI_Type_dup(type, again)
  call MPI_Type_get_attr(again, key, value, flag)
  call check(flag .and. value == 9, 'type')
  call MPI_Type_delete_attr(again, key)
  call MPI_Type_free(again)
  call MPI_Type_free(type)
  call MPI_Type_free_keyval(key)

  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, three)
  call MPI_Win_set_attr(win, key, 8_MPI_ADDRESS_KIND)
  call MPI_Win_get_attr(win, key, value, flag)
  call check(flag .and. value == 8, 'window')
  call MPI_Win_delete_attr(win, key)
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag)
  call check(flag .and. value == 4, 'unit')
  call MPI_Win_free_keyval(key)
  call MPI_Win_free(win)
  if (rank == 0) print '(a)', 'f08_attributes: ok'
  call MPI_Finalize()
contains
  include 'check.inc'
end program attributes
