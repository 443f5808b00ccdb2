/*
 * counters.c: what the processor and the kernel count between a thread's MPI
 * calls, by perf_event_open. One group of events per thread, read at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks.h"

#define MAX_COUNTERS 8

static const struct event {
	const char *name;
	uint32_t type;
	uint64_t config;
} known[] = {
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};
#define KNOWN (sizeof known / sizeof *known)

static const struct event *wanted[MAX_COUNTERS];
static int32_t numbers[MAX_COUNTERS]; /* of the names */
static int nwanted;

static int open_event(const struct event *e, int group)
{
	struct perf_event_attr a;
	memset(&a, 0, sizeof a);
	a.size = sizeof a;
	a.type = e->type;
	a.config = e->config;
	/* What the kernel does for the program is not its own; context switches are
	   the kernel's alone. */
	a.exclude_kernel = e->type == PERF_TYPE_HARDWARE || e->config != PERF_COUNT_SW_CONTEXT_SWITCHES;
	a.exclude_hv = 1;
	a.read_format = PERF_FORMAT_GROUP;
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EACCES && !a.exclude_kernel) {
		a.exclude_kernel = 1;
		fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
	}
	return fd;
}

/* Open all events for the calling thread; 0 if that is not possible. */
static int open_group(int fds[MAX_COUNTERS])
{
	for (int i = 0; i < nwanted; i++) {
		fds[i] = open_event(wanted[i], i ? fds[0] : -1);
		if (fds[i] < 0) {
			int e = errno;
			while (--i >= 0)
				close(fds[i]);
			errno = e;
			return 0;
		}
	}
	return 1;
}

static const struct event *named(const char *name, size_t n)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (strlen(known[i].name) == n && memcmp(known[i].name, name, n) == 0)
			return &known[i];
	return NULL;
}

static const char *reason(const struct event *e)
{
	switch (errno) {
	case ENOENT:
	case EOPNOTSUPP:
		return e->type == PERF_TYPE_HARDWARE ? "this machine has no such counter (a virtual machine often has none)" : "this kernel has no such counter";
	case EACCES:
	case EPERM:
		return "the kernel does not allow it: see /proc/sys/kernel/perf_event_paranoid, 2 or less is needed";
	case ENOSYS:
		return "the kernel has no perf_event_open, or does not allow it here";
	}
	return strerror(errno);
}

int sp_counters_start(const char *list, char *why, size_t room)
{
	nwanted = 0;
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ",");
		const struct event *e = named(p, n);
		if (!e || nwanted == MAX_COUNTERS) {
			snprintf(why, room, e ? "at most %d counters at a time" : "no counter %.*s", e ? MAX_COUNTERS : (int)n, p);
			return 0;
		}
		wanted[nwanted++] = e;
		p += n + (p[n] == ',');
	}
	int fds[MAX_COUNTERS];
	for (int i = 0; i < nwanted; i++) {
		int fd = open_event(wanted[i], -1);
		if (fd < 0) {
			snprintf(why, room, "can't count %s: %s", wanted[i]->name, reason(wanted[i]));
			return 0;
		}
		close(fd);
	}
	if (!open_group(fds)) {
		snprintf(why, room, "can't count %s together: %s", list, strerror(errno));
		return 0;
	}
	for (int i = 0; i < nwanted; i++)
		close(fds[i]);
	for (int i = 0; i < nwanted; i++)
		numbers[i] = sp_value_name(wanted[i]->name);
	return nwanted > 0;
}

static int read_counters(struct sp_counters *c, int64_t now[MAX_COUNTERS])
{
	uint64_t words[1 + MAX_COUNTERS];
	if (c->open == 0)
		c->open = open_group(c->fds) ? 1 : -1;
	if (c->open < 0 || read(c->fds[0], words, sizeof words) < (ssize_t)((1 + nwanted) * 8))
		return 0;
	for (int i = 0; i < nwanted; i++)
		now[i] = (int64_t)words[1 + i];
	return 1;
}

void sp_counters_before(struct sp_counters *c, struct sp_hooks *h)
{
	int64_t now[MAX_COUNTERS];
	int saved = errno;
	if (c->known && read_counters(c, now))
		for (int i = 0; i < nwanted; i++)
			sp_attach(h, numbers[i], now[i] - c->last[i]);
	errno = saved;
}

void sp_counters_after(struct sp_counters *c)
{
	int saved = errno;
	c->known = read_counters(c, c->last);
	errno = saved;
}

void sp_counters_close(struct sp_counters *c)
{
	for (int i = 0; c->open == 1 && i < nwanted; i++)
		close(c->fds[i]);
	c->open = 0;
}
