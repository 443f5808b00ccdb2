"""Checks the module spoor on traces whose numbers are known. Prints "ok" and the kind of table."""

import sys

import spoor

heat, sort, still, files = (spoor.open(path) for path in sys.argv[1:5])
try:
    import pandas

    rows = lambda table: table.to_dict("records")
    assert isinstance(heat.calls(rank=0), pandas.DataFrame)
except ImportError:
    rows = lambda table: table

# 4 ranks send to 4 sides in 40 iterations, 2 of which have a neighbour: 96 bytes a message.
assert heat.info()["ranks"] == 4 and heat.info()["calls"] == 1516
messages = rows(heat.messages())
assert len(messages) == 320 and {m["bytes"] for m in messages} == {96}, messages[:2]
assert sum(m["sender"] == 0 and m["receiver"] == 1 for m in messages) == 40
pairs = rows(heat.matrix())
assert len(pairs) == 8 and all(p["messages"] == 40 and p["bytes"] == 3840 for p in pairs), pairs
assert len(rows(heat.messages(rank=[0, 1]))) == 160

# Calls in order, with values; filters.
calls = rows(heat.calls(rank=0))
assert calls[0]["call"] == "MPI_Init" and calls[-1]["call"] == "MPI_Finalize", (calls[0], calls[-1])
assert calls[4]["params"]["ndims"] == 2 and calls[4]["duration_ns"] > 0
assert {c["call"] for c in rows(heat.calls(call=["MPI_Isend", "MPI_Irecv"]))} == {"MPI_Isend", "MPI_Irecv"}
assert len(rows(heat.calls(rank="1-2", call="MPI_Isend"))) == 320
assert all("duration_ns" not in c for c in rows(still.calls(rank=0)))

# Sums are those of the calls.
by_function = {}
for site in rows(heat.profile()):
    by_function[site["function"]] = by_function.get(site["function"], 0) + site["calls"]
assert sum(by_function.values()) == 1516 and by_function["MPI_Isend"] == 640
assert [r["rank"] for r in rows(heat.ranks())] == [0, 1, 2, 3]
assert heat.calltree(rank=1)[0]["ranks"] == [0, 1, 2, 3]
assert 0 < heat.efficiency()["efficiency"]["parallel"]["value"] <= 1

# Who waited: the sums of the trace.
waits = rows(sort.waits())
assert {w["kind"] for w in waits} == {"late sender", "wait at all-to-all"}  # a third has less than 0.1 % of the run
assert waits[0]["late_for"] == "MPI_Send" and waits[0]["calls"] == 12

assert sum(f["written_bytes"] for f in rows(files.io())) > 0
part = spoor.open(sys.argv[1], part={"without-init": "true"})
assert len(rows(part.calls(rank=0))) == len(calls) - 2

for wrong in (lambda: spoor.open("/nonexistent"), lambda: heat.calls(rank=7), lambda: still.waits(), lambda: spoor.open(sys.argv[1], tool="/nonexistent")):
    try:
        wrong()
    except spoor.SpoorError as error:
        assert str(error), "no reason"
    else:
        raise AssertionError("no error")
print("ok", type(heat.profile()).__name__)
