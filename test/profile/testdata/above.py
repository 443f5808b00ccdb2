# Python above and below a library in C that calls MPI: test/profile/above_test.go has the lines.
import ctypes

library = ctypes.CDLL("./libabove.so")


def deep(k):
    if k > 0:
        return deep(k - 1)
    library.check()


def monitor(k):
    deep(2)


def run():
    library.solve(20, ctypes.CFUNCTYPE(None, ctypes.c_int)(monitor))


class Item:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return library.order(self.value) < 3


library.begin()
run()
sorted([Item(k) for k in range(4)])
library.end()
