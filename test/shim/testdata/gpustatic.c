/* Buffers of a runtime that is linked statically: only its driver can be asked. One on the host
   is none of a device's. With -DDRIVER, two that the program takes from the driver itself. */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

void *fake_take(size_t, int);
int cuMemAlloc_v2(uintptr_t *, size_t);
int cuMemFree_v2(uintptr_t);

static char still[1 << 16];

static void bcast(void *p)
{
	errno = 77;
	MPI_Bcast(p, 1, MPI_INT, 0, MPI_COMM_SELF);
	if (errno != 77)
		puts("errno is another");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	char *a = fake_take(8192, 0), *b = fake_take(100, 1), *c = fake_take(4096, -1);
	for (int i = 0; i < 2; i++) {
		bcast(a + 5000);
		bcast(b);
		bcast(a + 64);
		bcast(c);
		bcast(still + 4096 * i);
	}
#ifdef DRIVER
	for (int i = 0; i < 2; i++) {
		uintptr_t d;
		cuMemAlloc_v2(&d, 256);
		bcast((void *)(d + 16));
		cuMemFree_v2(d);
	}
#endif
	puts("done");
	MPI_Finalize();
	return 0;
}
