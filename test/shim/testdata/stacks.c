/* Calls from known depths; the tag says which. */
#include <alloca.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KEEP __attribute__((noinline))
#define NO_JUMP __asm__ volatile("" : : : "memory") /* a call at the end stays a call */

static int flags;

static KEEP void leaf(int tag)
{
	int flag;
	MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	__atomic_fetch_add(&flags, flag, __ATOMIC_RELAXED);
}

static KEEP void varying(int tag, int size)
{
	char *room = alloca((size_t)size);
	memset(room, 1, (size_t)size);
	leaf(tag);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static KEEP void aligned(int tag, int size)
{
	volatile double room[8] __attribute__((aligned(64)));
	room[size % 8] = 1;
	varying(tag, size);
	NO_JUMP;
}

static KEEP void again(int tag, int times)
{
	if (times > 0)
		again(tag, times - 1);
	else
		leaf(tag);
	NO_JUMP;
}

static KEEP void one(int tag)
{
	leaf(tag);
	NO_JUMP;
}

static KEEP void two(int tag)
{
	leaf(tag);
	NO_JUMP;
}

/* A return address and a frame pointer that lead nowhere, while MPI is called. */
static KEEP void broken(int tag, int what)
{
	volatile uintptr_t *frame = __builtin_frame_address(0);
	uintptr_t fp = frame[0], ra = frame[1];
	int flag;
	if (what & 1)
		frame[0] = 0x1234567;
	if (what & 2)
		frame[1] = 0x4141414141414141u;
	if (what & 4)
		frame[1] = 0x10;
	MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	frame[0] = fp;
	frame[1] = ra;
}

static void *in_thread(void *arg)
{
	for (int i = 0; i < 100; i++)
		again((int)(intptr_t)arg, 2);
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	for (int i = 0; i < 50; i++) {
		one(1);
		two(2);
		varying(3, 16 + i % 7 * 100);
		aligned(4, 1 + i % 5 * 64);
		again(5, i % 3);
		leaf(6);
	}
	for (int what = 1; what < 8; what++)
		broken(7, what);
	if (provided == MPI_THREAD_MULTIPLE) {
		/* one after the other, so that the second takes over what the first leaves */
		for (int k = 0; k < 2; k++) {
			pthread_t id[3];
			for (int i = 0; i < 3; i++)
				pthread_create(&id[i], NULL, in_thread, (void *)(intptr_t)8);
			for (int i = 0; i < 3; i++)
				pthread_join(id[i], NULL);
		}
	}
	MPI_Finalize();
	printf("%d\n", flags);
	return 0;
}
