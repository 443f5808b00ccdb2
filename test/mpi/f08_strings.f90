! Strings through mpi_f08, and functions about versions, time and the state of MPI.
! ranks: 2 4
! mpi: mpich openmpi
program strings
  use mpi_f08
  implicit none
  integer :: rank, n, code, class, memory(2), major, minor, provided
  type(MPI_Info) :: info, copy
  type(MPI_Comm) :: dup
  type(MPI_Datatype) :: type
  type(MPI_Win) :: win
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=12) :: value
  double precision :: t
  logical :: flag

  call MPI_Initialized(flag)
  call check(.not. flag, 'too early')
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Initialized(flag)
  call check(flag, 'initialised')
  call MPI_Finalized(flag)
  call check(.not. flag, 'not finalised')
  call MPI_Query_thread(n)
  call check(n == provided, 'thread level')
  call MPI_Is_thread_main(flag)
  call check(flag, 'main thread')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  t = MPI_Wtime()
  call check(MPI_Wtime() >= t .and. MPI_Wtick() > 0, 'time')
  call MPI_Get_processor_name(host, n)
  call check(n == len_trim(host), 'host')
  call MPI_Get_library_version(version, n)
  call MPI_Get_version(major, minor)
  call check(major >= 3 .and. n > 10, 'version')

  call MPI_Comm_dup(MPI_COMM_WORLD, dup)
  call MPI_Comm_set_name(dup, 'second world ')
  call MPI_Comm_get_name(dup, name, n)
  call check(n == 12 .and. name == 'second world', 'name')
  call MPI_Type_dup(MPI_INTEGER, type)
  call MPI_Type_set_name(type, 'whole number')
  call MPI_Type_get_name(type, name, n)
  call check(name == 'whole number', 'type')
  call MPI_Type_free(type)
  call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 1, MPI_INFO_NULL, dup, win)
  call MPI_Win_set_name(win, 'glass')

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'direction', 'north')
  call MPI_Info_set(info, 'speed', '11')
  call MPI_Info_get_nkeys(info, n)
  call MPI_Info_get_nthkey(info, n - 1, key)
  call check(n == 2 .and. (key == 'speed' .or. key == 'direction'), 'keys')
  call MPI_Info_get_valuelen(info, 'direction', n, flag)
  call MPI_Info_get(info, 'direction', 12, value, flag)
  call check(flag .and. n == 5 .and. value == 'north', 'value')
  call MPI_Info_dup(info, copy)
  call MPI_Info_delete(copy, 'speed')
  call MPI_Info_get_valuelen(copy, 'speed', n, flag)
  call check(.not. flag, 'deleted')
  call MPI_Info_free(copy)
  call MPI_Win_set_info(win, info)
  call MPI_Win_get_info(win, copy)
  call MPI_Info_free(copy)
  call MPI_Comm_set_info(dup, info)
  call MPI_Comm_get_info(dup, copy)
  call MPI_Info_free(copy)
  call MPI_Win_free(win)
  call MPI_Comm_free(dup)
  call MPI_Comm_dup_with_info(MPI_COMM_SELF, info, dup)
  call MPI_Comm_free(dup)
  call MPI_Info_free(info)

  call MPI_Add_error_class(class)
  call MPI_Add_error_code(class, code)
  call MPI_Add_error_string(code, 'made up')
  call MPI_Error_string(code, text, n)
  call check(n == 7 .and. text == 'made up', 'text')
  call MPI_Error_class(code, n)
  call check(n == class, 'class')
  call MPI_Pcontrol(1)
  if (rank == 0) print '(a)', 'f08_strings: ok'
  call MPI_Finalize()
  call MPI_Finalized(flag)
  call check(flag, 'finalised')
contains
  include 'check.inc'
end program strings
