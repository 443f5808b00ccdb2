/* files.c: scratch files instead of those of the original. */
#include "private.h"

#include <string.h>

#include "scratch.h"

const char *files = "scratch";

static void failed(const char *what, const char *why)
{
	fail(what, why);
}

void on_files(void)
{
	again_begin(files, rank, failed);
}

const char *numbered(const char *before, int width, int64_t n, const char *after)
{
	size_t room = strlen(before) + strlen(after) + 32 + (size_t)width;
	char *t = text(room);
	snprintf(t, room, "%s%0*lld%s", before, width, (long long)n, after);
	return t;
}

const char *scratch(const char *name)
{
	const char *path = again_place(name);
	return strcpy(text(strlen(path) + 1), path);
}

const char *scratch_of(const char *name, int64_t bytes)
{
	const char *path = scratch(name);
	again_size(path, bytes);
	return path;
}
