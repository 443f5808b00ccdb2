// The tool interface's categories: their names, variables and subcategories.
// ranks: 1 2
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, level, n, stamp, again, at, list[4096];
    MPI_Init(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_T_category_changed(&stamp));
    OK(MPI_T_category_get_num(&n));
    CHECK(n > 0);
    for (int i = 0; i < n && i < 40; i++) {
        char name[256], text[512];
        int name_len = sizeof name, text_len = sizeof text, cvars, pvars, cats;
        if (MPI_T_category_get_info(i, name, &name_len, text, &text_len, &cvars, &pvars, &cats) != MPI_SUCCESS)
            continue;
        OK(MPI_T_category_get_index(name, &at));
        CHECK(at >= 0 && at < n && cvars >= 0 && cvars < 4096 && pvars >= 0 && cats >= 0);
        OK(MPI_T_category_get_cvars(i, cvars, list));
        OK(MPI_T_category_get_pvars(i, pvars, list));
        OK(MPI_T_category_get_categories(i, cats, list));
    }
    OK(MPI_T_category_changed(&again));
    CHECK(again == stamp);
    CHECK(MPI_T_category_get_index("spoor-test: no such category", &at) != MPI_SUCCESS);
    say(rank, "tool_categories: ok");
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
