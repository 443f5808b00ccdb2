// Arrays with more room than the MPI has to write, filled with rubbish that is another in each call.
// They are of datatypes, topologies and categories of the tool interface. What the MPI did not write stays as it was. Two MPIs differ:
// Open MPI 4 looks at all of the array of datatypes, which are handles here, and MPICH 4 writes as many neighbours
// in a distributed graph as there is room for, with rubbish of its own.
// ranks: 1 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { ROOM = 64 };

static union {
    unsigned char bytes[ROOM * sizeof(void *)];
    int ints[ROOM];
    MPI_Aint addrs[ROOM];
    MPI_Count counts[ROOM];
    MPI_Datatype types[ROOM];
} a, b, c, d;
static unsigned char now;

static void soil(void) {
    now = now * 7 + 0x5b;
    memset(a.bytes, now, sizeof a);
    memset(b.bytes, now + 1, sizeof b);
    memset(c.bytes, now + 2, sizeof c);
    memset(d.bytes, now + 3, sizeof d);
}

static MPI_Datatype rubbish(void) { return now & 32 ? MPI_DOUBLE : MPI_SHORT; }

static void soil_types(void) {
    soil();
    for (int i = 0; i < ROOM; i++)
        d.types[i] = rubbish();
}

static void rest_of_types(int used) {
    for (int i = used; i < ROOM; i++)
        CHECK(d.types[i] == rubbish());
    for (int i = 0; i < used; i++) { // derived components come as new handles
        int ni, na, nd, combiner;
        MPI_Type_get_envelope(d.types[i], &ni, &na, &nd, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&d.types[i]);
    }
}

// Nothing but the first `used` elements was written.
static void rest(const unsigned char *bytes, size_t room, int used, size_t each, unsigned char was) {
    for (size_t i = (size_t)used * each; i < room; i++)
        CHECK(bytes[i] == was);
}
#define REST(x, used, each, at) rest(x.bytes, sizeof x, used, each, (unsigned char)(now + at))

static void contents(MPI_Datatype type) {
    int ni, na, nd, combiner;
    MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner);
    soil_types();
    MPI_Type_get_contents(type, ROOM, ROOM, ROOM, a.ints, b.addrs, d.types);
    REST(a, ni, sizeof(int), 0);
    REST(b, na, sizeof(MPI_Aint), 1);
    rest_of_types(nd);
#if MPI_VERSION >= 4
    MPI_Count large[4];
    MPI_Type_get_envelope_c(type, &large[0], &large[1], &large[2], &large[3], &combiner);
    soil_types();
    MPI_Type_get_contents_c(type, ROOM, ROOM, ROOM, ROOM, a.ints, b.addrs, c.counts, d.types);
    REST(a, large[0], sizeof(int), 0);
    REST(b, large[1], sizeof(MPI_Aint), 1);
    REST(c, large[2], sizeof(MPI_Count), 2);
    rest_of_types((int)large[3]);
#endif
}

static void categories(void) {
    int provided, n, members[3];
    char text[2][256];
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_category_get_num(&n);
    for (int i = 0; i < n && i < 4; i++) {
        int name = sizeof text[0], desc = sizeof text[1];
        MPI_T_category_get_info(i, text[0], &name, text[1], &desc, &members[0], &members[1], &members[2]);
        soil();
        MPI_T_category_get_cvars(i, ROOM, a.ints);
        MPI_T_category_get_pvars(i, ROOM, b.ints);
        MPI_T_category_get_categories(i, ROOM, c.ints);
        REST(a, members[0] < ROOM ? members[0] : ROOM, sizeof(int), 0);
        REST(b, members[1] < ROOM ? members[1] : ROOM, sizeof(int), 1);
        REST(c, members[2] < ROOM ? members[2] : ROOM, sizeof(int), 2);
#if MPI_VERSION >= 4
        MPI_T_category_get_events(i, ROOM, d.ints);
#endif
    }
    MPI_T_finalize();
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int lens[2] = {1, 2}, disps[2] = {0, 5}, next = (rank + 1) % size, last = (rank + size - 1) % size, no = 0, in = 3, out = 4;
    MPI_Aint bytes[2] = {0, 40};
    MPI_Datatype types[5], kinds[2] = {MPI_INT};
    MPI_Type_contiguous(3, MPI_INT, &types[0]);
    kinds[1] = types[0];
    MPI_Type_create_struct(2, lens, bytes, kinds, &types[1]);
    MPI_Type_indexed(2, lens, disps, MPI_INT, &types[2]);
    MPI_Type_create_resized(MPI_INT, -8, 64, &types[3]);
    MPI_Type_dup(MPI_INT, &types[4]);
    MPI_Comm cart, graph, weighted, plain;
    int *index = malloc((size_t)size * 2 * sizeof *index), *edges = index + size;
    CHECK(index);
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &no, 0, &cart);
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, &in, 1, &next, &out, MPI_INFO_NULL, 0, &weighted);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &plain);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 5; i++)
            contents(types[i]);
        soil();
        MPI_Cart_get(cart, ROOM, a.ints, b.ints, c.ints);
        MPI_Cart_coords(cart, rank, ROOM, d.ints);
        CHECK(a.ints[0] == size && b.ints[0] == 0 && c.ints[0] == rank && d.ints[0] == rank);
        REST(a, 1, sizeof(int), 0);
        REST(b, 1, sizeof(int), 1);
        REST(c, 1, sizeof(int), 2);
        REST(d, 1, sizeof(int), 3);
        soil();
        MPI_Graph_get(graph, ROOM, ROOM, a.ints, b.ints);
        MPI_Graph_neighbors(graph, rank, ROOM, c.ints);
        CHECK(a.ints[0] == 1 && b.ints[rank] == next && c.ints[0] == next);
        REST(a, size, sizeof(int), 0);
        REST(b, size, sizeof(int), 1);
        REST(c, 1, sizeof(int), 2);
        soil();
        MPI_Dist_graph_neighbors(weighted, ROOM, a.ints, b.ints, ROOM, c.ints, d.ints);
        CHECK(a.ints[0] == last && b.ints[0] == 3 && c.ints[0] == next && d.ints[0] == 4);
        soil();
        MPI_Dist_graph_neighbors(plain, ROOM, a.ints, b.ints, ROOM, c.ints, d.ints);
        CHECK(a.ints[0] == last && c.ints[0] == next);
        REST(b, 0, sizeof(int), 1);
        REST(d, 0, sizeof(int), 3);
    }
    categories();
    for (int i = 0; i < 5; i++)
        MPI_Type_free(&types[i]);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&weighted);
    MPI_Comm_free(&plain);
    free(index);
    say(rank, "rooms: ok");
    MPI_Finalize();
    return 0;
}
