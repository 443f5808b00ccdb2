! Bodies that attract each other: blocks of them travel once around a ring of ranks, forces on both sides are summed on
! the way. Total momentum has to stay zero, and forces are compared with those from all positions at once.
program nbody
  use mpi_f08
  implicit none
  integer :: n = 32, iterations = 5 ! n: bodies on each rank
  double precision :: seconds = 0, start
  integer :: ierr, ranks, rank, block, k, done, hop
  type(MPI_Datatype) :: body
  type(MPI_Request) :: requests(2)
  double precision, allocatable :: pos(:, :), vel(:, :), force(:, :), travel(:, :), next(:, :), everyone(:, :)
  double precision :: momentum(3), total(3), error

  call MPI_Init()
  call options
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Type_contiguous(3, MPI_DOUBLE_PRECISION, body)
  call MPI_Type_commit(body)
  allocate (pos(3, n), vel(3, n), force(3, n), travel(3, n), next(3, n), everyone(3, n*ranks))
  do k = 1, n
    pos(:, k) = [cos(1d0*(rank*n + k)), sin(2d0*(rank*n + k)), cos(3d0*(rank*n + k) + 1)]
  end do
  vel = 0
  done = 0
  block = 0
  do while (more(block))
    do k = 1, iterations
      force = 0
      travel = pos
      do hop = 0, ranks - 1
        if (hop < ranks - 1) then
          call MPI_Irecv(next, n, body, modulo(rank - 1, ranks), hop, MPI_COMM_WORLD, requests(1))
          call MPI_Isend(travel, n, body, modulo(rank + 1, ranks), hop, MPI_COMM_WORLD, requests(2))
        end if
        call attract(pos, travel, force)
        if (hop < ranks - 1) then
          call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
          travel = next
        end if
      end do
      if (k == 1) then
        call MPI_Allgather(pos, n, body, everyone, n, body, MPI_COMM_WORLD)
        next = 0
        call attract(pos, everyone, next)
        error = maxval(abs(next - force))
        if (.not. error < 1d-9*n*ranks) call fail('forces')
      end if
      vel = vel + 1d-4*force
      pos = pos + 1d-4*vel
      done = done + 1
    end do
    block = block + 1
  end do
  momentum = sum(vel, 2)
  call MPI_Reduce(momentum, total, 3, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    if (.not. maxval(abs(total)) < 1d-9*n*ranks) call fail('momentum')
    print '(a,i0,a,i0,a)', 'nbody: ', ranks, ' ranks, ', done, ' iterations, right'
  end if
  call MPI_Type_free(body)
  call MPI_Finalize()

contains

  ! attract adds the forces of some bodies on others, softened where they meet.
  subroutine attract(on, by, to)
    double precision, intent(in) :: on(:, :), by(:, :)
    double precision, intent(inout) :: to(:, :)
    double precision :: d(3)
    integer :: i, j
    do j = 1, ubound(by, 2)
      do i = 1, ubound(on, 2)
        d = by(:, j) - on(:, i)
        to(:, i) = to(:, i) + d/(sum(d*d) + 0.01d0)**1.5d0
      end do
    end do
  end subroutine

  include 'apps.inc'
end program
