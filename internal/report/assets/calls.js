import { data } from "./data.js";
import { el, none, section } from "./dom.js";
import { bytes, count, percent, plural, ratio, time } from "./format.js";
import { type, ways } from "./links.js";
import { table } from "./table.js";

const written = { ns: time, bytes, count, share: percent, ratio };

// columnOf shows a column of the data: rows have its value at a place, and where it has a text of its own value and text.
const columnOf = (c, at) => {
  const value = (r) => (Array.isArray(r[at]) ? r[at][0] : r[at]);
  const text = (r) => {
    if (Array.isArray(r[at])) return r[at][1] || "–";
    return r[at] === null || (c.blank && r[at] === 0) ? "–" : (written[c.unit] || String)(r[at]);
  };
  return { label: c.name[0].toUpperCase() + c.name.slice(1), title: c.doc.replace(/ \(\[.*/, ""), text, extra: c.room > 112, ...(c.unit === "word" ? {} : { value }) };
};

// calls is the flat profile: a line for each function and call site.
export const calls = () => {
  const f = data.flat, timeless = data.summary.no_times;
  const lead = "All calls of all ranks, by function and call site.";
  if (f.rows.length === 0) {
    section("calls", "Calls", lead, none("No calls were recorded."));
    return;
  }
  ways.calls = (name, site) => type(document.querySelector("#calls input[type=search]"), `${name} ${site}`.trim());
  const at = Object.fromEntries(f.columns.map((c, i) => [c.key, i]));
  const code = (r) => `${r[at.module]}+${r[at.address]}` + (r[at.addresses] > 1 ? `, and ${plural(r[at.addresses] - 1, "other address")}` : "");
  const measures = f.columns.filter((c) => c.room > 0).map((c) => columnOf(c, at[c.key]));
  section("calls", "Calls", lead,
    table({
      label: "Calls by place", filter: "Filter by function or call site", thing: "line", sort: 2, rows: f.rows,
      columns: [{ label: "Function", text: (r) => r[at.function], code: true }, { label: "Call site", text: (r) => r[at.place], site: true, hover: code }, ...measures],
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
