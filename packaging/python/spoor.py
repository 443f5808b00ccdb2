"""Read spoor's traces of MPI programs from Python.

>>> import spoor
>>> t = spoor.open("app.spoor")
>>> t.info()["ranks"]
4
>>> t.profile()[["function", "place", "ns", "imbalance"]].head()
>>> t.calls(rank=3, call="MPI_Allreduce").duration_ns.describe()

Tables are pandas DataFrames, or lists of dicts if pandas is not installed. Times are in nanoseconds, sizes
in bytes, both as in `spoor VERB --json`. The module runs the tool: `spoor` of $PATH, or what $SPOOR names.
"""

from __future__ import annotations

import builtins
import csv
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import pandas

__version__ = "1.1.0"
__all__ = ["SpoorError", "Trace", "open"]

Table = Union["pandas.DataFrame", "list[dict[str, Any]]"]
Ranks = Union[int, str, Sequence[int], None]


def _place(site: Mapping[str, Any]) -> str:
    """Where a call site is: file:line, or module+offset where no debug information tells."""
    for frame in site["frames"]:
        if frame.get("line"):
            return f"{os.path.basename(frame['file'])}:{frame['line']}"
    return f"{os.path.basename(site['module'])}+{site['offset']:#x}" if site.get("module") else ""


class SpoorError(Exception):
    """What the tool printed instead of an answer."""


def open(path: str | os.PathLike[str], *, part: Mapping[str, str] | None = None, tool: str | None = None) -> Trace:
    """Open a trace.

    part: a part of the run, as the flags of `spoor help part`, for instance {"from": "10s", "until": "12s"} or
    {"iteration": "100:110"}.
    tool: the spoor to run.
    """
    trace = Trace(path, part=part, tool=tool)
    trace.info()  # raises if it is not a trace
    return trace


class Trace:
    """A trace file. Each method runs one verb of the tool; nothing is kept in memory."""

    def __init__(self, path: str | os.PathLike[str], *, part: Mapping[str, str] | None = None, tool: str | None = None) -> None:
        self.path = os.fspath(path)
        self._part = [f"--{name}={value}" for name, value in (part or {}).items()]
        self._tool = tool or os.environ.get("SPOOR", "spoor")

    def __repr__(self) -> str:
        return f"spoor.open({self.path!r})"

    def info(self) -> dict[str, Any]:
        """What ran, how long, and where time was lost: `spoor info --json`."""
        return self._json("info")

    def profile(self) -> Table:
        """A row for each call site over all ranks: `spoor profile`."""
        return _table([{**s, "place": _place(s)} for s in self._json("profile")["sites"]])

    def calltree(self, rank: Ranks = None) -> list[dict[str, Any]]:
        """Trees of functions, loops and calls of ranks (default: of the largest class): `spoor calltree --json`."""
        return self._json("calltree", *_ranks(rank))

    def efficiency(self) -> dict[str, Any]:
        """POP efficiencies, and the calls where time is lost: `spoor efficiency --json`."""
        return self._json("efficiency")

    def ranks(self) -> Table:
        """A row for each rank: its time in MPI and outside: `spoor efficiency --by-rank`."""
        rows = self._json("efficiency", "--by-rank")
        return _table([
            {"rank": r["rank"], "host": r.get("host", ""), "compute_ns": r["compute"]["ns"], "mpi_ns": r["mpi"]["ns"]} for r in rows
        ])

    def waits(self) -> Table:
        """A row for each call site and reason to wait: `spoor waits`. "late" is the rank that was waited for most."""
        rows = []
        for s in self._json("waits", "--top=0")["sites"]:
            late, causes = s.get("late") or [], s.get("causes") or []
            rows.append({
                "function": s["function"], "place": s["place"], "kind": s["kind"], "calls": s["count"], "waited_ns": s["waited_ns"],
                "late": late[0]["rank"] if late else None,
                "late_for": causes[0]["function"] if causes else None, "late_at": causes[0]["place"] if causes else None,
            })
        return _table(rows)

    def matrix(self, *, collectives: bool = False, rma: bool = False) -> Table:
        """A row for each pair of ranks that communicate: messages and bytes from one to the other: `spoor matrix`."""
        flags = ["--of=p2p" + ",collectives" * collectives + ",rma" * rma]
        with tempfile.TemporaryDirectory(prefix="spoor-") as folder:
            file = os.path.join(folder, "matrix.csv")
            self._run("matrix", *self._part, *flags, "-o", file, self.path)
            return _table(_csv(file))

    def io(self) -> Table:
        """A row for each file that the program used: `spoor io`."""
        rows = []
        for f in self._json("io", "--no-grouping")["files"]:
            total = f["total"]
            rows.append({
                "path": f["path"], "ranks": len(f["ranks"]), "opens": total["opens"],
                "read_bytes": total["reads"]["bytes"], "read_ns": total["reads"]["ns"],
                "written_bytes": total["writes"]["bytes"], "written_ns": total["writes"]["ns"], "meta_ns": total["meta_ns"],
            })
        return _table(rows)

    def calls(self, rank: Ranks = None, call: str | Iterable[str] | None = None) -> Table:
        """A row for each call, with call site and times: `spoor dump`. A column "params" has the parameters.

        rank: which ranks: 3, [0, 1], "0-3,8"; default all.
        call: functions, "*" matches: "MPI_Allreduce", ["MPI_Isend", "MPI_*recv"].
        """
        return _table(list(self.iter_calls(rank, call)))

    def iter_calls(self, rank: Ranks = None, call: str | Iterable[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows of calls(), one at a time, for traces that do not fit into memory."""
        flags = ["--json", "--sites", *_ranks(rank), *self._part]
        if call is not None:
            flags.append("--call=" + (call if isinstance(call, str) else ",".join(call)))
        if not self.info().get("no_times"):
            flags.append("--times")
        with tempfile.TemporaryFile() as messages:
            with subprocess.Popen([self._tool, "dump", *flags, self.path], stdout=subprocess.PIPE, stderr=messages, text=True) as tool:
                assert tool.stdout is not None
                for line in tool.stdout:
                    yield json.loads(line)
            if tool.returncode:
                messages.seek(0)
                raise SpoorError(messages.read().decode(errors="replace").strip())

    def messages(self, rank: Ranks = None) -> Table:
        """A row for each message that ranks send: sender, receiver, tag, bytes, communicator: `spoor export --to csv`."""
        with tempfile.TemporaryDirectory(prefix="spoor-") as folder:
            out = os.path.join(folder, "tables")
            part = [flag for flag in self._part if flag.split("=")[0] in ("--from", "--until", "--phase")]
            if part != self._part:
                raise SpoorError("messages: a part is given by from, until and phase")
            self._run("export", "--to", "csv", *_ranks(rank), *part, "-o", out, self.path)
            start = {(c["rank"], c["thread"], c["call"]): c["start_ns"] for c in _csv(os.path.join(out, "calls.csv"))}
            rows = []
            for o in _csv(os.path.join(out, "operations.csv")):
                if o["kind"] not in ("send", "send begin"):
                    continue
                rows.append({
                    "sender": o["rank"], "receiver": o["peer_rank"], "tag": o["tag"], "bytes": o["bytes_out"], "communicator": o["communicator"],
                    "call": o["call"], "thread": o["thread"], "start_ns": start.get((o["rank"], o["thread"], o["call"])),
                })
            return _table(rows)

    def _json(self, verb: str, *flags: str) -> Any:
        return json.loads(self._run(verb, "--json", *flags, *self._part, self.path))

    def _run(self, *args: str) -> str:
        try:
            done = subprocess.run([self._tool, *args], capture_output=True, text=True)
        except FileNotFoundError:
            raise SpoorError(f"{self._tool}: not found; install spoor, or set SPOOR to where it is") from None
        if done.returncode:
            raise SpoorError(done.stderr.strip())
        return done.stdout


def _ranks(rank: Ranks) -> list[str]:
    if rank is None:
        return []
    if isinstance(rank, (str, int)):
        return [f"--rank={rank}"]
    return ["--rank=" + ",".join(str(r) for r in rank)]


def _csv(path: str) -> list[dict[str, Any]]:
    with builtins.open(path, newline="", encoding="utf-8") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> Any:
    if text == "":
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _table(rows: list[dict[str, Any]]) -> Table:
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
