// What can be asked of and told to an MPI file: sizes, modes, groups, infos, atomicity, strided views, data formats.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int file_extent(MPI_Datatype type, MPI_Aint *extent, void *extra) {
    int size;
    (void)extra;
    MPI_Type_size(type, &size);
    *extent = size;
    return MPI_SUCCESS;
}

static int convert(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *extra) {
    (void)user, (void)type, (void)count, (void)file, (void)at, (void)extra;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int rank, size, n, amode, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char path[SCRATCH_PATH] = "", rep[MPI_MAX_DATAREP_STRING];
    if (rank == 0)
        scratch_file(path);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File f;
    MPI_Offset bytes, disp;
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &f));
    OK(MPI_File_get_amode(f, &amode));
    CHECK(amode == mode);
    MPI_Group group;
    OK(MPI_File_get_group(f, &group));
    MPI_Group_size(group, &n);
    CHECK(n == size);
    MPI_Group_free(&group);
    OK(MPI_File_set_size(f, 1000));
    OK(MPI_File_get_size(f, &bytes));
    CHECK(bytes == 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    // Room for more than the file has is asked for by one rank alone: in Open MPI 4.1 each rank first reads the size, and
    // one that reads it after another has made the file grow leaves a broadcast out, so that later calls get its bytes.
    int room = size == 1 ? 4096 : 500;
    OK(MPI_File_preallocate(f, room));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(f, &bytes));
    CHECK(bytes == (size == 1 ? 4096 : 1000));
    MPI_Info info, used;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    OK(MPI_File_set_info(f, info));
    OK(MPI_File_get_info(f, &used));
    MPI_Info_get_nkeys(used, &n);
    CHECK(n >= 0);
    MPI_Info_free(&info);
    MPI_Info_free(&used);
    OK(MPI_File_set_atomicity(f, 1));
    OK(MPI_File_get_atomicity(f, &flag));
    CHECK(flag);
    OK(MPI_File_set_atomicity(f, 0));

    // Every rank sees each size-th int.
    MPI_Datatype one, every, etype, ftype;
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, size * (MPI_Aint)sizeof(int), &every);
    MPI_Type_commit(&every);
    OK(MPI_File_set_view(f, rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(f, &disp, &etype, &ftype, rep));
    CHECK(disp == rank * (MPI_Offset)sizeof(int) && !strcmp(rep, "native"));
    MPI_Type_free(&ftype);
    MPI_Aint extent;
    OK(MPI_File_get_type_extent(f, MPI_INT, &extent));
    CHECK(extent == sizeof(int));
    int out[5], *all = malloc(5 * size * sizeof *all);
    CHECK(all);
    for (int i = 0; i < 5; i++)
        out[i] = i * size + rank;
    OK(MPI_File_write_all(f, out, 5, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(f, 0, all, 5 * size * (int)sizeof(int), MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < 5 * size; i++)
        CHECK(all[i] == i);
    MPI_Type_free(&every);
    MPI_Type_free(&one);
    free(all);
    OK(MPI_File_close(&f));
    CHECK(f == MPI_FILE_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(path, F_OK) != 0);

    // Conversion functions, which no library supports: most fail, or refuse the second time, and Open MPI 6 says nothing.
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Register_datarep("spoor-test", convert, convert, file_extent, NULL);
    for (int i = 0; i < 2; i++)
        MPI_Register_datarep("spoor-half", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, file_extent, NULL);
    CHECK(MPI_File_delete(path, MPI_INFO_NULL) != MPI_SUCCESS);
    say(rank, "file_manage: ok");
    MPI_Finalize();
    return 0;
}
