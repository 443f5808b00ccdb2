/*
 * leader.c: a process ends when the program's last thread does.
 *
 * A program may leave main by pthread_exit; the process then lives on until its last
 * thread has ended. The engine's threads never end, and would keep it alive for ever. So
 * if the first thread leaves, a thread of the shim's watches the others, and when all that
 * are left are spoor's it does what the last thread would have done: exit(0). The engine's
 * threads are known by where they sleep.
 */
#define _GNU_SOURCE
#include "leader.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

#define NAME "spoor"
#define MAX_NAP 100000000 /* ns */

static pthread_key_t key; /* its destructor is how we learn that the first thread leaves */
static pid_t leader;
static int left, loaded, watched;
static sigset_t mask; /* the first thread's */

static struct {
	uintptr_t lo, hi;
} engine; /* its code */

/* A thread of the engine's that has nothing to do sleeps in a system call that its own code made. */
static int is_spoors(const char *tid)
{
	char path[320], text[256] = "";
	snprintf(path, sizeof path, "/proc/self/task/%s/syscall", tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 1; /* it ended meanwhile */
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	const char *pc = n > 0 ? strrchr(text, ' ') : NULL;
	uintptr_t at = pc ? (uintptr_t)strtoull(pc, NULL, 16) : 0;
	return at >= engine.lo && at < engine.hi;
}

/* Whether a thread of the program's, or of its libraries, is left. */
static int any_left(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	int found = d == NULL, own = (int)syscall(SYS_gettid);
	while (d && !found && (e = readdir(d)))
		found = e->d_name[0] != '.' && atoi(e->d_name) != leader && atoi(e->d_name) != own && !is_spoors(e->d_name);
	if (d)
		closedir(d);
	return found;
}

static void *watch(void *arg)
{
	struct timespec nap = {0, 1000000};
	sp_self.in[SP_BUSY]++;
	prctl(PR_SET_NAME, NAME);
	do {
		nanosleep(&nap, NULL);
		nap.tv_nsec = nap.tv_nsec * 2 < MAX_NAP ? nap.tv_nsec * 2 : MAX_NAP;
	} while (any_left());
	sp_self.in[SP_BUSY]--;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	exit(0);
	return arg;
}

static void start_watch(void)
{
	pthread_attr_t attr;
	pthread_t t;
	sigset_t all, was;
	if (!__atomic_load_n(&left, __ATOMIC_SEQ_CST) || !__atomic_load_n(&loaded, __ATOMIC_SEQ_CST)
	    || __atomic_exchange_n(&watched, 1, __ATOMIC_SEQ_CST))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	sp_self.in[SP_BUSY]++;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&t, &attr, watch, NULL);
	pthread_attr_destroy(&attr);
	sp_self.in[SP_BUSY]--;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

static void leader_ends(void *arg)
{
	(void)arg;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	__atomic_store_n(&left, 1, __ATOMIC_SEQ_CST);
	start_watch();
}

void sp_leader_open(void)
{
	leader = getpid();
	if ((pid_t)syscall(SYS_gettid) == leader && pthread_key_create(&key, leader_ends) == 0)
		pthread_setspecific(key, &leader);
}

static int find_engine(struct dl_phdr_info *info, size_t size, void *function)
{
	(void)size;
	uintptr_t lo = 0, hi = 0, a = (uintptr_t)function;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			lo = info->dlpi_addr + p->p_vaddr;
			hi = lo + p->p_memsz;
			if (a >= lo && a < hi)
				break;
		}
	}
	if (a < lo || a >= hi)
		return 0;
	engine.lo = lo;
	engine.hi = hi;
	return 1;
}

void sp_leader_loaded(const void *function)
{
	if (!function)
		return;
	dl_iterate_phdr(find_engine, (void *)(uintptr_t)function);
	__atomic_store_n(&loaded, 1, __ATOMIC_SEQ_CST);
	start_watch();
}

void sp_leader_forked(void)
{
	leader = getpid();
	left = loaded = watched = 0; /* who forks is the first thread now, and the only one */
	pthread_setspecific(key, &leader);
}
