! Input and output in Fortran, in the ways that the standard has: formatted, unformatted,
! direct and stream access, positions, inquiries, and files that are not there.
program fort
   use mpi
   implicit none
   integer :: rank, ierr, i, n, status
   integer(8) :: place
   logical :: there
   character(64) :: name, line
   real(8) :: values(1000), back(1000)

   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   write (name, '(a,i0)') 'rank', rank
   call chdir(trim(name))
   call chdir('mark') ! there is none
   values = [(dble(i), i=1, 1000)]

   open (11, file='text', status='replace', action='readwrite')
   do i = 1, 2000
      write (11, '(i8,1x,a)') i, 'of the lines'
   end do
   flush (11)
   rewind (11)
   do i = 1, 1000
      read (11, '(i8,1x,a)') n, line
   end do
   backspace (11)
   read (11, *) n
   if (n /= 1000) stop 2
   inquire (11, size=n)
   close (11)

   open (12, file='binary', form='unformatted', status='replace')
   do i = 1, 40
      write (12) i, values
   end do
   rewind (12)
   do i = 1, 40
      read (12) n, back
   end do
   if (n /= 40 .or. back(1000) /= 1000) stop 3
   close (12)

   open (13, file='direct', access='direct', form='unformatted', recl=8000, status='replace')
   do i = 20, 1, -1
      write (13, rec=i) values
   end do
   do i = 1, 20, 3
      read (13, rec=i) back
   end do
   close (13)

   open (newunit=n, file='stream', access='stream', form='unformatted', status='replace')
   write (n) values
   write (n, pos=4097) values(1:10)
   inquire (n, pos=place)
   read (n, pos=1) back(1:10)
   close (n, status='keep')
   if (place /= 4177) stop 4

   open (newunit=n, file='text', position='append', status='old')
   write (n, *) 'one more'
   endfile (n)
   close (n)
   inquire (file='text', exist=there)
   if (.not. there) stop 5
   inquire (file='nowhere', exist=there)
   if (there) stop 6
   open (newunit=n, file='nowhere', status='old', iostat=status)
   if (status == 0) stop 7
   open (newunit=n, status='scratch')
   write (n, *) values(1:3)
   close (n)
   open (newunit=n, file='text')
   close (n, status='delete')
   call chdir('mark')
   call MPI_Finalize(ierr)
end program
