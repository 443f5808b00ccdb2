import { data } from "./data.js";
import { el, section } from "./dom.js";
import { bytes, count, percent, plural, share, time } from "./format.js";
import { table } from "./table.js";

const card = (name, value, note, share) =>
  el("div", { className: "card" }, el("dt", { textContent: name }),
    el("dd", {}, value, note && el("small", { textContent: note }),
      share !== undefined && el("div", { className: "meter", "aria-hidden": "true" }, el("i", { style: `width:${(100 * share).toFixed(1)}%` }))));

export const facts = () => {
  const s = data.summary;
  const list = [data.file, plural(s.ranks, "rank"), plural(data.hosts, "host")];
  if (s.start_ns) list.push(new Date(s.start_ns / 1e6).toISOString().replace("T", " ").slice(0, 19) + " UTC");
  if (s.mpi_library) list.push(s.mpi_library.split(/[\n,]/)[0].replace(/\s+/g, " ").slice(0, 60));
  document.getElementById("facts").append(...list.map((t) => el("span", { textContent: t })));
};

export const overview = () => {
  const s = data.summary, e = data.imbalance?.efficiency;
  const section1 = section("overview", "Overview", null,
    s.problems.map((p) => el("p", { className: "notice", textContent: p })),
    Object.entries(s.ends).filter(([k]) => k !== "finished").map(([k, n]) =>
      el("p", { className: "notice", textContent: k === "missing" ? `${plural(n, "rank")} left no track.` : `${plural(n, "rank")} did not reach MPI_Finalize.` })),
    el("dl", { className: "cards" },
      s.no_times ? card("Times", "none", "recorded with --timing none") : [card("Run time", time(s.end_ns), s.spoor_ns > 0 ? `${time(s.spoor_ns / Math.max(1, s.ranks - (s.ends.missing || 0)))} per rank in spoor` : "from rank 0's first call to the end"),
      card("In MPI", percent(s.thread_ns ? s.mpi_ns / s.thread_ns : 0), `${time(s.least_mpi_ns)} to ${time(s.most_mpi_ns)} per rank${s.threads > 1 ? ", all threads" : ""}`, s.thread_ns ? s.mpi_ns / s.thread_ns : 0)],
      card("MPI calls", count(s.calls), `at ${plural(s.call_sites, "call site")}`),
      card("Trace", bytes(s.bytes), s.calls ? `${(s.bytes / s.calls).toPrecision(2)} bytes per call` : "no calls")),
    e?.runtime_ns > 0 && [
      el("h3", { textContent: "Efficiency of the parallel run" }),
      el("dl", { className: "cards" },
        card("Parallel efficiency", share(e.parallel), "mean useful time / run time", e.parallel.value),
        card("Load balance", share(e.load_balance), "mean / max useful time", e.load_balance.value),
        card("Communication", share(e.communication), "max useful time / run time", e.communication.value))],
    el("h3", { textContent: "Functions" }),
    functions());
  return section1;
};

// functions are the totals by name.
const functions = () => {
  const s = data.summary;
  const most = Math.max(1, ...s.functions.map((f) => f.ns));
  return table({
    label: "MPI functions", filter: "Filter functions", thing: "function", sort: s.no_times ? 1 : 2, rows: s.functions,
    columns: [
      { label: "Function", text: (f) => f.name, code: true },
      { label: "Calls", value: (f) => f.calls, text: (f) => count(f.calls) },
      ...(s.no_times ? [] : [{ label: "Time", title: "in all ranks together", value: (f) => f.ns, text: (f) => time(f.ns) },
      { label: "Share of MPI", text: (f) => percent(s.mpi_ns ? f.ns / s.mpi_ns : 0),
        value: (f) => f.ns, node: (f) => [percent(s.mpi_ns ? f.ns / s.mpi_ns : 0), " ", el("span", { className: "barbox" }, el("span", { className: "bar", style: `width:${(90 * f.ns / most).toFixed(1)}px` }))] },
      { label: "Mean", value: (f) => f.ns / Math.max(1, f.calls), text: (f) => time(f.ns / Math.max(1, f.calls)) },
      { label: "Min", value: (f) => f.min_ns, text: (f) => time(f.min_ns) },
      { label: "Max", value: (f) => f.max_ns, text: (f) => time(f.max_ns) }]),
    ],
  });
};
