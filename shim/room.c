/*
 * room.c: how much memory this process may still have.
 *
 * Go ends a process that can't get memory. So where there are limits, on
 * addresses, on data or on a group of processes, it isn't started, or called any
 * more, unless more is left than it takes.
 */
#define _GNU_SOURCE
#include "room.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MB (1ull << 20)

/* The engine takes 550 MB of addresses (engine/reserve.c), most for stacks and
   arenas of its threads that nothing is ever written to. As much is to remain. */
#define START_ADDRESSES (1024 * MB)
#define START_DATA (256 * MB)
#define START_GROUP (32 * MB)
#define DRAIN (64 * MB)
#define FINISH (192 * MB)

#define UNLIMITED UINT64_MAX

static int limited; /* by addresses or data */

/* A small file, as text. */
static int read_text(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	return n > 0;
}

static uint64_t minus(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

/* What the limits of this process leave of addresses and data. */
static void left(uint64_t *addresses, uint64_t *data)
{
	struct rlimit as, ds;
	unsigned long size, stack_and_data;
	char text[256];
	*addresses = *data = UNLIMITED;
	if (getrlimit(RLIMIT_AS, &as) != 0 || getrlimit(RLIMIT_DATA, &ds) != 0
	    || (as.rlim_cur == RLIM_INFINITY && ds.rlim_cur == RLIM_INFINITY))
		return;
	limited = 1;
	if (!read_text("/proc/self/statm", text, sizeof text)
	    || sscanf(text, "%lu %*u %*u %*u %*u %lu", &size, &stack_and_data) != 2)
		return;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (as.rlim_cur != RLIM_INFINITY)
		*addresses = minus(as.rlim_cur, size * page);
	if (ds.rlim_cur != RLIM_INFINITY)
		*data = minus(ds.rlim_cur, stack_and_data * page);
}

/* The value of a key in lines of "key value". */
static uint64_t field(const char *text, const char *key)
{
	size_t n = strlen(key);
	while (text && *text) {
		if (strncmp(text, key, n) == 0 && text[n] == ' ')
			return strtoull(text + n, NULL, 10);
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return 0;
}

/* What one group's limit leaves; caches can be thrown away and don't count. */
static uint64_t left_in(const char *dir, const char *limit_file, const char *anonymous)
{
	char path[4400], text[8192];
	snprintf(path, sizeof path, "%s/%s", dir, limit_file);
	if (!read_text(path, text, sizeof text) || *text < '0' || *text > '9')
		return UNLIMITED;
	uint64_t limit = strtoull(text, NULL, 10);
	snprintf(path, sizeof path, "%s/memory.stat", dir);
	if (limit > 1ull << 60 || !read_text(path, text, sizeof text))
		return UNLIMITED;
	return minus(limit, field(text, anonymous) + field(text, "shmem"));
}

/* What the least of the groups leaves that the process is in, of either version. */
static uint64_t left_in_groups(void)
{
	char text[4096], dir[4200];
	uint64_t least = UNLIMITED;
	const char *named = getenv("SPOOR_CGROUPS"); /* elsewhere, in tests */
	const char *root = named ? named : "/sys/fs/cgroup";
	if (!read_text("/proc/self/cgroup", text, sizeof text))
		return least;
	char *rest = text, *line;
	while ((line = strsep(&rest, "\n"))) {
		char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = 0;
		int first = strcmp(controllers + 1, "memory") == 0;
		if (!first && controllers[1])
			continue;
		snprintf(dir, sizeof dir, "%s%s%s", root, first ? "/memory" : "", path);
		for (size_t top = strlen(root) + (first ? 7 : 0); strlen(dir) >= top;) {
			uint64_t here = first ? left_in(dir, "memory.limit_in_bytes", "rss") : left_in(dir, "memory.max", "anon");
			least = here < least ? here : least;
			char *slash = strrchr(dir + top, '/');
			if (!slash)
				break;
			*slash = 0;
		}
	}
	return least;
}

static int enough(uint64_t left, uint64_t wanted, const char *what, char *why, size_t n)
{
	if (left >= wanted)
		return 1;
	snprintf(why, n, "%s %llu MB of memory, and tracing takes %llu: not tracing", what, (unsigned long long)(left / MB),
		(unsigned long long)(wanted / MB));
	return 0;
}

int sp_room_to_start(char *why, size_t n)
{
	uint64_t addresses, data;
	left(&addresses, &data);
	return enough(addresses, START_ADDRESSES, "the limit on addresses (ulimit -v) leaves", why, n)
		&& enough(data, START_DATA, "the limit on data (ulimit -d) leaves", why, n)
		&& enough(left_in_groups(), START_GROUP, "the limit of the cgroup leaves", why, n);
}

static int has(uint64_t wanted)
{
	uint64_t addresses, data;
	if (!limited)
		return 1;
	left(&addresses, &data);
	return addresses >= wanted && data >= wanted;
}

int sp_room_to_drain(void)
{
	return has(DRAIN);
}

int sp_room_to_finish(void)
{
	return has(FINISH);
}
