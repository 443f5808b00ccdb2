import { data } from "./data.js";
import { el, section } from "./dom.js";
import { bytes, count, plural, time } from "./format.js";
import { table } from "./table.js";

const rate = (b, ns) => (b > 0 && ns > 0 ? `${bytes((b / ns) * 1e9)}/s` : "–");

// files are what the run read and wrote through MPI-IO. Runs without have no such part.
export const files = () => {
  if (data.files.length === 0) return;
  const way = (name, of) => [
    { label: name, title: "bytes", value: (f) => of(f).bytes, text: (f) => (of(f).calls ? bytes(of(f).bytes) : "–") },
    { label: "Calls", value: (f) => of(f).calls, text: (f) => (of(f).calls ? count(of(f).calls) : "–") },
    { label: "Each", title: "mean bytes of a call", value: (f) => of(f).bytes / Math.max(1, of(f).calls), text: (f) => (of(f).calls ? bytes(of(f).bytes / of(f).calls) : "–") },
    { label: "In calls", title: "time in these calls, all ranks together", value: (f) => of(f).ns, text: (f) => (of(f).calls ? time(of(f).ns) : "–") },
    { label: "Bandwidth", title: "bytes over the time in which at least one rank was at it", value: (f) => of(f).bytes / Math.max(1, of(f).busy_ns), text: (f) => rate(of(f).bytes, of(f).busy_ns) },
    { label: "Of a rank", title: "bytes over the time in calls", value: (f) => of(f).bytes / Math.max(1, of(f).ns), text: (f) => rate(of(f).bytes, of(f).ns) },
  ];
  const read = data.files.some((f) => f.read.calls), written = data.files.some((f) => f.write.calls);
  section("files", "Files", "Files of MPI-IO. Bandwidth is that of all ranks together: bytes over the time in which at least one rank was reading or writing; that of a rank is bytes over the time in its calls.",
    table({
      label: "Files of MPI-IO", filter: "Filter files", thing: "file", sort: 3, rows: data.files, shown: 20,
      columns: [
        { label: "File", text: (f) => f.name || "(no name)", wrap: true, code: true },
        { label: "Ranks", value: (f) => f.ranks, text: (f) => count(f.ranks) },
        { label: "Opened", title: "times, by all ranks of a communicator together", value: (f) => f.opens, text: (f) => count(f.opens) },
        ...(written ? way("Written", (f) => f.write) : []), ...(read ? way("Read", (f) => f.read) : []),
        { label: "Open, close", title: "time in calls that open, close and set up, all ranks together", value: (f) => f.meta_ns, text: (f) => time(f.meta_ns) },
      ],
    }),
    data.more_files > 0 && el("p", { className: "dim", textContent: `${plural(data.more_files, "file")} with fewer bytes are left out.` }));
};
