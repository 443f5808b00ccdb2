! Pipelined wavefronts, as in the LU benchmark: a lower triangular system over a cube, solved plane by plane from one
! corner of a grid of ranks to the other, then an upper one on the way back. Right sides are made for a known solution.
program lu
  use mpi
  implicit none
  integer :: n = 16, iterations = 10 ! n: points in a direction, per rank
  double precision :: seconds = 0, start
  integer :: ierr, size, rank, grid, dims(2), at(2), north, south, west, east
  integer :: block, k, done, line
  logical :: periods(2)
  double precision, parameter :: a = 0.25d0, b = 0.3d0, c = 0.2d0
  double precision, allocatable :: v(:, :, :)
  double precision :: error, worst

  call MPI_Init(ierr)
  call options
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  dims = 0
  periods = .false.
  call MPI_Dims_create(size, 2, dims, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
  call MPI_Comm_rank(grid, rank, ierr)
  call MPI_Cart_coords(grid, rank, 2, at, ierr)
  call MPI_Cart_shift(grid, 0, 1, west, east, ierr)
  call MPI_Cart_shift(grid, 1, 1, north, south, ierr)

  call MPI_Type_vector(n, 1, n + 2, MPI_DOUBLE_PRECISION, line, ierr) ! across v
  call MPI_Type_commit(line, ierr)
  allocate (v(0:n + 1, 0:n + 1, 0:n + 1))
  done = 0
  worst = 0
  block = 0
  do while (more(block))
    do k = 1, iterations
      call sweep(.true.)
      call sweep(.false.)
      done = done + 1
    end do
    block = block + 1
  end do
  call MPI_Reduce(worst, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, grid, ierr)
  if (rank == 0) then
    if (.not. error < 1d-9) call fail('solution')
    print '(a,i0,a,i0,a,i0,a)', 'lu: ', dims(1), ' x ', dims(2), ' ranks, ', done, ' iterations, right'
  end if
  call MPI_Type_free(line, ierr)
  call MPI_Comm_free(grid, ierr)
  call MPI_Finalize(ierr)

contains

  ! sweep solves v = a v(one back in i) + b v(in j) + c v(in k) + right side; up goes from low to high indices.
  subroutine sweep(up)
    logical, intent(in) :: up
    integer :: i, j, k, s, first, last, edge, begin, status(MPI_STATUS_SIZE), tag
    integer :: from_x, to_x, from_y, to_y
    s = merge(1, -1, up)
    first = merge(1, n, up)
    last = n + 1 - first
    edge = first - s ! of the halo
    begin = last
    from_x = merge(west, east, up)
    to_x = merge(east, west, up)
    from_y = merge(north, south, up)
    to_y = merge(south, north, up)
    tag = merge(10, 20, up)
    v = 0
    do k = first, last, s
      ! Beyond the cube is the solution itself.
      do i = 1, n
        v(i, edge, k) = f(i, edge, k)
        v(edge, i, k) = f(edge, i, k)
      end do
      if (k == first) then
        do j = 1, n
          do i = 1, n
            v(i, j, k - s) = f(i, j, k - s)
          end do
        end do
      end if
      call MPI_Recv(v(edge, 1, k), 1, line, from_x, tag, grid, status, ierr)
      call MPI_Recv(v(1, edge, k), n, MPI_DOUBLE_PRECISION, from_y, tag + 1, grid, status, ierr)
      do j = first, last, s
        do i = first, last, s
          v(i, j, k) = a*v(i - s, j, k) + b*v(i, j - s, k) + c*v(i, j, k - s) &
                       + f(i, j, k) - a*f(i - s, j, k) - b*f(i, j - s, k) - c*f(i, j, k - s)
        end do
      end do
      call MPI_Send(v(begin, 1, k), 1, line, to_x, tag, grid, ierr)
      call MPI_Send(v(1, begin, k), n, MPI_DOUBLE_PRECISION, to_y, tag + 1, grid, ierr)
    end do
    do k = 1, n
      do j = 1, n
        do i = 1, n
          worst = max(worst, abs(v(i, j, k) - f(i, j, k)))
        end do
      end do
    end do
  end subroutine

  ! f is the solution at a point of this rank's part.
  double precision function f(i, j, k)
    integer, intent(in) :: i, j, k
    f = sin(0.1d0*(at(1)*n + i)) + cos(0.2d0*(at(2)*n + j)) + 0.01d0*(k + mod(done, 7))
  end function

  include 'apps.inc'
end program
