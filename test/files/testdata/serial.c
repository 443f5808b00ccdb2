/* No MPI: one thread, several, or more calls than can wait for MPI_Init. It says which files it wrote, in how many calls, and
   how many bytes. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int calls = 100;

static void *writer(void *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	for (int i = 0; i < calls; i++)
		if (write(fd, "twelve bytes", 12) != 12)
			return NULL;
	close(fd);
	return name;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	if (strcmp(argv[argc - 1], "many") == 0)
		calls = 300000;
	close(open("/etc/hostname", O_RDONLY));
	writer("first.out");
	printf("first.out %d %d\n", calls, 12 * calls);
	if (strcmp(argv[argc - 1], "threads") == 0) {
		calls = 7;
		if (pthread_create(&thread, NULL, writer, "second.out") != 0 || pthread_join(thread, NULL) != 0)
			return 1;
		printf("second.out %d %d\n", calls, 12 * calls);
	}
	return 0;
}
