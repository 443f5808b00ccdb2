// cxx.h: a function that several units have, one of which the linker keeps.
#include <mpi.h>

#include "counted.h"

template <typename T> T twice(T n)
{
	T sum = 0;
	for (T i = 0; i < n; i++) { R;
		if (i % 2)
			MPI_Barrier(MPI_COMM_SELF);
		sum += 2;
	}
	return sum;
}
int other(int n);
