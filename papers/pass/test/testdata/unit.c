/* unit.c: another unit of the program, which knows of MPI by a function of its own only. */
#include <mpi.h>

#include "counted.h"

static void talk(void) { MPI_Barrier(MPI_COMM_SELF); }

static void (*volatile pointer)(void) = talk;

void unit(int n)
{
	for (int i = 0; i < n; i++) { R;
		pointer();
		for (int j = 0; j < i; j++) { R;
			if (j == 3)
				break;
		}
	}
}
