/* Makes each call of mpi/io.txt that is one system call, with what may go wrong too, in a
   folder of each rank's own. strace sees the same calls: those between the two accesses of
   "mark". */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char page[4096];

int main(int argc, char **argv)
{
	int rank;
	char dir[64], own[64];
	struct stat s;
	struct statx x;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(dir, sizeof dir, "rank%d", rank);
	snprintf(own, sizeof own, "data.%04d", rank);
	mkdir(dir, 0755);
	chdir(dir);
	memset(page, 'x', sizeof page);

	access("mark", F_OK);
	int fd = open(own, O_RDWR | O_CREAT | O_TRUNC, 0640);
	for (int i = 0; i < 20; i++)
		pwrite(fd, page, sizeof page, (off_t)i * 8192);
	for (int i = 0; i < 5; i++)
		write(fd, page, 100 + (size_t)i);
	lseek(fd, 0, SEEK_SET);
	for (int i = 0; i < 3; i++)
		read(fd, page, 1000);
	pread(fd, page, 512, 8192 + 4000); /* into the hole */
	pread(fd, page, 512, 1 << 30);     /* behind the end: 0 */
	struct iovec v[3] = {{page, 10}, {page + 100, 20}, {page + 200, 0}};
	writev(fd, v, 3);
	lseek(fd, -30, SEEK_CUR);
	readv(fd, v, 2);
	pwritev(fd, v, 2, 50000);
	preadv(fd, v, 3, 50000);
	pwritev2(fd, v, 1, 60000, 0);
	preadv2(fd, v, 1, 60000, 0);
	lseek(fd, 0, SEEK_END);
	lseek(fd, -1, SEEK_SET); /* EINVAL */
	fsync(fd);
	fdatasync(fd);
	sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE);
	ftruncate(fd, 200000);
	fallocate(fd, 0, 0, 300000);
	posix_fadvise(fd, 0, 4096, POSIX_FADV_DONTNEED);
	fstat(fd, &s);
	stat(own, &s);
	stat("missing", &s);
	lstat(own, &s);
	fstatat(AT_FDCWD, own, &s, AT_SYMLINK_NOFOLLOW);
	statx(AT_FDCWD, own, 0, STATX_SIZE, &x);

	int two = dup(fd), three = dup2(fd, 40), four = dup3(two, 41, O_CLOEXEC), five = fcntl(fd, F_DUPFD, 30);
	write(two, page, 1);
	write(three, page, 2);
	write(four, page, 3);
	write(five, page, 4);
	close(five);
	close(four);
	close(three);
	close(two);
	dup(-1);
	close(-1);
	read(-1, page, 1);

	int other = open("copy", O_WRONLY | O_CREAT | O_APPEND, 0600);
	write(other, page, 7);
	write(other, page, 8);
	close(other);
	other = open("copy", O_RDWR);
	loff_t in = 5;
	copy_file_range(fd, &in, other, NULL, 4000, 0);
	off_t from = 4096;
	sendfile(other, fd, &from, 100);
	close(other);
	truncate("copy", 10);
	creat("made", 0600);
	int made = open("made", O_WRONLY | O_EXCL | O_CREAT, 0600); /* EEXIST */
	write(made, page, 1);                                       /* EBADF */
	open("made/below", O_RDONLY);                                /* ENOTDIR */
	openat(AT_FDCWD, "nothing", O_RDONLY);
	int here = open(".", O_RDONLY | O_DIRECTORY);
	int at = openat(here, "copy", O_RDONLY);
	faccessat(here, "copy", R_OK, 0);
	mkdirat(here, "sub", 0700);
	renameat(here, "copy", here, "sub/copy");
	linkat(here, "sub/copy", here, "again", 0);
	symlinkat("again", here, "soft");
	readlinkat(here, "soft", page, sizeof page);
	unlinkat(here, "soft", 0);
	unlinkat(here, "again", 0);
	close(at);
	fchdir(here);
	close(here);

	mkdir("more", 0711);
	mkdir("more", 0711); /* EEXIST */
	access("more", W_OK);
	access("none", W_OK);
	rename("sub/copy", "more/copy");
	link("more/copy", "linked");
	symlink("linked", "soft");
	readlink("soft", page, 100);
	unlink("soft");
	unlink("soft"); /* ENOENT */
	unlink("linked");
	unlink("more/copy");
	rmdir("sub");
	rmdir("more");
	rmdir("more");
	chdir("nowhere");

	void *m = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 4096);
	msync(m, 8192, MS_ASYNC);
	munmap(m, 8192);
	close(fd);
	access("mark", F_OK);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d\n", (int)s.st_size);
	MPI_Finalize();
	return 0;
}
