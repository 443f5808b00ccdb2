import { data } from "./data.js";
import { el, none, section } from "./dom.js";
import { count, plural, ratio, share, time } from "./format.js";
import { type, ways } from "./links.js";
import { table } from "./table.js";

const who = (x) => `rank ${x.rank}${x.host ? ` on ${x.host}` : ""}`;

// bars draws the distribution of a time over ranks.
const bars = (d, width = 94, height = 26) => {
  if (!d.bins) return el("span", { className: "dim", textContent: d.ranks > 1 ? "–" : "" });
  const most = Math.max(...d.bins), step = width / d.bins.length, range = d.most.ns - d.least.ns;
  return el("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `ranks from ${time(d.least.ns)} to ${time(d.most.ns)}: ${d.bins.join(", ")}` },
    el("line", { class: "axis", x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }),
    d.bins.map((n, i) => {
      const h = n ? Math.max(2, ((height - 2) * n) / most) : 0;
      const from = d.least.ns + (range * i) / d.bins.length;
      return el("g", {}, el("title", {}, `${plural(n, "rank")} at ${time(from)} to ${time(from + range / d.bins.length)}`),
        el("rect", { x: i * step, y: 0, width: step, height, fill: "transparent" }),
        n > 0 && el("rect", { class: "b", x: i * step + 0.5, y: height - 1 - h, width: step - 1, height: h }));
    }));
};

// callBars draws the distribution of calls over time, in steps of equal ratio.
const callBars = (s, width = 94, height = 26) => {
  if (!s || !s.steps) return el("span", { className: "dim", textContent: "–" });
  const most = Math.max(...s.steps), step = width / s.steps.length, low = Math.max(1, s.least.ns), ratio = s.most.ns / low;
  const at = (i) => low * ratio ** (i / s.steps.length);
  return el("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `calls from ${time(s.least.ns)} to ${time(s.most.ns)}: ${s.steps.join(", ")}` },
    el("line", { class: "axis", x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }),
    s.steps.map((n, i) => {
      const h = n ? Math.max(2, ((height - 2) * n) / most) : 0;
      return el("g", {}, el("title", {}, `${plural(n, "call")} of ${time(at(i))} to ${time(at(i + 1))}`),
        el("rect", { x: i * step, y: 0, width: step, height, fill: "transparent" }),
        n > 0 && el("rect", { class: "b", x: i * step + 0.5, y: height - 1 - h, width: step - 1, height: h }));
    }));
};

const callText = (s) => {
  if (!s) return "";
  const text = `${plural(s.calls, "call")}, ${time(s.mean_ns)} mean; min ${time(s.least.ns)}, ${who(s.least)}; max ${time(s.most.ns)}, ${who(s.most)}`;
  return s.groups ? `${text}. Two groups: ${s.groups.map((g) => `${count(g.calls)} at ${time(g.mean_ns)}`).join(", and ")}` : text;
};

const groups = (d) => {
  if (!d.groups) return null;
  const one = (g) => `${g.estimated ? "about " : ""}${plural(g.ranks, "rank")} at ${time(g.mean_ns)}` + (g.some_ranks ? ` (${g.some_ranks.join(", ")}${g.ranks > g.some_ranks.length ? ", …" : ""})` : "");
  return `Two groups: ${one(d.groups[0])}, and ${one(d.groups[1])}.`;
};

const distribution = (name, d) =>
  el("div", { className: "figure" }, el("strong", { textContent: name }),
    el("div", { style: "margin:8px 0" }, bars(d, 420, 64)),
    el("div", { className: "dim" }, `${time(d.mean_ns)} mean; min ${time(d.least.ns)}, ${who(d.least)}; max ${time(d.most.ns)}, ${who(d.most)}.`),
    d.groups && el("div", { textContent: groups(d) }));

export const imbalance = () => {
  const r = data.imbalance;
  const lead = "How much each rank computed, and in which calls the others waited for it. A collective costs the time that ranks spent in it beyond the rank with the min time. A call that completes a transfer between two ranks costs all of its time.";
  if (!r) return section("imbalance", "Imbalance", null, none("No times in this trace (recorded with --timing none)."));
  if (r.ranks === 0) return section("imbalance", "Imbalance", lead, none("No rank left a track."));
  const known = { "by class": "Each rank's time is within 1 % at the call sites with most time. Other call sites have mean, deviation, min and max; min and max are within 2 % of their distance from the mean.", exact: "Times are each rank's own.", bounded: "Times are each rank's own, within the tolerance of the recording.", unknown: "The trace holds no times of calls." }[r.timing] || r.timing;
  const calls = r.calls.filter((c) => c.duration.ranks > 1);
  const lost = (c) => c.cost_ns;
  let only = true;
  const place = el("div");
  const draw = () => place.replaceChildren(table({
    label: "Calls by time waited", filter: "Filter calls", thing: "call", sort: 2, rows: calls.filter((c) => !only || !c.alone && (c.collective || c.completion)),
    columns: [
      { label: "Call", text: (c) => c.function, code: true },
      { label: "Call site", text: (c) => c.site, site: true },
      { label: "Waited", title: "in all ranks together", value: lost, text: (c) => time(lost(c)) },
      { label: "Min", title: "time of the rank with the min", value: (c) => c.duration.least.ns, text: (c) => `${time(c.duration.least.ns)}, rank ${c.duration.least.rank}`, hover: (c) => who(c.duration.least) },
      { label: "Max", title: "time of the rank with the max", value: (c) => c.duration.most.ns, text: (c) => `${time(c.duration.most.ns)}, rank ${c.duration.most.rank}`, hover: (c) => `${who(c.duration.most)}; ${ratio(c.duration.mean_ns ? c.duration.most.ns / c.duration.mean_ns : 1)} the mean` },
      { label: "Max gap", title: "time outside MPI before these calls, of the rank with the max", value: (c) => c.gap.most.ns, text: (c) => `${time(c.gap.most.ns)}, rank ${c.gap.most.rank}`, hover: (c) => [who(c.gap.most), groups(c.gap)].filter(Boolean).join("\n") },
      { label: "Ranks", title: "distribution of time over ranks", text: (c) => groups(c.duration) || "", node: (c) => bars(c.duration), hover: (c) => groups(c.duration) },
      ...(r.calls.some((c) => c.single_duration) ? [
        { label: "Calls", title: "by time, in steps of equal ratio", text: (c) => callText(c.single_duration), node: (c) => callBars(c.single_duration), hover: (c) => callText(c.single_duration) },
        { label: "Gaps", title: "times outside MPI before these calls, in steps of equal ratio", text: (c) => callText(c.single_gap), node: (c) => callBars(c.single_gap), hover: (c) => callText(c.single_gap) }] : []),
    ],
  }));
  draw();
  ways.imbalance = (name, site) => {
    only = false;
    document.getElementById("imbalance-waiting").checked = false;
    draw();
    type(place.querySelector("input[type=search]"), `${name} ${site}`.trim());
  };
  return section("imbalance", "Imbalance", [lead, " ", known],
    el("div", { className: "cards", style: "grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr))" },
      distribution("Useful time, outside of MPI", r.useful_time), distribution("Time in MPI", r.mpi_time)),
    el("p", { className: "dim", textContent: `Parallel efficiency ${share(r.efficiency.parallel)} = load balance ${share(r.efficiency.load_balance)} × communication ${share(r.efficiency.communication)}.` }),
    el("div", { className: "tools" }, el("label", {}, el("input", { type: "checkbox", id: "imbalance-waiting", checked: true, onchange: (ev) => { only = ev.target.checked; draw(); } }), "only calls in which ranks wait")),
    place);
};
