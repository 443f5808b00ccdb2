/* library.c: linked as a shared library. */
#include <mpi.h>

#include "counted.h"

void library(int n)
{
	for (int i = 0; i < n; i++) { R;
		for (int j = 0; j <= i; j++) { R;
			if (j < 2)
				MPI_Barrier(MPI_COMM_SELF);
		}
	}
}
