"""A tour of what mpi4py does with MPI, each stop checked: Python loads MPI
late and with local scope, pickles messages, and uses Cython's call paths."""
import array
import os
import sys
import tempfile
import unittest

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
RIGHT, LEFT = (RANK + 1) % SIZE, (RANK - 1) % SIZE


class Tour(unittest.TestCase):
    def test_pickled_messages(self):
        got = COMM.sendrecv({"from": RANK, "list": [1, 2, 3]}, dest=RIGHT, source=LEFT)
        self.assertEqual(got["from"], LEFT)
        self.assertEqual(COMM.bcast("word" if RANK == 0 else None), "word")
        self.assertEqual(COMM.allgather(RANK), list(range(SIZE)))
        self.assertEqual(COMM.allreduce(RANK), SIZE * (SIZE - 1) // 2)
        part = COMM.scatter([i * i for i in range(SIZE)] if RANK == 0 else None)
        self.assertEqual(part, RANK * RANK)
        all_parts = COMM.gather(part)
        if RANK == 0:
            self.assertEqual(all_parts, [i * i for i in range(SIZE)])

    def test_probe_and_match(self):
        req = COMM.isend("x" * (100 + RANK), dest=RIGHT, tag=5)
        status = MPI.Status()
        msg = COMM.mprobe(source=MPI.ANY_SOURCE, tag=5, status=status)
        self.assertEqual(status.Get_source(), LEFT)
        self.assertEqual(len(msg.recv()), 100 + LEFT)
        req.wait()

    def test_buffers(self):
        out, into = array.array("d", [RANK] * 64), array.array("d", [0] * 64)
        reqs = [COMM.Irecv([into, MPI.DOUBLE], source=LEFT), COMM.Isend([out, MPI.DOUBLE], dest=RIGHT)]
        MPI.Request.Waitall(reqs)
        self.assertEqual(into[63], LEFT)
        persistent = COMM.Send_init([out, MPI.DOUBLE], dest=RIGHT, tag=9)
        for _ in range(3):
            persistent.Start()
            COMM.Recv([into, MPI.DOUBLE], source=LEFT, tag=9)
            persistent.Wait()
        persistent.Free()
        total = array.array("d", [0])
        COMM.Allreduce([array.array("d", [1]), MPI.DOUBLE], [total, MPI.DOUBLE], op=MPI.SUM)
        self.assertEqual(total[0], SIZE)

    def test_python_operator(self):
        op = MPI.Op.Create(lambda a, b, t: None, commute=True)
        op.Free()
        longest = COMM.allreduce("a" * RANK, op=lambda a, b: a if len(a) > len(b) else b)
        self.assertEqual(len(longest), SIZE - 1)

    def test_communicators(self):
        half = COMM.Split(RANK % 2, RANK)
        self.assertEqual(half.allreduce(1), (SIZE + 1 - RANK % 2) // 2)
        copy = COMM.Dup()
        copy.Set_name("copy")
        self.assertEqual(copy.Get_name(), "copy")
        keyval = MPI.Comm.Create_keyval()
        copy.Set_attr(keyval, {"k": 1})
        self.assertEqual(copy.Get_attr(keyval), {"k": 1})
        MPI.Comm.Free_keyval(keyval)
        group = COMM.Get_group().Incl([0])
        only = COMM.Create(group)
        self.assertEqual(only != MPI.COMM_NULL, RANK == 0)
        cart = COMM.Create_cart(MPI.Compute_dims(SIZE, 2), periods=[True, False])
        self.assertEqual(cart.Get_cart_rank(cart.Get_coords(cart.Get_rank())), cart.Get_rank())
        for c in (half, copy, only, cart):
            if c != MPI.COMM_NULL:
                c.Free()

    def test_datatypes(self):
        vector = MPI.DOUBLE.Create_vector(4, 2, 8).Commit()
        data = array.array("d", range(32))
        if RANK == 0 and SIZE > 1:
            COMM.Send([data, 1, vector], dest=1, tag=3)
        elif RANK == 1:
            into = array.array("d", [-1] * 8)
            COMM.Recv([into, MPI.DOUBLE], source=0, tag=3)
            self.assertEqual(list(into), [0, 1, 8, 9, 16, 17, 24, 25])
        vector.Free()

    def test_window(self):
        win = MPI.Win.Allocate(8 * SIZE, 8, comm=COMM)
        win.Fence()
        win.Put([array.array("d", [RANK]), MPI.DOUBLE], RIGHT, target=LEFT)
        win.Fence()
        win.Lock(RIGHT, MPI.LOCK_SHARED)
        got = array.array("d", [-1])
        win.Get([got, MPI.DOUBLE], RIGHT, target=RIGHT)
        win.Unlock(RIGHT)
        win.Free()

    def test_file(self):
        name = COMM.bcast(tempfile.mktemp() if RANK == 0 else None)
        fh = MPI.File.Open(COMM, name, MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE)
        fh.Write_at_all(RANK * 4, [array.array("i", [RANK]), MPI.INT])
        got = array.array("i", [-1])
        fh.Sync()
        COMM.Barrier()
        fh.Read_at_all(RIGHT * 4, [got, MPI.INT])
        self.assertEqual(got[0], RIGHT)
        fh.Close()

    def test_errors_are_exceptions(self):
        with self.assertRaises(MPI.Exception) as caught:
            COMM.Send([array.array("i", [0]), MPI.INT], dest=SIZE + 7)
        self.assertEqual(caught.exception.Get_error_class(), MPI.ERR_RANK)

    def test_threads(self):
        import threading
        if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
            self.skipTest("no MPI_THREAD_MULTIPLE")
        got = {}

        def talk(tag):
            got[tag] = COMM.sendrecv((RANK, tag), dest=RIGHT, sendtag=tag, source=LEFT, recvtag=tag)

        threads = [threading.Thread(target=talk, args=(100 + i,)) for i in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(got, {100 + i: (LEFT, 100 + i) for i in range(3)})


if __name__ == "__main__":
    with open(os.devnull, "w") as null:
        ok = unittest.main(exit=False, testRunner=unittest.TextTestRunner(stream=null)).result
    verdict = COMM.gather((ok.testsRun, [str(t) for t, _ in ok.errors + ok.failures], [str(t) for t, _ in ok.skipped]))
    if RANK == 0:
        for r, v in enumerate(verdict):
            print(r, *v)
    sys.exit(not ok.wasSuccessful())
