/* counted.c: rounds that the program says it made; printed when it ends. Compiled without the pass. */
#include "counted.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct { char file[32]; int line; long n; } list[200];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void counted(const char *file, int line)
{
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	int i = 0;
	pthread_mutex_lock(&lock);
	while (list[i].n && (list[i].line != line || strcmp(list[i].file, base)))
		i++;
	strcpy(list[i].file, base);
	list[i].line = line;
	list[i].n++;
	pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void print(void)
{
	for (int i = 0; list[i].n; i++)
		printf("rounds %s:%d %ld\n", list[i].file, list[i].line, list[i].n);
}
