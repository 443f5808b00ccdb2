! Strings through the mpi module: names, infos, error texts, padded with blanks, cut off, and trimmed.
! ranks: 2 4
! mpi: mpich openmpi
program strings
  use mpi
  implicit none
  integer :: rank, ierr, n, info, copy, dup, code, class, type, win, memory(2), major, minor
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=6) :: short
  character(len=40) :: wide
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_INFO_KEY) :: key
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Get_processor_name(host, n, ierr)
  call check(n == len_trim(host) .and. n > 0, 'host')
  call MPI_Get_library_version(version, n, ierr)
  call check(n > 10, 'library')
  call MPI_Get_version(major, minor, ierr)
  call check(major >= 3, 'version')

  call MPI_Comm_get_name(MPI_COMM_WORLD, name, n, ierr)
  call check(name == 'MPI_COMM_WORLD' .and. n == 14, 'name of world')
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
  call MPI_Comm_get_name(dup, name, n, ierr)
  call check(n == 0 .and. name == ' ', 'no name')
  wide = 'two words'
  call MPI_Comm_set_name(dup, wide, ierr)
  call MPI_Comm_get_name(dup, name, n, ierr)
  call check(n == 9 .and. name == 'two words', 'name')
  call MPI_Comm_set_name(dup, 'a', ierr)
  call MPI_Comm_get_name(dup, name, n, ierr)
  call check(n == 1 .and. name == 'a', 'one letter')
  call MPI_Comm_set_name(dup, '      ', ierr)
  call MPI_Comm_get_name(dup, name, n, ierr)
  call check(name == ' ', 'blanks')
  call MPI_Comm_free(dup, ierr)
  call MPI_Type_contiguous(1, MPI_REAL, type, ierr)
  call MPI_Type_set_name(type, 'just a real  ', ierr)
  call MPI_Type_get_name(type, name, n, ierr)
  call check(n == 11 .and. name == 'just a real', 'type')
  call MPI_Type_free(type, ierr)
  call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_set_name(win, 'pane', ierr)
  call MPI_Win_get_name(win, name, n, ierr)
  call check(n == 4 .and. name == 'pane', 'window')
  call MPI_Win_free(win, ierr)

  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, '  colour   ', '  dark green  ', ierr)
  call MPI_Info_set(info, 'n', '12', ierr)
  call MPI_Info_get_nkeys(info, n, ierr)
  call check(n == 2, 'keys')
  call MPI_Info_get_nthkey(info, 0, key, ierr)
  call check(key == 'colour' .or. key == 'n', 'first key')
  call MPI_Info_get_valuelen(info, 'colour', n, flag, ierr)
  call check(flag .and. n == 10, 'value length')
  call MPI_Info_get(info, 'colour', 40, wide, flag, ierr)
  call check(flag .and. wide == 'dark green', 'value')
  call MPI_Info_get(info, 'n', 6, short, flag, ierr)
  call check(flag .and. short == '12', 'short value')
  call MPI_Info_get(info, 'shape', 40, wide, flag, ierr)
  call check(.not. flag, 'no value')
  call MPI_Info_get_valuelen(info, 'shape', n, flag, ierr)
  call check(.not. flag, 'no length')
  call MPI_Info_dup(info, copy, ierr)
  call MPI_Info_delete(copy, 'n', ierr)
  call MPI_Info_get_nkeys(copy, n, ierr)
  call check(n == 1, 'deleted')
  call MPI_Info_free(copy, ierr)
  call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, dup, ierr)
  call MPI_Comm_set_info(dup, info, ierr)
  call MPI_Comm_get_info(dup, copy, ierr)
  call MPI_Info_free(copy, ierr)
  call MPI_Comm_free(dup, ierr)
  call MPI_Info_free(info, ierr)
  call check(info == MPI_INFO_NULL, 'info freed')

  call MPI_Add_error_class(class, ierr)
  call MPI_Add_error_string(class, 'a class of its own', ierr)
  call MPI_Add_error_code(class, code, ierr)
  call MPI_Add_error_string(code, 'an error of its own   ', ierr)
  call MPI_Error_string(code, text, n, ierr)
  call check(n == 19 .and. text == 'an error of its own', 'error text')
  call MPI_Error_class(code, n, ierr)
  call check(n == class, 'error class')
  call MPI_Error_string(MPI_ERR_RANK, text, n, ierr)
  call check(n == len_trim(text) .and. n > 0, 'predefined error')
  if (rank == 0) print '(a)', 'f90_strings: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program strings
