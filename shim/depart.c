/*
 * depart.c: the ranks of a host enter the MPI's Finalize together.
 *
 * MPICH 4.0 over UCX disconnects from all others in MPI_Finalize, and then waits for them in a barrier of the launcher's,
 * where it lets UCX do nothing. A rank whose connections need an answer meanwhile hangs for ever: mostly one that comes some
 * ms later than the others (pmodels/mpich#6596 is the remedy in later versions). Without spoor ranks often come at the same
 * time, from their last messages; with it they have other work to do before, each of them its own.
 *
 * A barrier is not enough: those who leave it first are in Finalize while the others are still in it. So the last thing that
 * a rank does is to count itself in a page that the host's ranks share, and to wait for the others without any call of MPI.
 * The page has no name: rank 0 has it open, and the others find it by its process. Ranks of other hosts go without.
 */
#define _GNU_SOURCE
#include "depart.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

#define LIMIT 2000000000 /* ns; who has not come by then has other reasons */
#define NAP 20000        /* ns */

static struct page {
	uint64_t token;
	int32_t members, ready;
} *page;

static int own = -1; /* rank 0's descriptor */

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int map(int fd)
{
	void *p = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	page = p == MAP_FAILED ? NULL : p;
	return page != NULL;
}

void sp_depart_offer(struct sp_departure *d)
{
	if (sp_run.ranks < 2 || page)
		return;
	own = (int)syscall(SYS_memfd_create, "spoor", 1u /* MFD_CLOEXEC */);
	if (own < 0)
		return;
	if (ftruncate(own, sizeof *page) != 0 || !map(own)) {
		close(own);
		own = -1;
		return;
	}
	page->token = now() ^ (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)page;
	page->members = 1;
	*d = (struct sp_departure){.token = page->token, .pid = (int32_t)getpid(), .fd = own};
}

/* On another host the process may be anything: only such a page is opened. */
void sp_depart_join(const struct sp_departure *d)
{
	char path[64], target[64];
	if (page || !d->token)
		return;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)d->pid, (int)d->fd);
	long n = readlink(path, target, sizeof target - 1);
	target[n > 0 ? n : 0] = 0;
	if (strncmp(target, "/memfd:spoor", 12) != 0)
		return;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (map(fd) && page->token != d->token) {
		munmap(page, sizeof *page);
		page = NULL;
	}
	close(fd);
	if (page)
		__atomic_fetch_add(&page->members, 1, __ATOMIC_SEQ_CST);
}

void sp_depart(void)
{
	if (!page)
		return;
	if (own >= 0)
		close(own);
	own = -1;
	uint64_t began = now();
	__atomic_fetch_add(&page->ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&page->ready, __ATOMIC_SEQ_CST) < __atomic_load_n(&page->members, __ATOMIC_SEQ_CST) && now() - began < LIMIT) {
		struct timespec nap = {0, NAP};
		if (now() - began < NAP)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
	munmap(page, sizeof *page);
	page = NULL;
}
