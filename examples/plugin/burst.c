/*
 * burst.c: an example plugin. It attaches to each call what the thread did since
 * its MPI call before: instructions, by perf_event_open, or where the machine has
 * no such counter its processor time in ns. To calls with a buffer it attaches the bytes too.
 *
 *     cc -O2 -shared -fPIC -I PREFIX/include -o burst.so burst.c
 *     spoor run --plugin ./burst.so mpirun -n 4 ./app
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <spoor.h>

static const spoor_api *spoor;
static int32_t burst, bytes;
static int hardware;

/* Of each thread. */
static __thread int fd = -1;
static __thread int64_t last = -1;

static int open_counter(int type, int what)
{
	struct perf_event_attr a;
	memset(&a, 0, sizeof a);
	a.size = sizeof a;
	a.type = (uint32_t)type;
	a.config = (uint64_t)what;
	a.exclude_kernel = a.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_best(void)
{
	return hardware ? open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)
		: open_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
}

static int64_t now(void)
{
	int64_t v;
	if (fd < 0 && (fd = open_best()) < 0)
		return -1;
	return read(fd, &v, sizeof v) == sizeof v ? v : -1;
}

int spoor_init(const spoor_api *api)
{
	if (api->abi != SPOOR_PLUGIN_ABI || api->size < sizeof *api) {
		fprintf(stderr, "burst: made for another version of spoor\n");
		return 1;
	}
	spoor = api;
	int test = open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	hardware = test >= 0;
	if (hardware)
		close(test);
	burst = api->value(hardware ? "burst-instructions" : "burst-ns");
	bytes = api->value("bytes");
	return 0;
}

void spoor_pre(const spoor_call *call)
{
	int64_t n = now();
	if (last >= 0 && n >= 0)
		spoor->attach(call, burst, n - last);
	int64_t moved = spoor->bytes(call);
	if (moved >= 0)
		spoor->attach(call, bytes, moved);
}

void spoor_post(const spoor_call *call)
{
	(void)call;
	last = now();
}
