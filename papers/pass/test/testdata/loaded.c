/* loaded.c: a shared library that the program loads. */
#include <mpi.h>

#include "counted.h"

void loaded_work(int n)
{
	for (int i = 0; i < n; i++) { R;
		MPI_Barrier(MPI_COMM_SELF);
	}
}
