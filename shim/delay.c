/*
 * delay.c: how long the first thread was ready to run and had no processor.
 *
 * The kernel adds that up for each thread. It is read where a thread was long in a call, or outside of calls: there it tells what the
 * machine took from what the program does. A descriptor that stays open would be seen by the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime.h"

#define LONG_NS 1000000 /* from how long on an interval is asked about, and what is told of it */

uint64_t sp_long = UINT64_MAX;

/* Of the first thread. */
static struct {
	uint64_t read;    /* ns, at the last reading; 0: there was none */
	uint64_t told[2]; /* ns outside of calls and in one, that no record tells of yet */
} delay;

/* For tests that compare what ranks found with what follows from their times alone: SPOOR_NO_DELAYS. */
void sp_delay_start(void)
{
	if (getenv("SPOOR_NO_DELAYS"))
		return;
	__atomic_store_n(&sp_long, (uint64_t)(LONG_NS * sp_run.ticks_per_ns), __ATOMIC_RELAXED);
}

/* What the kernel has added up, in ns; 0: it does not tell. */
static uint64_t added_up(void)
{
	char text[96];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	long n = syscall(SYS_read, fd, text, sizeof text - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	char *end;
	strtoull(text, &end, 10); /* ns on a processor */
	return strtoull(end, NULL, 10) + 1;
}

void sp_delayed(struct sp_thread *t, uint64_t ticks, int in_call)
{
	uint64_t took = ticks - t->seen;
	if (t->number != 0 || !sp_has_ring(t))
		return;
	int saved = errno;
	uint64_t now = added_up(), before = delay.read;
	errno = saved;
	delay.read = now;
	if (!now) {
		__atomic_store_n(&sp_long, UINT64_MAX, __ATOMIC_RELAXED);
		return;
	}
	uint64_t ns = before && now > before ? now - before : 0, most = (uint64_t)((double)took / sp_run.ticks_per_ns);
	if (!t->seen || ns < LONG_NS)
		return;
	delay.told[in_call] += ns < most ? ns : most;
	t->delayed = 1;
	sp_mark(&t->lim, NULL);
}

uint64_t sp_delay_record(struct sp_thread *t, uint64_t w[SP_DELAY_WORDS])
{
	w[0] = SP_WORD0(SP_DELAY_WORDS, 0, SP_DELAY, 0);
	w[1] = sp_ticks();
	w[2] = delay.told[0];
	w[3] = delay.told[1];
	delay.told[0] = delay.told[1] = 0;
	t->delayed = 0;
	return SP_DELAY_WORDS;
}
