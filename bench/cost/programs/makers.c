/* Time loops whose calls make and free something; prints "name ns-per-iteration" lines,
   as loops.c does. The last one is what a suite of tests does that makes datatypes all
   the time: one of many, asked about and freed again. */
#include <mpi.h>

#include "loop.h"

#define KINDS 4096 /* of datatypes: 9 calls each, so one call in some hundred is new */

static void one_type(unsigned kind)
{
	static const MPI_Datatype basic[4] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT};
	MPI_Datatype old = basic[kind & 3], made, resized;
	int size, count = 1 + (int)(kind >> 4 & 15), integers, addresses, types, combiner;
	int lengths[2] = {count, 1}, displs[2] = {0, count + (int)(kind >> 8)};
	MPI_Aint lb, extent;
	switch (kind >> 2 & 3) {
	case 0:
		MPI_Type_contiguous(1 + (int)(kind >> 4), old, &made);
		break;
	case 1:
		MPI_Type_vector(count, 1, 1 + (int)(kind >> 8), old, &made);
		break;
	case 2:
		MPI_Type_create_hvector(count, 2, 16 + (MPI_Aint)(kind >> 8), old, &made);
		break;
	default:
		MPI_Type_indexed(2, lengths, displs, old, &made);
	}
	MPI_Type_get_extent(made, &lb, &extent);
	MPI_Type_create_resized(made, 0, extent + 8, &resized);
	MPI_Type_commit(&resized);
	MPI_Type_size(resized, &size);
	MPI_Type_get_extent(resized, &lb, &extent);
	MPI_Type_get_envelope(made, &integers, &addresses, &types, &combiner);
	MPI_Type_free(&made);
	MPI_Type_free(&resized);
}

/* A datatype that no call has made before, used as one_type is. */
static void new_type(void)
{
	static int i;
	MPI_Datatype made;
	int size, integers[3], n, addresses, types, combiner;
	MPI_Type_vector(1 + i % 500, 1, 1 + i++ / 500, MPI_INT, &made);
	MPI_Type_commit(&made);
	MPI_Type_size(made, &size);
	MPI_Type_get_envelope(made, &n, &addresses, &types, &combiner);
	MPI_Type_get_contents(made, n, 0, 1, integers, &(MPI_Aint){0}, &(MPI_Datatype){MPI_DATATYPE_NULL});
	MPI_Type_free(&made);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 300000, few = n / 10 + 10;
	loop_options(argc, argv);
	MPI_Init(&argc, &argv);
	MPI_Comm self = MPI_COMM_SELF, comm;
	MPI_Datatype type, vector;
	MPI_Info info;
	MPI_Request request;
	MPI_Group group;
	int integers[3];
	MPI_Aint addresses[1];
	MPI_Datatype types[1];
	double a = 0;
	LOOP("comm_dup+free", few, (MPI_Comm_dup(self, &comm), MPI_Comm_free(&comm)));
	LOOP("comm_group+free", n, (MPI_Comm_group(self, &group), MPI_Group_free(&group)));
	LOOP("type_dup+free", n, (MPI_Type_dup(MPI_INT, &type), MPI_Type_free(&type)));
	LOOP("vector+commit+free", n, (MPI_Type_vector(3, 1, 2, MPI_INT, &type), MPI_Type_commit(&type), MPI_Type_free(&type)));
	MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
	LOOP("type_get_contents", n, MPI_Type_get_contents(vector, 3, 0, 1, integers, addresses, types));
	int envelope[4];
	LOOP("type_get_envelope", n, MPI_Type_get_envelope(vector, &envelope[0], &envelope[1], &envelope[2], &envelope[3]));
	MPI_Type_free(&vector);
	LOOP("info_create+set+free", n, (MPI_Info_create(&info), MPI_Info_set(info, "key", "value"), MPI_Info_free(&info)));
	char text[24];
	LOOP("info_of_1000", n / 4,
	     (snprintf(text, sizeof text, "%d", i % 1000), MPI_Info_create(&info), MPI_Info_set(info, "key", text), MPI_Info_free(&info)));
	int keyval;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
	LOOP("attribute_set+get+delete", n,
	     (MPI_Comm_set_attr(self, keyval, text), MPI_Comm_get_attr(self, keyval, &(void *){NULL}, integers), MPI_Comm_delete_attr(self, keyval)));
	MPI_Comm_free_keyval(&keyval);
	LOOP("send_init+start+wait+free", n,
	     (MPI_Send_init(&a, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, self, &request), MPI_Start(&request),
	      MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request)));
	unsigned seed = 1;
	LOOP("types_of_4096", n / 4, (seed = seed * 1103515245u + 12345u, one_type(seed >> 16 & (KINDS - 1))));
	LOOP("types_distinct", n / 4, new_type());
	MPI_Finalize();
	return 0;
}
