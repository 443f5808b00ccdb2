/* log.c: making lines and writing them. */
#define _GNU_SOURCE
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__thread struct o_thread o_self;

/* Memory for lines is mapped, so that the program's heap looks as without us. */
static void need(size_t more)
{
	if (o_self.len + more <= o_self.cap)
		return;
	size_t cap = o_self.cap ? o_self.cap : 1 << 16;
	while (cap < o_self.len + more)
		cap *= 2;
	void *p = o_self.cap ? mremap(o_self.line, o_self.cap, cap, MREMAP_MAYMOVE)
			   : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		dprintf(2, "oracle: out of memory\n");
		_exit(99);
	}
	o_self.line = p;
	o_self.cap = cap;
}

void o_put(const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	need((size_t)n);
	memcpy(o_self.line + o_self.len, text, (size_t)n);
	o_self.len += (size_t)n;
}

void o_quote(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			o_put("\\u%04x", c);
		else
			o_put("%c", c);
	}
}

void o_flush(int fd)
{
	size_t done = 0;
	while (done < o_self.len) {
		ssize_t n = write(fd, o_self.line + done, o_self.len - done);
		if (n < 0 && errno != EINTR) {
			dprintf(2, "oracle: write: errno %d\n", errno);
			_exit(99);
		}
		if (n > 0)
			done += (size_t)n;
	}
	o_self.len = 0;
}

int o_create(const char *dir, const char *suffix, int flags)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%d.%s", dir, (int)getpid(), suffix);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	if (fd < 0) {
		dprintf(2, "oracle: %s: errno %d\n", path, errno);
		_exit(99);
	}
	return fd;
}
