# Two archives, made by OTF2's own library:
#
#     python3 windows.py && rm -rf windows off && mv windows.new windows && mv off.new off
#
# windows: two windows and two files, and what synchronises windows or asks about transfers; all calls are about the second.
# off: two ranks that switch recording off between barriers, and before they end.
import shutil, otf2
from otf2.enums import *


class Archive:
    def __init__(self, name, functions, ranks):
        shutil.rmtree(name, ignore_errors=True)
        self.opened = otf2.writer.open(name, timer_resolution=1000000)
        self.t = self.opened.__enter__()
        self.d = d = self.t.definitions
        self.root = d.system_tree_node("node", class_name="node")
        self.functions = {n: d.region(n, paradigm=Paradigm.MPI) for n in functions}
        self.locations = [d.location("Master thread", group=d.location_group("MPI Rank %d" % r, system_tree_parent=self.root)) for r in range(ranks)]
        d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=self.locations)
        self.all = d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=self.locations)
        self.world = d.comm("MPI_COMM_WORLD", group=self.all)

    def begin(self, rank):
        self.w, self.now = self.t.event_writer_from_location(self.locations[rank]), 10

    def do(self, record, *values):
        getattr(self.w, record)(self.now, *values)
        self.now += 1

    def call(self, name, *records):
        self.do("enter", self.functions[name])
        for r in records:
            self.do(*r)
        self.do("leave", self.functions[name])
        self.now += 10


a = Archive("windows.new", ("MPI_Init", "MPI_Finalize", "MPI_Win_create", "MPI_Win_lock", "MPI_Win_sync", "MPI_Win_unlock", "MPI_Win_start", "MPI_Win_complete",
    "MPI_Win_post", "MPI_Win_wait", "MPI_Rput", "MPI_Test", "MPI_Wait", "MPI_Win_flush", "MPI_Win_free", "MPI_File_open", "MPI_File_set_atomicity", "MPI_File_iread",
    "MPI_File_close", "MPI_Barrier"), 2)
wins = [a.d.rma_win("window %d" % i, a.world) for i in (0, 1)]
mpiio = a.d.io_paradigm("MPI-IO", "MPI-IO", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE)
posix = a.d.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.NONE)
paths = [a.d.io_regular_file("/tmp/f%d" % i, scope=a.root) for i in (0, 1)]
files = [a.d.io_handle("f%d" % i, file=f, io_paradigm=mpiio, io_handle_flags=IoHandleFlag.NONE, comm=a.world) for i, f in enumerate(paths)]
below = a.d.io_handle("of the library", file=paths[1], io_paradigm=posix, io_handle_flags=IoHandleFlag.NONE)
win, file, no_rank = wins[1], files[1], 0xffffffff
for rank in (0, 1):
    a.begin(rank)
    a.call("MPI_Init")
    for w in wins:
        a.call("MPI_Win_create", ("rma_collective_begin",), ("rma_win_create", w),
            ("rma_collective_end", CollectiveOp.CREATE_HANDLE, RmaSyncLevel.NONE, w, no_rank, 0, 0))
    for f in files:
        a.call("MPI_File_open", ("io_create_handle", below, IoAccessMode.READ_WRITE, IoCreationFlag.NONE, IoStatusFlag.NONE),
            ("io_create_handle", f, IoAccessMode.READ_WRITE, IoCreationFlag.CREATE, IoStatusFlag.NONE))
    a.call("MPI_Barrier", ("mpi_collective_begin",), ("mpi_collective_end", CollectiveOp.BARRIER, a.world, no_rank, 0, 0))
    if rank == 0:
        a.call("MPI_Win_lock", ("rma_request_lock", win, 1, 1, LockType.EXCLUSIVE))
        a.call("MPI_Rput", ("rma_put", win, 1, 64, 5))
        a.call("MPI_Test", ("rma_op_test", win, 5))
        a.call("MPI_Win_flush", ("rma_op_complete_remote", win, 5))
        a.call("MPI_Wait", ("rma_op_complete_non_blocking", win, 5))
        a.call("MPI_Win_sync", ("rma_sync", win, 0, RmaSyncType.MEMORY))
        a.call("MPI_Win_unlock", ("rma_release_lock", win, 1, 1))
        a.call("MPI_Win_lock", ("rma_try_lock", win, 1, 1, LockType.SHARED))
        a.call("MPI_Win_unlock", ("rma_release_lock", win, 1, 1))
    for name in ("MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait"):
        a.call(name, ("rma_group_sync", RmaSyncLevel.PROCESS, win, a.all))
    a.call("MPI_File_set_atomicity", ("io_change_status_flags", below, IoStatusFlag.NONE), ("io_change_status_flags", file, IoStatusFlag.NONE))
    a.call("MPI_File_iread", ("io_operation_begin", file, IoOperationMode.READ, IoOperationFlag.NON_BLOCKING, 32, 9), ("io_operation_issued", file, 9))
    a.call("MPI_Test", ("io_operation_test", file, 9))
    a.call("MPI_Wait", ("io_operation_complete", file, 32, 9))
    a.call("MPI_File_close", ("io_destroy_handle", file))
    a.call("MPI_Finalize")
a.opened.__exit__(None, None, None)

a = Archive("off.new", ("MPI_Init", "MPI_Barrier"), 2)
barrier = ("MPI_Barrier", ("mpi_collective_begin",), ("mpi_collective_end", CollectiveOp.BARRIER, a.world, no_rank, 0, 0))
for rank in (0, 1):
    a.begin(rank)
    a.call("MPI_Init")
    a.call(*barrier)
    a.do("measurement_on_off", MeasurementMode.OFF)
    a.now = 1000
    a.do("measurement_on_off", MeasurementMode.ON)
    a.call(*barrier)
    a.do("measurement_on_off", MeasurementMode.OFF)
a.opened.__exit__(None, None, None)
