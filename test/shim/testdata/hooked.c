/* Calls for plugins to look at: two threads, a callback that calls MPI, work between calls. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int rank, size;
static volatile double sink;

static void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}

static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	int n;
	(void)key, (void)extra;
	MPI_Comm_size(comm, &n);
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static void *other(void *arg)
{
	int flag;
	for (int i = 0; i < 20; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 5, *(MPI_Comm *)arg, &flag, MPI_STATUS_IGNORE);
	return NULL;
}

int main(int argc, char **argv)
{
	int provided, key, x = 1, in = 0;
	MPI_Comm comm, twin;
	pthread_t id;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_attr(comm, key, NULL);
	MPI_Comm_dup(comm, &twin); /* calls MPI_Comm_size inside */
	for (int i = 0; i < 50; i++) {
		work(20000);
		MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Pcontrol(0);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Pcontrol(1);
	if (provided == MPI_THREAD_MULTIPLE) {
		pthread_create(&id, NULL, other, &comm);
		pthread_join(id, NULL);
	}
	MPI_Comm_free(&twin);
	MPI_Comm_free(&comm);
	MPI_Comm_free_keyval(&key);
	MPI_Finalize();
	printf("rank done\n");
	return in != 1;
}
