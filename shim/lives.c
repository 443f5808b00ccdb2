/*
 * lives.c: how others see that this process runs.
 *
 * Mostly they look its number up. In a container it has another one there, so it locks a file. The lock is the process', not a
 * descriptor's: children don't inherit it, and nobody else in the process opens that file. The descriptor is a high
 * one, as programs count on low ones.
 */
#define _GNU_SOURCE
#include "lives.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INITIAL 0xeffffffcull /* the number of the host's, in all kernels */
#define HIGH 500

uint64_t sp_lives_namespace(void)
{
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof text - 1);
	text[n > 0 ? n : 0] = 0;
	const char *number = strchr(text, '[');
	return number ? strtoull(number + 1, NULL, 10) : 0;
}

int sp_lives_lock(const char *path, int flags)
{
	if (sp_lives_namespace() == INITIAL)
		return -1;
	int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600), high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	if (fd >= 0 && fcntl(fd, F_SETLK, &whole) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}
