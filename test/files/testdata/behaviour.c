/* What a program may do that a recorder of files must not change, or be changed by. What it
   prints says how all of it went. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int log_fd, early;
static int ticks; /* any thread may get the signal, those of the MPI too */
static sigjmp_buf out;

__attribute__((constructor)) static void before_main(void)
{
	int fd = open("early.bin", O_WRONLY | O_CREAT, 0600);
	early = (int)write(fd, "before", 6);
	close(fd);
}

static void tick(int sig)
{
	(void)sig;
	int saved = errno;
	__atomic_fetch_add(&ticks, write(log_fd, "t", 1) == 1, __ATOMIC_SEQ_CST);
	errno = saved;
}

static void leave(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void *work(void *arg)
{
	char name[64], b[512];
	long n = (long)arg, sum = 0;
	snprintf(name, sizeof name, "thread.%ld", n);
	memset(b, (int)n, sizeof b);
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 2000; i++)
		sum += pwrite(fd, b, sizeof b, (off_t)i * 512);
	for (int i = 0; i < 2000; i++)
		sum += pread(fd, b, sizeof b, (off_t)i * 512);
	close(fd);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	char b[4096] = "";
	int status = 0, ends[2];
	struct stat s;
	MPI_Init(&argc, &argv);
	printf("early %d\n", early);

	/* errno stays */
	int fd = open("plain", O_RDWR | O_CREAT | O_TRUNC, 0600);
	errno = 77;
	ssize_t n = write(fd, b, sizeof b);
	n += pread(fd, b, 10, 0) + (lseek(fd, 0, SEEK_END) == 4096) + (fstat(fd, &s) == 0);
	printf("%zd, errno %d\n", n, errno);

	/* a child of fork, that writes on in the same file */
	pid_t child = fork();
	if (child == 0) {
		write(fd, "child", 5);
		close(fd);
		_exit(open("not/there", O_RDONLY) == -1 && errno == ENOENT ? 7 : 8);
	}
	waitpid(child, &status, 0);
	fstat(fd, &s);
	printf("child %d, size %ld\n", WEXITSTATUS(status), (long)s.st_size);

	/* of vfork, that changes its descriptors and runs something else */
	for (int i = 0; i < 3; i++) {
		child = vfork();
		if (child == 0) {
			int to = open("vforked", O_WRONLY | O_CREAT | O_TRUNC, 0600);
			dup2(to, 1);
			close(to);
			close(fd);
			execl("/bin/echo", "echo", "from the child", (char *)NULL);
			_exit(1);
		}
		waitpid(child, &status, 0);
	}
	stat("vforked", &s);
	printf("vfork %d, size %ld, still %zd\n", WEXITSTATUS(status), (long)s.st_size, write(fd, "on", 2));
	char *const args[] = {"sh", "-c", "echo spawned >spawned", NULL};
	posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ);
	waitpid(child, &status, 0);
	stat("spawned", &s);
	printf("spawn %d, size %ld, system %d\n", WEXITSTATUS(status), (long)s.st_size, system("exit 3") >> 8);

	/* signal handlers that write, in the middle of calls */
	log_fd = open("ticks", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	struct sigaction a = {.sa_handler = tick, .sa_flags = SA_RESTART}, l = {.sa_handler = leave};
	struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}}, once = {{0, 0}, {0, 50000}};
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; __atomic_load_n(&ticks, __ATOMIC_SEQ_CST) < 100 || i < 3000; i++)
		pwrite(fd, b, 100, i % 1000);
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < 1000 && (fstat(log_fd, &s) != 0 || s.st_size != __atomic_load_n(&ticks, __ATOMIC_SEQ_CST)); i++)
		usleep(1000); /* the last may be under way */
	printf("handlers wrote all: %d\n", s.st_size == ticks);

	/* and leave by a jump */
	sigaction(SIGALRM, &l, NULL);
	pipe(ends);
	if (sigsetjmp(out, 1) == 0) {
		setitimer(ITIMER_REAL, &once, NULL);
		read(ends[0], b, 1);
		printf("never\n");
	}
	printf("jumped, %zd\n", pread(fd, b, 10, 0));

	/* no room, in several ways */
	int full = open("/dev/full", O_WRONLY);
	errno = 0;
	n = write(full, b, 10);
	printf("full %zd, %s\n", n, strerror(errno));
	struct rlimit limit = {8192, RLIM_INFINITY};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	errno = 0;
	n = pwrite(fd, b, 100, 8150);
	n += pwrite(fd, b, 100, 8192);
	printf("limit %zd, %s\n", n, strerror(errno));
	FILE *f = fopen("stream", "w");
	setvbuf(f, NULL, _IONBF, 0);
	for (int i = 0; i < 3; i++)
		n = (ssize_t)fwrite(b, 1, 4000, f);
	printf("stream %zd, %d\n", n, fclose(f));
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);

	/* a hole, and the end of the file from two descriptors */
	int sparse = open("sparse", O_RDWR | O_CREAT | O_TRUNC, 0600);
	pwrite(sparse, "x", 1, 1 << 30);
	fstat(sparse, &s);
	printf("sparse %ld, %d\n", (long)s.st_size, s.st_blocks < 1000);
	int one = open("both", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600), two = open("both", O_WRONLY | O_APPEND);
	for (int i = 0; i < 10; i++)
		write(i % 2 ? one : two, "0123456789" + i, 1);
	fstat(one, &s);
	printf("appended %ld\n", (long)s.st_size);

	pthread_t t[4];
	long sum = 0;
	void *part;
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &part);
		sum += (long)part;
	}
	printf("threads %ld\n", sum);
	printf("bad %d\n", close(-1) + close(5000) + dup2(-1, 5));

	/* what the kernel refuses to read */
	const char *volatile nowhere = (const char *)8;
	errno = 0;
	printf("nowhere %d, %s", open(nowhere, O_RDONLY), strerror(errno));
	errno = 0;
	printf(", %d, %s", unlink(nowhere), strerror(errno));
	errno = 0;
	printf(", %zd, %s\n", writev(fd, (const struct iovec *)nowhere, 3), strerror(errno));
	MPI_Finalize();
	return 0;
}
