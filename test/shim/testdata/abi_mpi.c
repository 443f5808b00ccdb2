// An MPI with the standard ABI of MPI 5.0 for jobs of one process: just enough of one to run abi_app.c and to be traced.
// Messages to oneself go through one buffer.
#include <stdint.h>
#include <string.h>

struct status {
    int source, tag, error, internal[5];
};

static struct {
    char data[64];
    int64_t bytes;
    int tag;
} message;

static const int64_t comm_null = 0x100, group = 0x2001;

int PMPI_Abi_get_version(int *major, int *minor) {
    *major = 1;
    *minor = 0;
    return 0;
}

int PMPI_Get_library_version(char *version, int *len) {
    strcpy(version, "Toy MPI 1.0");
    *len = (int)strlen(version);
    return 0;
}

int PMPI_Init(int *argc, char ***argv) { return (void)argc, (void)argv, 0; }
int PMPI_Finalize(void) { return 0; }
int PMPI_Comm_rank(intptr_t comm, int *rank) { return (void)comm, *rank = 0; }
int PMPI_Comm_size(intptr_t comm, int *size) { return (void)comm, *size = 1, 0; }
int PMPI_Comm_dup(intptr_t comm, intptr_t *copy) { return *copy = comm + 0x1000, 0; }
int PMPI_Comm_free(intptr_t *comm) { return *comm = comm_null, 0; }
int PMPI_Comm_set_errhandler(intptr_t comm, intptr_t handler) { return (void)comm, (void)handler, 0; }
int PMPI_Comm_group(intptr_t comm, intptr_t *out) { return (void)comm, *out = group, 0; }
int PMPI_Comm_get_parent(intptr_t *parent) { return *parent = comm_null, 0; }
int PMPI_Comm_test_inter(intptr_t comm, int *flag) { return (void)comm, *flag = 0; }
int PMPI_Group_free(intptr_t *out) { return *out = 0x108, 0; }

int PMPI_Group_translate_ranks(intptr_t a, int n, const int *ranks, intptr_t b, int *out) {
    (void)a, (void)b;
    memcpy(out, ranks, (size_t)n * sizeof *out);
    return 0;
}

int PMPI_Gather(const void *in, int n, intptr_t type, void *out, int m, intptr_t out_type, int root, intptr_t comm) {
    (void)type, (void)m, (void)out_type, (void)root, (void)comm;
    memcpy(out, in, (size_t)n);
    return 0;
}

int PMPI_Bcast(void *buf, int n, intptr_t type, int root, intptr_t comm) {
    return (void)buf, (void)n, (void)type, (void)root, (void)comm, 0;
}

int PMPI_Send(const void *buf, int n, intptr_t type, int dest, int tag, intptr_t comm) {
    (void)dest, (void)comm;
    message.bytes = n * (type == 0x247 ? 1 : 4);
    message.tag = tag;
    memcpy(message.data, buf, (size_t)message.bytes);
    return 0;
}

int PMPI_Recv(void *buf, int n, intptr_t type, int source, int tag, intptr_t comm, struct status *status) {
    (void)n, (void)type, (void)source, (void)tag, (void)comm;
    memcpy(buf, message.data, (size_t)message.bytes);
    if (status) {
        status->source = 0;
        status->tag = message.tag;
        memcpy(status->internal, &message.bytes, sizeof message.bytes);
    }
    return 0;
}

int PMPI_Get_elements_c(const struct status *status, intptr_t type, int64_t *n) {
    (void)type;
    memcpy(n, status->internal, sizeof *n);
    return 0;
}

int PMPI_Test_cancelled(const struct status *status, int *flag) { return (void)status, *flag = 0; }

// The names that programs link to.
int MPI_Init(int *, char ***) __attribute__((alias("PMPI_Init")));
int MPI_Finalize(void) __attribute__((alias("PMPI_Finalize")));
int MPI_Comm_dup(intptr_t, intptr_t *) __attribute__((alias("PMPI_Comm_dup")));
int MPI_Comm_free(intptr_t *) __attribute__((alias("PMPI_Comm_free")));
int MPI_Send(const void *, int, intptr_t, int, int, intptr_t) __attribute__((alias("PMPI_Send")));
int MPI_Recv(void *, int, intptr_t, int, int, intptr_t, struct status *) __attribute__((alias("PMPI_Recv")));
