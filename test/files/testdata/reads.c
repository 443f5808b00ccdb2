/* Reads text in the ways that C has: lines, parts of lines, numbers, blocks, to the end. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long all(FILE *f, long *bytes)
{
	char line[100], *part = NULL;
	size_t room = 0;
	int a, b;
	long lines = 0;
	*bytes = 0;
	for (int i = 0; i < 3; i++)
		*bytes += getdelim(&part, &room, 'a', f); /* in the middle of a line */
	fgets(line, sizeof line, f);
	printf("%zu ", strlen(line));
	*bytes += ftell(f) > 0;
	rewind(f);
	for (int i = 0; i < 50; i++) {
		int n = fscanf(f, "%d apples and %d", &a, &b);
		lines += n == 2;
		lines += getline(&part, &room, f) > 0; /* what is left of it */
		fgets(line, 4, f);
		fgets(line, sizeof line, f);
		fgets(line, sizeof line, f);
	}
	lines += ftell(f);
	lines += fscanf(f, "apples %d", &a) == 0;
	rewind(f);
	while (fgets(line, sizeof line, f))
		lines++;
	fseek(f, 31, SEEK_SET);
	while (getline(&part, &room, f) >= 0)
		*bytes += (long)strlen(part);
	fseek(f, -10, SEEK_END);
	for (size_t n = 4; n == 4;) {
		n = fread(line, 1, 4, f);
		*bytes += (long)n;
	}
	rewind(f);
	while (fscanf(f, "%*[^0-9]%d", &a) > 0 || fscanf(f, "%d", &a) > 0)
		lines++;
	free(part);
	return lines;
}

int main(int argc, char **argv)
{
	long bytes, lines;
	MPI_Init(&argc, &argv);
	FILE *f = fopen("written", "w+");
	for (int i = 0; i < 300; i++) {
		fprintf(f, "%d apples and %d pears\n", 12, i % 10);
		fputs("a line\n", f);
		fwrite("\n", 1, 1, f);
	}
	fwrite("the end", 1, 7, f);
	rewind(f);
	lines = all(f, &bytes);
	printf("%ld lines, %ld bytes\n", lines, bytes);
	fclose(f);
	f = fopen("found", "r");
	lines = all(f, &bytes);
	printf("%ld lines, %ld bytes\n", lines, bytes);
	fclose(f);
	MPI_Finalize();
	return 0;
}
