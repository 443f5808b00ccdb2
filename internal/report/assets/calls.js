import { data } from "./data.js";
import { el, none, section } from "./dom.js";
import { bytes, count, percent, plural, ratio, time } from "./format.js";
import { type, ways } from "./links.js";
import { table } from "./table.js";

// calls is the flat profile: a line for each function and call site.
export const calls = () => {
  const f = data.flat, timeless = data.summary.no_times;
  const lead = "All calls of all ranks, by function and call site." + (timeless ? "" : " Imbalance is the max time of a rank divided by the mean of the ranks that make the call.");
  if (f.rows.length === 0) {
    section("calls", "Calls", lead, none("No calls were recorded."));
    return;
  }
  ways.calls = (name, site) => type(document.querySelector("#calls input[type=search]"), `${name} ${site}`.trim());
  const share = (ns) => (f.time_ns ? ns / f.time_ns : 0);
  section("calls", "Calls", lead,
    table({
      label: "Calls by place", filter: "Filter by function or call site", thing: "line", sort: timeless ? 2 : 4, rows: f.rows,
      columns: [
        { label: "Function", text: (r) => r.function, code: true },
        { label: "Call site", text: (r) => r.site, site: true, hover: (r) => `${r.module}+0x${r.offset.toString(16)}` },
        { label: "Calls", value: (r) => r.calls, text: (r) => count(r.calls) },
        { label: "Ranks", value: (r) => r.ranks, text: (r) => count(r.ranks) },
        ...(timeless ? [] : [{ label: "Time", title: "in all ranks together", value: (r) => r.ns, text: (r) => time(r.ns) },
        { label: "Of run", title: "share of the time of all ranks", value: (r) => r.ns, text: (r) => percent(share(r.ns)) },
        { label: "Mean", title: "per call", value: (r) => r.mean_ns, text: (r) => time(r.mean_ns), hover: (r) => `deviation ${time(r.deviation_ns)}; max ${time(r.max_ns)}, rank ${r.max_rank}` },
        { label: "Imbalance", value: (r) => r.imbalance, text: (r) => (r.ranks > 1 ? (r.imbalance_estimated ? "≥ " : "") + ratio(r.imbalance) : "–"), hover: (r) => `max total of a rank: ${time(r.most_ns)}, rank ${r.most_rank}` },
        { label: "Before", title: "time outside MPI before these calls, in all ranks together", value: (r) => r.compute_ns, text: (r) => time(r.compute_ns) }]),
        { label: "Out", title: "bytes that go out", value: (r) => r.bytes_out, text: (r) => (r.bytes_out ? bytes(r.bytes_out) : "–") },
        { label: "In", title: "bytes that come in", value: (r) => r.bytes_in, text: (r) => (r.bytes_in ? bytes(r.bytes_in) : "–") },
      ],
    }),
    f.more > 0 && el("p", { className: "dim", textContent: `${plural(f.more, "line")} with ${timeless ? "fewer calls" : "less time"} are left out here; spoor profile shows them.` }),
    el("h3", { textContent: "Ranks" }),
    table({
      label: "Totals of ranks", shown: 12, filter: "Filter ranks", thing: "rank", sort: timeless ? 2 : 3, rows: f.per_rank,
      columns: [
        { label: "Rank", text: (r) => r.rank },
        { label: "Host", text: (r) => r.host },
        ...(timeless ? [] : [{ label: "Run time", value: (r) => r.span_ns, text: (r) => time(r.span_ns) },
        { label: "In MPI", value: (r) => r.mpi_ns, text: (r) => time(r.mpi_ns) },
        { label: "Of run", value: (r) => (r.time_ns ? r.mpi_ns / r.time_ns : 0), text: (r) => percent(r.time_ns ? r.mpi_ns / r.time_ns : 0) }]),
        { label: "Calls", value: (r) => r.calls, text: (r) => count(r.calls) },
        { label: "Out", value: (r) => r.bytes_out, text: (r) => bytes(r.bytes_out) },
        { label: "In", value: (r) => r.bytes_in, text: (r) => bytes(r.bytes_in) },
      ],
    }),
    f.ranks > f.per_rank.length && el("p", { className: "dim", textContent: `The first ${count(f.per_rank.length)} of ${plural(f.ranks, "rank")}.` }));
};
