// child.c: another program does a piece of work while the engine waits, and the program that is traced doesn't notice.
//
// A child of a program may be noticed: by SIGCHLD, by wait(), in pipes that it keeps open. So its parent is a process in between that
// shares the program's memory, ends without a signal, and is a child that only those see who ask for such (__WCLONE). Where
// anything is in the way, the work isn't done.

#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

#ifndef SYS_close_range /* headers of such a kernel */
#define SYS_close_range 436
#endif

enum { STACK = 65536, MASK = 8 /* bytes of the kernel's set of signals */ };

struct child {
	const char *file;
	char **argv, **envp;
	int seconds;
	char *stack; // of the program's process until it is another program
};

static int become(void *p)
{
	struct child *c = p;
	uint64_t none = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (int fd = 0; fd < 3; fd++)
		syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
	if (syscall(SYS_close_range, 3, ~0u, 0) != 0) /* a kernel before 5.9 */
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, MASK);
	syscall(SYS_execve, c->file, c->argv, c->envp);
	_exit(127);
}

static int between(void *p)
{
	struct child *c = p;
	uint64_t all = ~(uint64_t)0, ended = (uint64_t)1 << (SIGCHLD - 1), by_default[4] = {0};
	struct timespec limit = {c->seconds, 0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	// No handler of the program's is to run here, and SIGCHLD is not ignored.
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, MASK);
	for (int s = 1; s <= 64; s++)
		syscall(SYS_rt_sigaction, s, by_default, NULL, MASK);
	pid_t pid = clone(become, c->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, c);
	if (pid < 0)
		_exit(1);
	syscall(SYS_rt_sigtimedwait, &ended, NULL, &limit, MASK);
	syscall(SYS_kill, pid, SIGKILL); // if it still runs
	int status;
	_exit(syscall(SYS_wait4, pid, &status, 0, NULL) == pid && status == 0 ? 0 : 1);
}

int child_run(const char *file, char **argv, char **envp, int seconds)
{
	char *stacks = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stacks == MAP_FAILED)
		return -1;
	struct child c = {file, argv, envp, seconds, stacks + STACK};
	int status = -1;
	pid_t pid = clone(between, stacks + STACK, CLONE_VM | CLONE_VFORK, &c);
	if (pid < 0 || waitpid(pid, &status, __WCLONE) != pid)
		status = -1;
	munmap(stacks, 2 * STACK);
	return status == 0 ? 0 : -1;
}
