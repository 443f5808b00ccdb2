/* files.c: scratch files instead of those of the original. */
#include "private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *files = "scratch";

const char *scratch(const char *name)
{
	static int made;
	if (!made && mkdir(files, 0777) && errno != EEXIST)
		fail(files, strerror(errno));
	made = 1;
	char *path = text(strlen(files) + strlen(name) + 2);
	char *p = path + sprintf(path, "%s/", files);
	for (; *name; name++)
		*p++ = *name == '/' ? '_' : *name;
	*p = 0;
	return path;
}

const char *scratch_of(const char *name, int64_t bytes)
{
	const char *path = scratch(name);
	int fd = open(path, O_CREAT | O_RDWR, 0666);
	struct stat st;
	if (fd < 0)
		fail(path, strerror(errno));
	if (fstat(fd, &st) == 0 && st.st_size < bytes && ftruncate(fd, bytes))
		fail(path, strerror(errno));
	close(fd);
	return path;
}
