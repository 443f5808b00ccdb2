// What MPI-4.1 lets one ask and tell: fields of statuses, the state of many requests, hardware, pairs of types; errors go again.
// ranks: 1 2 4
// mpi: mpich>=4.2 openmpi>=6.0
#include "check.h"
#include <mpi.h>

enum { N = 3 };

int main(int argc, char **argv) {
    int rank, size, n, flag, index, indices[N], in[N], source, tag, error;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    MPI_Status status, statuses[N];
    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_source(&status, 3));
    OK(MPI_Status_set_tag(&status, 7));
    OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    OK(MPI_Status_set_elements_c(&status, MPI_INT, 5));
    OK(MPI_Status_set_cancelled(&status, 0));
    OK(MPI_Status_get_source(&status, &source));
    OK(MPI_Status_get_tag(&status, &tag));
    OK(MPI_Status_get_error(&status, &error));
    MPI_Get_elements(&status, MPI_INT, &n);
    CHECK(source == 3 && tag == 7 && error == MPI_ERR_TRUNCATE && n == 5);

    // Receives that nothing has been sent for, then all of them done; they stay active until they are waited for.
    MPI_Request req[N];
    for (int i = 0; i < N; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &req[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Request_get_status_all(N, req, &flag, statuses));
    CHECK(!flag);
    OK(MPI_Request_get_status_any(N, req, &index, &flag, &status));
    CHECK(!flag);
    OK(MPI_Request_get_status_some(N, req, &n, indices, statuses));
    CHECK(n == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        MPI_Send(&rank, 1, MPI_INT, right, i, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(N, req, statuses);
    for (int i = 0; i < N; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &req[i]);
    for (int i = 0; i < N; i++)
        MPI_Send(&i, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        OK(MPI_Request_get_status_all(N, req, &flag, statuses));
    CHECK(statuses[1].MPI_SOURCE == rank && statuses[1].MPI_TAG == 1);
    OK(MPI_Request_get_status_any(N, req, &index, &flag, &status));
    CHECK(flag && index == 0 && status.MPI_TAG == 0);
    OK(MPI_Request_get_status_some(N, req, &n, indices, MPI_STATUSES_IGNORE));
    CHECK(n == N && indices[2] == 2);
    MPI_Waitall(N, req, MPI_STATUSES_IGNORE);
    OK(MPI_Request_get_status_all(N, req, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    OK(MPI_Request_get_status_some(N, req, &n, indices, statuses));
    CHECK(n == MPI_UNDEFINED);

    int class, code;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "an error of the test's"));
    OK(MPI_Error_string(code, text, &n));
    CHECK(!strcmp(text, "an error of the test's"));
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(class));

    MPI_Info info;
    OK(MPI_Get_hw_resource_info(&info));
    MPI_Info_get_nkeys(info, &n);
    CHECK(n >= 0);
    MPI_Info_free(&info);

    MPI_Datatype pair;
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
    CHECK(pair == MPI_DOUBLE_INT);
    struct {
        double value;
        int index;
    } mine = {rank, rank}, most;
    OK(MPI_Allreduce(&mine, &most, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(most.index == size - 1);
    say(rank, "inquiries: ok");
    MPI_Finalize();
    return 0;
}
