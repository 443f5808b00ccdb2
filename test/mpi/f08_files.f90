! MPI-IO through mpi_f08.
! ranks: 1 2 4
! mpi: mpich openmpi
program files
  use mpi_f08
  implicit none
  integer :: rank, size, n, amode, length, i, ierr
  integer, asynchronous :: a(2), b(2)
  integer(MPI_OFFSET_KIND) :: at, where, bytes
  integer(MPI_ADDRESS_KIND) :: extent
  type(MPI_File) :: fh
  type(MPI_Info) :: info
  type(MPI_Group) :: group
  type(MPI_Status) :: status
  type(MPI_Request) :: req
  type(MPI_Datatype) :: etype, filetype
  type(MPI_Errhandler) :: handler
  character(len=200) :: path, dir
  character(len=MPI_MAX_DATAREP_STRING) :: rep
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call get_environment_variable('TMPDIR', dir, length)
  if (length == 0) dir = '/tmp'
  path = trim(dir)//'/f08_files.data'
  a = [10 * rank + 1, 10 * rank + 2]
  at = 8 * rank
  call MPI_File_open(MPI_COMM_WORLD, trim(path), ior(MPI_MODE_RDWR, MPI_MODE_CREATE), MPI_INFO_NULL, fh)
  call MPI_File_get_amode(fh, amode)
  call check(iand(amode, MPI_MODE_RDWR) /= 0, 'amode')
  call MPI_File_get_group(fh, group)
  call MPI_Group_size(group, n)
  call MPI_Group_free(group)
  call check(n == size, 'group')
  call MPI_File_get_info(fh, info)
  call MPI_File_set_info(fh, info)
  call MPI_Info_free(info)
  call MPI_File_set_size(fh, 8_MPI_OFFSET_KIND * size)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_preallocate(fh, 4_MPI_OFFSET_KIND * size) ! less than the file has: see file_manage.c
  call MPI_File_get_size(fh, bytes)
  call check(bytes == 8 * size, 'size')
  call MPI_File_set_atomicity(fh, .false.)
  call MPI_File_get_atomicity(fh, flag)
  call check(.not. flag, 'atomicity')
  call MPI_File_get_type_extent(fh, MPI_INTEGER, extent)
  call MPI_File_get_errhandler(fh, handler)
  call check(handler == MPI_ERRORS_RETURN, 'handler')
  call MPI_File_set_errhandler(fh, handler)

  call MPI_File_write_at(fh, at, a, 2, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call check(n == 2, 'written')
  call MPI_File_write_at_all(fh, at, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE)
  call MPI_File_iwrite_at(fh, at, a, 2, MPI_INTEGER, req)
  call MPI_Wait(req, MPI_STATUS_IGNORE)
  call MPI_File_iwrite_at_all(fh, at, a, 2, MPI_INTEGER, req)
  call MPI_Wait(req, MPI_STATUS_IGNORE)
  call MPI_File_write_at_all_begin(fh, at, a, 2, MPI_INTEGER)
  call MPI_File_write_at_all_end(fh, a, status)
  call MPI_File_sync(fh)
  call MPI_Barrier(MPI_COMM_WORLD)
  do i = 1, 9
    b = -1
    call MPI_File_seek(fh, at, MPI_SEEK_SET)
    req = MPI_REQUEST_NULL
    select case (i)
    case (1); call MPI_File_read_at(fh, at, b, 2, MPI_INTEGER, status)
    case (2); call MPI_File_read_at_all(fh, at, b, 2, MPI_INTEGER, status)
    case (3); call MPI_File_iread_at(fh, at, b, 2, MPI_INTEGER, req)
    case (4); call MPI_File_iread_at_all(fh, at, b, 2, MPI_INTEGER, req)
    case (5)
      call MPI_File_read_at_all_begin(fh, at, b, 2, MPI_INTEGER)
      call MPI_File_read_at_all_end(fh, b, status)
    case (6); call MPI_File_read(fh, b, 2, MPI_INTEGER, MPI_STATUS_IGNORE)
    case (7); call MPI_File_read_all(fh, b, 2, MPI_INTEGER, status)
    case (8); call MPI_File_iread(fh, b, 2, MPI_INTEGER, req)
    case (9)
      call MPI_File_read_all_begin(fh, b, 2, MPI_INTEGER)
      call MPI_File_read_all_end(fh, b, status)
    end select
    call MPI_Wait(req, MPI_STATUS_IGNORE)
    call check(all(b == a), 'read')
  end do
  call MPI_File_seek(fh, at, MPI_SEEK_SET)
  call MPI_File_iread_all(fh, b, 2, MPI_INTEGER, req)
  call MPI_Wait(req, MPI_STATUS_IGNORE)
  call MPI_File_get_position(fh, where)
  call check(where == at + 8, 'position')
  call MPI_File_get_byte_offset(fh, where, bytes)
  call check(bytes == where, 'byte offset')
  call MPI_File_seek(fh, at, MPI_SEEK_SET)
  call MPI_File_write(fh, a(1), 1, MPI_INTEGER, status)
  call MPI_File_iwrite(fh, a(2), 1, MPI_INTEGER, req)
  call MPI_Wait(req, status)
  call MPI_File_seek(fh, at, MPI_SEEK_SET)
  call MPI_File_write_all(fh, a, 1, MPI_INTEGER, status)
  call MPI_File_iwrite_all(fh, a(2), 1, MPI_INTEGER, req)
  call MPI_Wait(req, status)
  call MPI_File_seek(fh, at, MPI_SEEK_SET)
  call MPI_File_write_all_begin(fh, a, 2, MPI_INTEGER)
  call MPI_File_write_all_end(fh, a, status)

  call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  call MPI_File_get_view(fh, where, etype, filetype, rep)
  call check(where == 0 .and. rep == 'native', 'view')
  call MPI_File_write_ordered(fh, a, 1, MPI_INTEGER, status)
  call MPI_File_write_ordered_begin(fh, a, 1, MPI_INTEGER)
  call MPI_File_write_ordered_end(fh, a, status)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_get_position_shared(fh, where)
  call check(where == 2 * size, 'shared position')
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_write_shared(fh, a, 1, MPI_INTEGER, status)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_iwrite_shared(fh, a, 1, MPI_INTEGER, req)
  call MPI_Wait(req, MPI_STATUS_IGNORE)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_seek_shared(fh, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
  call MPI_File_read_ordered(fh, b, 1, MPI_INTEGER, status)
  call MPI_File_read_ordered_begin(fh, b(2), 1, MPI_INTEGER)
  call MPI_File_read_ordered_end(fh, b(2), status)
  call check(all(b == a(1)), 'ordered')
  call MPI_File_read_shared(fh, b, 1, MPI_INTEGER, status)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_iread_shared(fh, b, 1, MPI_INTEGER, req)
  call MPI_Wait(req, MPI_STATUS_IGNORE)
  call check(mod(b(1), 10) == 1, 'shared')
  call MPI_File_close(fh)
  call check(fh == MPI_FILE_NULL, 'closed')
  if (rank == 0) call MPI_File_delete(trim(path), MPI_INFO_NULL)
  call MPI_File_delete('/no/such/folder/file', MPI_INFO_NULL, ierr)
  call check(ierr /= MPI_SUCCESS, 'no such file')
  if (rank == 0) print '(a)', 'f08_files: ok'
  call MPI_Finalize()
contains
  include 'check.inc'
end program files
