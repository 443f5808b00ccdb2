! MPI-IO through mpif.h: explicit offsets, individual and shared pointers, split and nonblocking forms, views.
! ranks: 1 2 4
! mpi: mpich openmpi
      program files
        implicit none
        include 'mpif.h'
        integer rank, size, ierr, fh, n, amode, group, info, req, i, type, filetype, length
        integer a(4), b(4), status(MPI_STATUS_SIZE)
        integer(kind=MPI_OFFSET_KIND) at, where, bytes
        integer(kind=MPI_ADDRESS_KIND) extent
        character(len=200) path, dir
        character(len=MPI_MAX_DATAREP_STRING) rep
        logical atomic

        call MPI_Init(ierr)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
        call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
        call get_environment_variable('TMPDIR', dir, length)
        if (length .eq. 0) dir = '/tmp'
        path = trim(dir)//'/f77_files.data'
        do i = 1, 4
          a(i) = 10 * rank + i
        end do
        if (rank .eq. 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Info_create(info, ierr)
        call MPI_Info_set(info, 'access_style', 'read_mostly', ierr)
        call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR + MPI_MODE_CREATE, info, fh, ierr)
        call check(ierr .eq. MPI_SUCCESS, 'open')
        call MPI_Info_free(info, ierr)
        call MPI_File_get_amode(fh, amode, ierr)
        call check(amode .eq. MPI_MODE_RDWR + MPI_MODE_CREATE, 'amode')
        call MPI_File_get_group(fh, group, ierr)
        call MPI_Group_size(group, n, ierr)
        call check(n .eq. size, 'group')
        call MPI_Group_free(group, ierr)
        call MPI_File_get_info(fh, info, ierr)
        call MPI_File_set_info(fh, info, ierr)
        call MPI_Info_free(info, ierr)
!       Less than the file has: see file_manage.c.
        bytes = 4096
        call MPI_File_set_size(fh, bytes, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        bytes = 2048
        call MPI_File_preallocate(fh, bytes, ierr)
        call MPI_File_get_size(fh, at, ierr)
        call check(at .eq. 4096, 'size')
        call MPI_File_set_atomicity(fh, .true., ierr)
        call MPI_File_get_atomicity(fh, atomic, ierr)
        call check(atomic, 'atomic')
        call MPI_File_set_atomicity(fh, .false., ierr)
        call MPI_File_get_type_extent(fh, MPI_INTEGER, extent, ierr)
        call check(extent .eq. 4, 'extent')

!       Explicit offsets.
        at = 16 * rank
        call MPI_File_write_at(fh, at, a, 4, MPI_INTEGER, status, ierr)
        call MPI_Get_count(status, MPI_INTEGER, n, ierr)
        call check(n .eq. 4, 'written')
        call MPI_File_write_at_all(fh, at, a, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
        call MPI_File_iwrite_at(fh, at, a, 4, MPI_INTEGER, req, ierr)
        call MPI_Wait(req, status, ierr)
        call MPI_File_write_at_all_begin(fh, at, a, 4, MPI_INTEGER, ierr)
        call MPI_File_write_at_all_end(fh, a, status, ierr)
        call MPI_File_sync(fh, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        do i = 1, 4
          b = -1
          if (i .eq. 1) call MPI_File_read_at(fh, at, b, 4, MPI_INTEGER, status, ierr)
          if (i .eq. 2) call MPI_File_read_at_all(fh, at, b, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
          if (i .eq. 3) call MPI_File_iread_at(fh, at, b, 4, MPI_INTEGER, req, ierr)
          if (i .eq. 3) call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
          if (i .eq. 4) call MPI_File_read_at_all_begin(fh, at, b, 4, MPI_INTEGER, ierr)
          if (i .eq. 4) call MPI_File_read_at_all_end(fh, b, status, ierr)
          call check(b(1) .eq. 10 * rank + 1 .and. b(4) .eq. 10 * rank + 4, 'at')
        end do

!       The individual pointer, in a view of every size-th integer.
        call MPI_Type_vector(4, 1, size, MPI_INTEGER, filetype, ierr)
        call MPI_Type_commit(filetype, ierr)
        at = 4 * rank
        call MPI_File_set_view(fh, at, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierr)
        call MPI_File_get_view(fh, where, type, i, rep, ierr)
        call check(where .eq. at .and. rep .eq. 'native', 'view')
        if (i .ne. filetype .and. i .ne. MPI_INTEGER) call MPI_Type_free(i, ierr)
        call MPI_Type_free(filetype, ierr)
        call MPI_File_write_all(fh, a, 2, MPI_INTEGER, status, ierr)
        call MPI_File_get_position(fh, where, ierr)
        call check(where .eq. 2, 'position')
        call MPI_File_get_byte_offset(fh, where, bytes, ierr)
        call check(bytes .eq. at + 8 * size, 'byte offset')
        call MPI_File_write_all(fh, a(3), 2, MPI_INTEGER, status, ierr)
        call MPI_File_sync(fh, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        at = 0
        call MPI_File_seek(fh, at, MPI_SEEK_SET, ierr)
        call MPI_File_read(fh, b, 4, MPI_INTEGER, status, ierr)
        call check(b(4) .eq. a(4), 'read')
        do i = 1, 4
          b = -1
          call MPI_File_seek(fh, at, MPI_SEEK_SET, ierr)
          if (i .eq. 1) call MPI_File_read_all(fh, b, 4, MPI_INTEGER, status, ierr)
          if (i .eq. 2) call MPI_File_iread(fh, b, 4, MPI_INTEGER, req, ierr)
          if (i .eq. 2) call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
          if (i .eq. 3) call MPI_File_read_all_begin(fh, b, 4, MPI_INTEGER, ierr)
          if (i .eq. 3) call MPI_File_read_all_end(fh, b, status, ierr)
          if (i .eq. 4) call MPI_File_iread_all(fh, b, 4, MPI_INTEGER, req, ierr)
          if (i .eq. 4) call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
          call check(b(1) .eq. a(1) .and. b(4) .eq. a(4), 'individual')
        end do
        call MPI_File_seek(fh, at, MPI_SEEK_SET, ierr)
        call MPI_File_iwrite(fh, a, 4, MPI_INTEGER, req, ierr)
        call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
        call MPI_File_seek(fh, at, MPI_SEEK_SET, ierr)
        call MPI_File_write_all_begin(fh, a, 4, MPI_INTEGER, ierr)
        call MPI_File_write_all_end(fh, a, MPI_STATUS_IGNORE, ierr)

!       The shared pointer.
        call MPI_File_set_view(fh, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
        call MPI_File_write(fh, a, 1, MPI_INTEGER, status, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_write_ordered(fh, a, 1, MPI_INTEGER, status, ierr)
        call MPI_File_get_position_shared(fh, where, ierr)
        call check(where .eq. size, 'shared position')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_write_ordered_begin(fh, a, 1, MPI_INTEGER, ierr)
        call MPI_File_write_ordered_end(fh, a, status, ierr)
        call MPI_File_write_shared(fh, a, 1, MPI_INTEGER, status, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_iwrite_shared(fh, a, 1, MPI_INTEGER, req, ierr)
        call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_seek_shared(fh, at, MPI_SEEK_SET, ierr)
        call MPI_File_read_ordered(fh, b, 1, MPI_INTEGER, status, ierr)
        call check(b(1) .eq. a(1), 'ordered')
        call MPI_File_read_ordered_begin(fh, b, 1, MPI_INTEGER, ierr)
        call MPI_File_read_ordered_end(fh, b, status, ierr)
        call check(b(1) .eq. a(1), 'ordered, split')
        call MPI_File_read_shared(fh, b, 1, MPI_INTEGER, status, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_iread_shared(fh, b, 1, MPI_INTEGER, req, ierr)
        call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
        call check(mod(b(1), 10) .eq. 1, 'shared')

        call MPI_File_close(fh, ierr)
        call check(fh .eq. MPI_FILE_NULL, 'closed')
        if (rank .eq. 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)
        call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, fh, ierr)
        call check(ierr .ne. MPI_SUCCESS, 'no such file')
        if (rank .eq. 0) print '(a)', 'f77_files: ok'
        call MPI_Finalize(ierr)
      contains
        include 'check.inc'
      end program files
