/* Uses files by all kinds of names, of a folder that is not the working directory. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[4096];

static const char *in(const char *folder, const char *file)
{
	snprintf(name, sizeof name, "%s/%s", folder, file);
	return strdup(name);
}

static void check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static void make(int dir, const char *path)
{
	int fd = openat(dir, path, O_CREAT | O_RDWR, 0600);
	check(fd >= 0 && write(fd, path, 3) == 3 && close(fd) == 0, path);
}

int main(int argc, char **argv)
{
	const char *out = argv[1];
	char text[100], *last = strrchr(out, '/');
	MPI_Init(&argc, &argv);
	check(mkdir(in(out, "sub"), 0700) == 0, "mkdir");
	make(AT_FDCWD, in(out, "sub/f"));
	check(rename(in(out, "sub/f"), in(out, "sub/g")) == 0, "rename");
	check(symlink(out, "whole") == 0 && symlink(in("..", last + 1), "up") == 0, "symlink");
	make(AT_FDCWD, "whole/through");
	make(AT_FDCWD, "up/climbed");
	make(AT_FDCWD, in("..", in(last + 1, "dots")));
	int dir = open(in(out, "sub"), O_DIRECTORY);
	make(dir, "inner");
	make(dir, "../outer");
	DIR *d = opendir(in(out, "sub"));
	check(dir >= 0 && d && readdir(d) && closedir(d) == 0, "opendir");
	int fd = mkstemp((char *)in(out, "chanceXXXXXX"));
	FILE *f = fopen(in(out, "stream"), "w+");
	check(fd >= 0 && f && fputs("text\n", f) >= 0 && fseek(f, 0, SEEK_SET) == 0 && fgets(text, sizeof text, f), "streams");
	check(fclose(f) == 0 && truncate(in(out, "stream"), 100) == 0 && link(in(out, "stream"), in(out, "linked")) == 0, "link");
	check(chdir(out) == 0, "chdir");
	make(AT_FDCWD, "near");
	check(chdir("/../..") == 0, "chdir to the root");
	fd = open("etc/passwd", O_RDONLY);
	check(fd >= 0 && pread(fd, text, 20, 0) == 20, "etc/passwd");
	check(access("/etc/passwd", W_OK) == 0 || access("/etc/passwd", R_OK) == 0, "access");
	printf("done\n");
	MPI_Finalize();
	return 0;
}
