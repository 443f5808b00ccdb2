// The tool interface's event types and sources (MPI-4): listed, and refused where the library has none.
// ranks: 1 2
// mpi: mpich openmpi>=6.0 !mpich-abi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, level, events, sources, n, at, verbosity, bind, elements = 8;
    MPI_Init(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[256], text[512];
    int name_len = sizeof name, text_len = sizeof text;
    MPI_T_source_order order;
    MPI_Count ticks, last;
    MPI_Info info;
    OK(MPI_T_source_get_num(&sources));
    for (int i = 0; i < sources; i++) {
        name_len = sizeof name, text_len = sizeof text;
        OK(MPI_T_source_get_info(i, name, &name_len, text, &text_len, &order, &ticks, &last, &info));
        MPI_Info_free(&info);
        OK(MPI_T_source_get_timestamp(i, &ticks));
    }
    CHECK(MPI_T_source_get_info(sources, name, &name_len, text, &text_len, &order, &ticks, &last, NULL) != MPI_SUCCESS);
    CHECK(MPI_T_source_get_timestamp(sources, &ticks) != MPI_SUCCESS);

    MPI_Datatype types[8];
    MPI_Aint places[8];
    MPI_T_enum choice;
    MPI_T_event_registration handle = NULL;
    OK(MPI_T_event_get_num(&events));
    for (int i = 0; i <= events; i++) { // one past the end, too
        name_len = sizeof name, text_len = sizeof text, elements = 8;
        int rc = MPI_T_event_get_info(i, name, &name_len, &verbosity, types, places, &elements, &choice, &info, text,
                                      &text_len, &bind);
        CHECK((rc == MPI_SUCCESS) == (i < events));
    }
    CHECK(MPI_T_event_get_index("spoor-test: no such event", &at) != MPI_SUCCESS);
    CHECK(MPI_T_event_handle_alloc(events, NULL, MPI_INFO_NULL, &handle) != MPI_SUCCESS);
    CHECK(MPI_T_event_handle_set_info(handle, MPI_INFO_NULL) != MPI_SUCCESS);
    CHECK(MPI_T_event_callback_set_info(handle, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL) != MPI_SUCCESS);
    OK(MPI_T_category_get_num_events(0, &n));
    CHECK(n >= 0 && n <= 64);
    int list[64];
    OK(MPI_T_category_get_events(0, n, list));
    say(rank, "tool_events: %d events from %d sources", events, sources);
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
