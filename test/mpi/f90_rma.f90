! One-sided communication through the mpi module: all windows, all synchronisations, allocated memory.
! ranks: 2 4
! mpi: mpich openmpi !mpich>=5.0
! Not with MPICH 5.0.2, whose MPI_Win_allocate_shared finds no shared memory among the ranks of one host here.
program rma
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, size, ierr, win, next, prev, i, group, world, req, unit, rank_of(1), info
  integer, asynchronous :: mine(8), out(8), got(8), one
  integer(MPI_ADDRESS_KIND) :: bytes, at, where
  type(c_ptr) :: base
  integer, pointer :: p(:)
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  mine = 0
  out = [(100 * rank + i, i = 1, 8)]
  one = 1
  bytes = 32
  at = 0
  call MPI_Win_create(mine, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierr)
  call MPI_Put(out, 4, MPI_INTEGER, next, at, 4, MPI_INTEGER, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call check(mine(4) == 100 * prev + 4, 'put')
  call MPI_Get(got, 4, MPI_INTEGER, next, at, 4, MPI_INTEGER, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call check(got(4) == 100 * rank + 4, 'get')
  at = 4
  call MPI_Accumulate(one, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, win, ierr)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
  if (rank == 0) call check(mine(5) == size, 'accumulate')

  call MPI_Win_get_group(win, world, ierr)
  rank_of = prev
  call MPI_Group_incl(world, 1, rank_of, group, ierr)
  call MPI_Win_post(group, 0, win, ierr)
  call MPI_Group_free(group, ierr)
  rank_of = next
  call MPI_Group_incl(world, 1, rank_of, group, ierr)
  call MPI_Win_start(group, 0, win, ierr)
  at = 5
  call MPI_Put(out(6), 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, win, ierr)
  call MPI_Win_complete(win, ierr)
  if (rank == 0) then
    call MPI_Win_wait(win, ierr)
  else
    flag = .false.
    call MPI_Win_test(win, flag, ierr)
    if (.not. flag) call MPI_Win_wait(win, ierr)
  end if
  call check(mine(6) == 100 * prev + 6, 'post and start')
  call MPI_Group_free(group, ierr)
  call MPI_Group_free(world, ierr)

  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win, ierr)
  at = 6
  call MPI_Fetch_and_op(one, got, MPI_INTEGER, 0, at, MPI_SUM, win, ierr)
  call MPI_Win_flush(0, win, ierr)
  call check(got(1) >= 0 .and. got(1) < size, 'fetch')
  call MPI_Get_accumulate(one, 1, MPI_INTEGER, got, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_NO_OP, win, ierr)
  call MPI_Win_flush_local(0, win, ierr)
  at = 7
  call MPI_Compare_and_swap(out, got, got(2), MPI_INTEGER, 0, at, win, ierr)
  call MPI_Win_unlock(0, win, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Win_lock_all(0, win, ierr)
  call MPI_Win_sync(win, ierr)
  if (rank == 0) call check(mine(7) == size, 'counter')
  at = 0
  call MPI_Rput(out, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, win, req, ierr)
  call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
  call MPI_Win_flush_all(win, ierr)
  call MPI_Rget(got, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, win, req, ierr)
  call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
  call check(got(1) == out(1), 'rget')
  call MPI_Raccumulate(one, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, MPI_REPLACE, win, req, ierr)
  call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
  call MPI_Rget_accumulate(one, 1, MPI_INTEGER, got, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, MPI_SUM, win, req, ierr)
  call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
  call MPI_Win_flush_local_all(win, ierr)
  call MPI_Win_unlock_all(win, ierr)
  call MPI_Win_get_info(win, info, ierr)
  call MPI_Win_set_info(win, info, ierr)
  call MPI_Info_free(info, ierr)
  call MPI_Win_free(win, ierr)
  call check(win == MPI_WIN_NULL, 'freed')

  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
  call c_f_pointer(base, p, [8])
  p = rank
  call MPI_Win_free(win, ierr)
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
  call MPI_Win_shared_query(win, next, bytes, unit, base, ierr)
  call c_f_pointer(base, p, [8])
  call check(bytes == 32 .and. unit == 4, 'shared')
  call MPI_Win_fence(0, win, ierr)
  p(1) = rank
  call MPI_Win_fence(0, win, ierr)
  call MPI_Win_free(win, ierr)

  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, base, ierr)
  call c_f_pointer(base, p, [8])
  p = rank
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_attach(win, p, bytes, ierr)
  call MPI_Get_address(p, where, ierr)
  call MPI_Sendrecv(where, 1, MPI_AINT, prev, 1, at, 1, MPI_AINT, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win, ierr)
  call MPI_Get(got, 1, MPI_INTEGER, next, at, 1, MPI_INTEGER, win, ierr)
  call MPI_Win_unlock(next, win, ierr)
  call check(got(1) == next, 'dynamic')
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Win_detach(win, p, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_Free_mem(p, ierr)
  if (rank == 0) print '(a)', 'f90_rma: ok'
  call MPI_Finalize(ierr)
contains
  include 'check.inc'
end program rma
