/* Makes each call of mpi/io.txt that works on streams and directories, and prints it as
   spoor dump has to show it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_list(FILE *f, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vfprintf(f, format, args);
	va_end(args);
	return n;
}

static int scan_by_list(FILE *f, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vfscanf(f, format, args);
	va_end(args);
	return n;
}

static int print_by_list(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vprintf(format, args);
	va_end(args);
	return n;
}

static int scan_own_by_list(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vscanf(format, args);
	va_end(args);
	return n;
}

/* Functions that name no stream, where those are files; they are told of by another descriptor. */
static int standard(void)
{
	int a, b;
	fflush(stdout);
	FILE *say = fdopen(dup(1), "w");
	freopen("printed", "w", stdout);
	fprintf(say, "freopen(path=\"printed\", mode=\"w\", stream=stdout) = stdout\n");
	fprintf(say, "fprintf(stream=stdout) = %d\n", printf("%d and %s\n", 17, "four"));
	fprintf(say, "fprintf(stream=stdout) = %d\n", print_by_list("%d\n", 123456));
	fprintf(say, "puts(stream=stdout, text=9) = %d\n", puts("some line"));
	fprintf(say, "fputs(text=5, stream=stdout) = %d\n", fputs("more\n", stdout));
	fprintf(say, "fflush(stream=stdout) = %d\n", fflush(stdout));
	fprintf(say, "fileno(stream=stdout) = STDOUT_FILENO\n", fileno(stdout));
	fprintf(say, "dprintf(fd=STDOUT_FILENO) = %d\n", dprintf(1, "%d %s\n", 1, "directly"));
	freopen("printed", "r", stdin);
	fprintf(say, "freopen(path=\"printed\", mode=\"r\", stream=stdin) = stdin\n");
	fprintf(say, "fscanf(stream=stdin) = %d\n", scanf("%d and four", &a));
	fprintf(say, "fscanf(stream=stdin) = %d\n", scan_own_by_list("%d some", &b));
	fprintf(say, "fgets(n=8, stream=stdin) = %zu\n", fgets((char[8]){0}, 8, stdin) ? strlen(" line\n") : 0);
	access("mark", F_OK);
	fclose(say);
	return a == 17 && b == 123456;
}

int main(int argc, char **argv)
{
	int rank;
	char dir[64], name[64], line[100];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(dir, sizeof dir, "rank%d", rank);
	snprintf(name, sizeof name, "text.%d", rank);
	mkdir(dir, 0755);
	if (chdir(dir) != 0)
		return 1;
	if (rank > 0)
		freopen("/dev/null", "w", stdout);

	access("mark", F_OK);
	FILE *f = fopen(name, "w+");
	printf("fopen(path=\"%s\", mode=\"w+\") = stream0\n", name);
	printf("setvbuf(stream=stream0, mode=0, size=65536) = %d\n", setvbuf(f, NULL, _IOFBF, 65536));
	for (int i = 0; i < 12; i++)
		printf("fprintf(stream=stream0) = %d\n", fprintf(f, "line %d of %s\n", i * i, name));
	printf("fprintf(stream=stream0) = %d\n", by_list(f, "%s %5.2f\n", "list", 3.14));
	printf("fputs(text=6, stream=stream0) = %d\n", fputs("short\n", f));
	printf("fwrite(size=8, n=3, stream=stream0) = %zu\n", fwrite("abcdefghijklmnopqrstuvwx", 8, 3, f));
	printf("fflush(stream=stream0) = %d\n", fflush(f));
	printf("fileno(stream=stream0) = %s\n", fileno(f) > 2 ? "descriptor0" : "?");
	printf("ftell(stream=stream0) = %ld\n", ftell(f));
	printf("fseek(stream=stream0, offset=0, whence=SEEK_SET) = %d\n", fseek(f, 0, SEEK_SET));
	char *whole = NULL;
	size_t room = 0;
	fpos_t here;
	printf("fgetpos(stream=stream0) = %d\n", fgetpos(f, &here));
	for (int i = 0; i < 4; i++)
		printf("fgets(n=100, stream=stream0) = %zu\n", fgets(line, sizeof line, f) ? strlen(line) : 0);
	printf("getline(stream=stream0) = %zd\n", getline(&whole, &room, f));
	printf("getline(stream=stream0) = %zd\n", getdelim(&whole, &room, 'o', f));
	int a, b;
	printf("fscanf(stream=stream0) = %d\n", fscanf(f, "f text.%d line %d", &a, &b));
	printf("fscanf(stream=stream0) = %d\n", scan_by_list(f, " of %d", &a));
	printf("fsetpos(stream=stream0) = %d\n", fsetpos(f, &here));
	printf("fread(size=10, n=4, stream=stream0) = %zu\n", fread(line, 10, 4, f));
	printf("fseek(stream=stream0, offset=-3, whence=SEEK_END) = %d\n", fseeko(f, -3, SEEK_END));
	printf("fread(size=1, n=50, stream=stream0) = %zu\n", fread(line, 1, 50, f));
	printf("fgets(n=100, stream=stream0) = %d\n", fgets(line, sizeof line, f) ? 1 : -1);
	printf("getline(stream=stream0) = %zd\n", getline(&whole, &room, f));
	printf("fscanf(stream=stream0) = %d\n", fscanf(f, "%d", &a));
	free(whole);
	rewind(f);
	printf("rewind(stream=stream0) = done\n");
	printf("fseek(stream=stream0, offset=-1, whence=SEEK_SET) = %d EINVAL\n", fseek(f, -1, SEEK_SET));
	printf("fclose(stream=stream0) = %d\n", fclose(f));

	f = fopen("missing/file", "r");
	printf("fopen(path=\"missing/file\", mode=\"r\") = NULL ENOENT\n");
	f = fopen(name, "r");
	printf("fopen(path=\"%s\", mode=\"r\") = stream0\n", name);
	printf("fputs(text=1, stream=stream0) = %d EBADF\n", fputs("x", f));
	f = freopen("other", "a", f);
	printf("freopen(path=\"other\", mode=\"a\", stream=stream0) = stream0\n");
	printf("fprintf(stream=stream0) = %d\n", fprintf(f, "%d", 12345));
	printf("fclose(stream=stream0) = %d\n", fclose(f));

	DIR *d = opendir(".");
	printf("opendir(path=\".\") = directory0\n");
	while (readdir(d))
		printf("readdir(dir=directory0) = 1\n");
	printf("readdir(dir=directory0) = 0\n");
	printf("closedir(dir=directory0) = %d\n", closedir(d));
	d = opendir("nowhere");
	printf("opendir(path=\"nowhere\") = NULL ENOENT\n");
	printf("remove(path=\"other\") = %d\n", remove("other"));
	int right = standard();
	MPI_Finalize();
	return !right;
}
