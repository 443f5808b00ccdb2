# An archive of two ranks as Score-P 8 writes it for a program with GPUs and PAPI's counters: made by OTF2's own library,
#
#     python3 scorep.py && rm -rf scorep && mv scorep.new scorep
#
# Score-P's own communicator comes first, GPUs have groups and communicators of their own, locations have properties.
import otf2
from otf2.enums import *

with otf2.writer.open("scorep.new", timer_resolution=1000000) as t:
    d = t.definitions
    root = d.system_tree_node("node", class_name="node")
    barrier = d.region("MPI_Barrier", paradigm=Paradigm.MPI)
    send = d.region("MPI_Send", paradigm=Paradigm.MPI)
    recv = d.region("MPI_Recv", paradigm=Paradigm.MPI)
    size = d.region("MPI_Comm_size", paradigm=Paradigm.MPI)
    probe = d.region("MPI_Iprobe", paradigm=Paradigm.MPI)
    work = d.region("work")
    gs = [d.location_group("MPI Rank %d" % r, system_tree_parent=root) for r in (0, 1)]
    ls = [d.location("Master thread", group=g) for g in gs]
    gpus = [d.location("HIP[0:%d]" % i, type=LocationType.ACCELERATOR_STREAM, group=gs[0]) for i in range(3)]
    for i, g in enumerate(gpus):
        g._ref = (1 << 32) + i
        d.location_property(g, "hipNullStream", value="1")
    own = d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MEASUREMENT_SYSTEM, members=ls)
    d.comm("Process x Threads CPU Locations", group=d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MEASUREMENT_SYSTEM, members=ls))
    d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.HIP, members=gpus)
    hip = d.comm("HIP", group=d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.HIP, members=gpus))
    d.rma_win("HIP_WIN", hip)
    d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=ls)
    everyone = d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=ls)
    d.comm("of a library", group=everyone)
    world = d.comm("MPI_COMM_WORLD", group=everyone)
    d.comm("", group=d.group("", group_type=GroupType.COMM_SELF, paradigm=Paradigm.MPI, members=ls[:1]), parent=world)
    ins = d.metric_member("PAPI_TOT_INS", metric_type=MetricType.PAPI, metric_mode=MetricMode.ACCUMULATED_START, value_type=Type.UINT64)
    misses = d.metric_member("PAPI_L2_DCM", metric_type=MetricType.PAPI, metric_mode=MetricMode.ACCUMULATED_START, value_type=Type.INT64)
    rss = d.metric_member("ru_maxrss", metric_type=MetricType.OTHER, metric_mode=MetricMode.ABSOLUTE_POINT, value_type=Type.DOUBLE)
    papi = d.metric_class((ins, rss, misses))
    for r, l in enumerate(ls):
        w = t.event_writer_from_location(l)
        w.program_begin(5, "/home/me/solver", ["-n", "4 x"])
        def at(time, region, leaves, i, m):
            w.metric(time, papi, [i, 0.5, m])
            (w.leave if leaves else w.enter)(time, region)
        at(10, work, False, 1000, 5)
        at(20, size, False, 5000, 7)
        at(22, size, True, 5100, 8)
        at(30, work, True, 9000, 9)
        at(40, barrier, False, 9500, 9)
        w.mpi_collective_begin(41)
        w.mpi_collective_end(50, CollectiveOp.BARRIER, world, 0xffffffff, 0, 0)
        at(55, barrier, True, 20000, 30)
        at(60, recv if r else send, False, 20100 + r, 31)
        if r:
            w.mpi_recv(65, 0, world, 7, 4096)
        else:
            w.mpi_send(61, 1, world, 7, 4096)
        at(70, recv if r else send, True, 30000, 40)
        w.enter(80, probe)
        w.leave(81, probe)
        w.program_end(90, 0)
