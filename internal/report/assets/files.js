import { data } from "./data.js";
import { el, section } from "./dom.js";
import { fileHeat } from "./fileheat.js";
import { bytes, count, plural, time } from "./format.js";
import { table } from "./table.js";

const rate = (b, ns) => (b > 0 && ns > 0 ? `${bytes((b / ns) * 1e9)}/s` : "–");
const leftOut = (n, what) => n > 0 && el("p", { className: "dim", textContent: `${plural(n, "file")} with ${what} are left out.` });

// Columns of what went one way.
const oneWay = (name, of, rest) => [
  { label: name, title: "bytes", value: (f) => of(f).bytes, text: (f) => (of(f).calls ? bytes(of(f).bytes) : "–") },
  { label: "Calls", value: (f) => of(f).calls, text: (f) => (of(f).calls ? count(of(f).calls) : "–") },
  { label: "Each", title: "mean bytes of a call", value: (f) => of(f).bytes / Math.max(1, of(f).calls), text: (f) => (of(f).calls ? bytes(of(f).bytes / of(f).calls) : "–") },
  { label: "In calls", title: "time in these calls, all ranks together", value: (f) => of(f).ns, text: (f) => (of(f).calls ? time(of(f).ns) : "–") },
  ...rest,
];

const filesOfPosix = () => {
  const list = data.posix, read = list.some((f) => f.total.reads.calls), written = list.some((f) => f.total.writes.calls);
  const number = (label, title, of) => ({ label, title, value: of, text: (f) => (of(f) ? count(of(f)) : "–") });
  return [el("h3", { textContent: "POSIX and C" }), table({
    label: "Files of POSIX and C", filter: "Filter files", thing: "file", sort: 2, rows: list, shown: 20,
    columns: [
      { label: "File", text: (f) => f.path || "(no name)", site: true, code: true },
      { label: "Ranks", title: "that used it, or have one with their rank in its name", value: (f) => f.ranks, text: (f) => count(f.ranks) + (f.file_per_rank ? ", one each" : "") },
      { label: "In all calls", title: "time, all ranks together", value: (f) => f.total.data_ns + f.total.meta_ns, text: (f) => time(f.total.data_ns + f.total.meta_ns) },
      number("Opened", "times", (f) => f.total.opens),
      ...(written ? oneWay("Written", (f) => f.total.writes, []) : []), ...(read ? oneWay("Read", (f) => f.total.reads, []) : []),
      number("Sequential", "accesses that begin where the last one ended", (f) => f.total.sequential), number("Strided", "accesses at the same distance from the last one as that from the one before", (f) => f.total.strided),
      number("Random", "other accesses", (f) => f.total.random), number("Off 4 KB", "accesses whose offset is not a multiple of 4096", (f) => f.total.unaligned),
      { label: "Open, stat, …", title: "time in calls that move no data, all ranks together", value: (f) => f.total.meta_ns, text: (f) => time(f.total.meta_ns) },
      { label: "Bandwidth", title: "all bytes divided by the max time of a rank in these calls", value: (f) => f.bandwidth, text: (f) => (f.bandwidth ? `${bytes(f.bandwidth)}/s` : "–") },
    ],
  }), leftOut(data.more_posix, "less time")];
};

const filesOfMPI = () => {
  const ends = (of) => [
    { label: "Bandwidth", title: "bytes divided by the time in which at least one rank was in these calls", value: (f) => of(f).bytes / Math.max(1, of(f).busy_ns), text: (f) => rate(of(f).bytes, of(f).busy_ns) },
    { label: "Per rank", title: "bytes divided by the time in these calls", value: (f) => of(f).bytes / Math.max(1, of(f).ns), text: (f) => rate(of(f).bytes, of(f).ns) },
  ];
  const read = data.files.some((f) => f.read.calls), written = data.files.some((f) => f.write.calls), both = [(f) => f.write, (f) => f.read];
  return [el("h3", { textContent: "MPI-IO" }),
    el("p", { className: "dim", textContent: "Bandwidth of all ranks is bytes divided by the time in which at least one rank was reading or writing. Bandwidth per rank is bytes divided by the time in calls." }), table({
      label: "Files of MPI-IO", filter: "Filter files", thing: "file", sort: 3, rows: data.files, shown: 20,
      columns: [
        { label: "File", text: (f) => f.name || "(no name)", site: true, code: true },
        { label: "Ranks", value: (f) => f.ranks, text: (f) => count(f.ranks) },
        { label: "Opened", title: "times, by all ranks of a communicator together", value: (f) => f.opens, text: (f) => count(f.opens) },
        ...(written ? oneWay("Written", both[0], ends(both[0])) : []), ...(read ? oneWay("Read", both[1], ends(both[1])) : []),
        { label: "Open, close", title: "time in calls that open, close and set up, all ranks together", value: (f) => f.meta_ns, text: (f) => time(f.meta_ns) },
      ],
    }), leftOut(data.more_files, "fewer bytes")];
};

// files are what the run read and wrote. Runs that did not have no such part.
export const files = async () => {
  if (data.files.length + data.posix.length === 0) return;
  const heat = await fileHeat();
  section("files", "Files", "What the run read and wrote, when, and how fast.", heat && heat.view, data.posix.length > 0 && filesOfPosix(), data.files.length > 0 && filesOfMPI());
  heat?.draw();
};
