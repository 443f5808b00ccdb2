// The tool interface's control variables: all of them listed, one read and written, enumerations looked into.
// ranks: 1 2
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, level, n, at, enums = 0, reads = 0, writes = 0;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level)); // allowed before MPI_Init
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_T_cvar_get_num(&n));
    CHECK(n > 0);
    for (int i = 0; i < n; i++) {
        char name[256], text[512];
        int name_len = sizeof name, text_len = sizeof text, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum choice;
        if (MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &choice, text, &text_len, &bind, &scope) !=
            MPI_SUCCESS)
            continue; // Open MPI has holes in its numbering
        if (i < 50) {
            OK(MPI_T_cvar_get_index(name, &at));
            CHECK(at == i);
        }
        if (choice != MPI_T_ENUM_NULL && enums < 3) {
            int items, value;
            name_len = sizeof name;
            OK(MPI_T_enum_get_info(choice, &items, name, &name_len));
            if (items > 0) {
                name_len = sizeof name;
                OK(MPI_T_enum_get_item(choice, 0, &value, name, &name_len));
            }
            enums++;
        }
        if (bind != MPI_T_BIND_NO_OBJECT || type != MPI_INT || reads >= 10)
            continue;
        MPI_T_cvar_handle handle;
        int count, value[64];
        OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        if (count == 1) {
            OK(MPI_T_cvar_read(handle, value));
            reads++;
            // The same value back; many variables refuse even that.
            if (MPI_T_cvar_write(handle, value) == MPI_SUCCESS)
                writes++;
        }
        OK(MPI_T_cvar_handle_free(&handle));
    }
    CHECK(reads > 0);
    CHECK(MPI_T_cvar_get_index("spoor-test: no such variable", &at) != MPI_SUCCESS);
    // An enumeration may be lacking; a null one is refused, not followed.
    char name[16];
    int items, value, length = sizeof name;
    if (enums == 0) {
        CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &items, name, &length) != MPI_SUCCESS);
        CHECK(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &value, name, &length) != MPI_SUCCESS);
    }
    say(rank, "tool_variables: %d read, %d written, %d enumerations", reads, writes, enums);
    OK(MPI_T_finalize()); // before MPI_Finalize: Open MPI 4.1 crashes the other way round
    MPI_Finalize();
    return 0;
}
