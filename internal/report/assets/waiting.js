import { data } from "./data.js";
import { el, none, section } from "./dom.js";
import { count, percent, plural, time } from "./format.js";
import { type, way, ways } from "./links.js";
import { siteOf, table } from "./table.js";

const some = (list, all) => (list || []).slice(0, 4).map((r) => `rank ${r.rank}: ${time(r.waited_ns)}`.replaceAll(" ", "\u00a0")).join(", ") + (all > 4 ? ", …" : "");

const causes = (s) => (s.causes || []).slice(0, 2);
const computing = (c) => `${percent(c.waited_ns ? c.compute_ns / c.waited_ns : 0)} computing`.replaceAll(" ", "\u00a0");

// waiting shows why ranks waited, for whom, and what the run's end depends on.
export const waiting = () => {
  const w = data.waiting, tiles = data.timeline?.waiting;
  const lead = "Why ranks waited in MPI, and for whom" + (!w ? "." : tiles ? ": from the times of single calls, matched by message and collective." : ", from what the ranks exchanged at the end of the run. Times are within 1 %.");
  if (!w) {
    section("waiting", "Waiting", lead, none(data.summary.no_times ? "The trace holds no times of calls."
      : data.no_waits ? `Not known: ${data.no_waits}.`
      : "The trace has no record of who waited for whom: record without --waits never, or with --timing lossless. Imbalance lists the calls in which ranks spend unequal times."));
    return;
  }
  let sites = null;
  const part = (ns) => percent(w.run_ns ? ns / w.run_ns : 0);
  section("waiting", "Waiting", lead,
    w.backwards > 0 && el("p", { className: "notice", textContent: `${plural(w.backwards, "message")} of ${count(w.messages)} seem to have arrived before they were sent, by up to ${time(w.off_ns)}: clocks of different ranks are not known better than that.` }),
    w.kinds.length === 0 ? none("No rank waited.") : [
      el("p", {}, `${part(w.waited_ns)} of the time of all ${w.threads > 1 ? "threads" : "ranks"} was spent waiting for others, ${part(w.mpi_ns)} in MPI.`),
      el("ul", { className: "parts" }, w.kinds.map((k) => el("li", {}, el("span", { className: "bar", style: `width:${Math.max(1, (220 * k.waited_ns) / w.waited_ns).toFixed(1)}px` }), ` ${k.kind}: ${time(k.waited_ns)}, ${part(k.waited_ns)}, ${plural(k.count, "call")}`))),
      tiles && el("div", { className: "tools" }, way("timeline", "Show on the timeline", { colours: "wait" })),
      sites = table({
        label: "Call sites where ranks waited", filter: "Filter by function, call site or reason", thing: "line", sort: 3, rows: w.sites, shown: 12,
        columns: [
          { label: "Function", text: (s) => s.function, code: true },
          { label: "Call site", text: (s) => s.place, site: true },
          { label: "Why", text: (s) => s.kind },
          { label: "Waited", value: (s) => s.waited_ns, text: (s) => time(s.waited_ns) },
          { label: "Of run", value: (s) => s.waited_ns, text: (s) => part(s.waited_ns) },
          { label: "Calls", value: (s) => s.count, text: (s) => count(s.count) },
          { label: "Who waited", text: (s) => some(s.ranks, s.waiting), wrap: true },
          { label: "For whom", text: (s) => some(s.late, s.awaited), wrap: true },
          { label: "Late for", title: "the call that the late ranks reached late, and how much of that time they computed", text: (s) => causes(s).map((c) => `${c.function} at ${c.place}, ${computing(c)}`).join(" "),
            node: (s) => causes(s).map((c) => el("div", {}, el("span", { className: "code" }, c.function), " at ", siteOf(c.place), `, ${computing(c)}`)) },
        ],
      }),
      w.more > 0 && el("p", { className: "dim", textContent: `${plural(w.more, "line")} with less time are left out here; spoor waits --top 0 shows them.` })],
    path(w.path));
  ways.waiting = (name, site) => (name ? type(sites?.querySelector("input[type=search]"), `${name} ${site}`) : document.getElementById("path")?.scrollIntoView());
};

// path shows what the run's end depends on.
const path = (p) => p && [
  el("h3", { id: "path", textContent: "Critical path" }),
  el("p", { className: "dim" }, `The chain of work that decides when the run ends: ${time(p.run_ns)}, ${percent(p.run_ns ? p.outside_ns / p.run_ns : 0)} of it outside of MPI, with ${plural(p.hops, "step")} from rank to rank. If a call site's share of the path exceeds its share of all ranks' time, some ranks have more work there, and the others wait for them.`),
  table({
    label: "Call sites on the critical path", thing: "line", sort: 4, rows: p.sites.slice(0, 200), shown: 12, filter: "Filter by function or call site",
    columns: [
      { label: "Function", text: (s) => s.function, code: true },
      { label: "Call site", text: (s) => s.place, site: true },
      { label: "Computed before", value: (s) => s.compute_ns, text: (s) => time(s.compute_ns) },
      { label: "In the call", value: (s) => s.mpi_ns, text: (s) => time(s.mpi_ns) },
      { label: "Of path", value: (s) => s.compute_ns + s.mpi_ns, text: (s) => percent(p.run_ns ? (s.compute_ns + s.mpi_ns) / p.run_ns : 0) },
      { label: "Of all ranks", title: "share of the time of all ranks", value: (s) => s.mean_ns, text: (s) => percent(p.run_ns ? s.mean_ns / p.run_ns : 0) },
      { label: "Imbalance", title: "time on the path beyond what ranks spend there on average", value: (s) => s.imbalance_ns, text: (s) => time(s.imbalance_ns) },
    ],
  }),
  el("h3", { textContent: "Ranks on the critical path" }),
  table({
    label: "Ranks on the critical path", thing: "rank", sort: 1, rows: p.ranks.slice(0, 1024), shown: 8,
    columns: [
      { label: "Rank", text: (r) => r.rank },
      { label: "On the path", value: (r) => r.compute_ns + r.mpi_ns, text: (r) => time(r.compute_ns + r.mpi_ns) },
      { label: "Of path", value: (r) => r.compute_ns + r.mpi_ns, text: (r) => percent(p.run_ns ? (r.compute_ns + r.mpi_ns) / p.run_ns : 0) },
      { label: "Computing", value: (r) => r.compute_ns, text: (r) => time(r.compute_ns) },
    ],
  })];
