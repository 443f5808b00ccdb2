import { data } from "./data.js";
import { el, none, section } from "./dom.js";
import { bytes, count, percent, plural, time } from "./format.js";
import { type, ways } from "./links.js";

const range = (a, z) => (a === z ? count(a) : `${count(a)} to ${count(z)}`);

// numbers are the text beside a node.
const numbers = (n, whole) => {
  const list = data.summary.no_times ? [] : [`${time(n.m)} in MPI`, n.g > 0 && `${time(n.g)} before`, whole > 0 && percent((n.m + n.g) / whole)];
  if (n.k === "c" && n.r > 1 && !data.summary.no_times) list.unshift(`${time(n.m / n.r)} each`);
  if (n.o) list.push(`${bytes(n.o)} out`);
  if (n.i) list.push(`${bytes(n.i)} in`);
  return list.filter(Boolean).join(" · ");
};

export const structure = () => {
  const list = data.structure;
  const code = list.some((s) => s.code);
  const branched = (list) => (list || []).some((n) => n.k === "w" || branched(n.b));
  const lead = (code ? "The program's functions and loops around its MPI calls, from its machine code. ≥: iterations without an MPI call are not counted. (?): perhaps entered more often, with fewer iterations each time. “counted by the program”: all iterations of the loop together (papers pass)."
    : "The program as nested loops of MPI calls, found by the compression.") + (list.some((s) => s.threads.some((t) => branched(t.body))) ? " “either”, “or”: alternatives in the code, and in how many iterations their calls were made." : "") + " Ranks with the same structure are a class." + (data.summary.no_times ? "" : " Times of a line cover all its iterations: in MPI, and outside of MPI before its calls.");
  if (!list.length) {
    section("structure", "Structure", lead, none("No rank left a track."));
    return;
  }
  const place = el("div"), found = el("span", { className: "dim", role: "status" });
  let chosen = list[0], words = [];
  const spent = (n) => n.m + n.g;
  const hit = (s, n) => words.length > 0 && words.every((w) => (n.s ? `${s.sites[n.s - 1].function} ${s.sites[n.s - 1].site} ${n.q || ""}` : n.f || "").toLowerCase().includes(w));
  const hitBelow = (s, n) => (n.b || []).some((x) => hit(s, x) || hitBelow(s, x));
  // lines are those below a node: where times are known, runs of three and more that take next to nothing are one line.
  const lines = (s, whole, list) => {
    const out = [], small = (n) => !data.summary.no_times && words.length === 0 && whole > 0 && (n.h || spent(n)) < whole * 0.002;
    for (let i = 0; i < list.length;) {
      let j = i;
      while (j < list.length && small(list[j])) j++;
      const some = list.slice(i, j);
      if (some.length > 2) out.push(el("li", {}, folding(el("span", { className: "line" }, el("span", { className: "t", textContent: `${plural(some.length, "line")}, ${percent(some.reduce((a, n) => a + spent(n), 0) / whole)} in total` })), false, () => some.map(node(s, whole)))));
      else out.push(...list.slice(i, Math.max(j, i + 1)).map(node(s, whole)));
      i = Math.max(j, i + 1);
    }
    return out;
  };
  // folding is a line that opens; what is below it is made when it does.
  const folding = (line, open, make) => {
    const body = el("ul"), d = el("details", {}, el("summary", {}, line), body);
    d.build = () => { if (make) { const m = make; make = null; body.append(...m()); } };
    d.addEventListener("toggle", () => { if (d.open) d.build(); });
    if (open) { d.build(); d.open = true; }
    return d;
  };
  const node = (s, whole) => (n) => {
    const site = n.s ? s.sites[n.s - 1] : null;
    const times = n.k !== "c" && n.k !== "l" && n.k !== "r" ? "" : n.x || n.u ? `${n.x ? "≥ " : ""}${range(n.a, n.z)}${n.u ? " (?)" : ""}` : !n.d ? range(n.a, n.z)
      : n.d > 0 ? `${count(n.a)}, ${count(n.a + n.d)} … ${count(n.z)}` : `${count(n.z)}, ${count(n.z + n.d)} … ${count(n.a)}`;
    const shown = n.k === "l" || n.k === "r" || n.a > 1 || n.z > 1;
    const entered = shown && n.e > 1 ? `entered ${count(n.e)} times` : !shown && n.e > 1 ? `${count(n.e)} times` : "";
    const line = el("span", { className: "line" },
      n.k === "c" ? [el("strong", { textContent: site.function }), el("span", { className: "t", textContent: n.q || site.site }), n.w && el("span", { className: "t", textContent: n.w })]
        : n.k === "f" ? [el("span", { textContent: `${n.f}()` }), n.l && el("span", { className: "t", textContent: `from ${n.l}` })]
        : n.k === "l" ? [el("span", { textContent: "loop" }), (n.q || code) && el("span", { className: "t", textContent: n.q || "by the order of calls" })]
        : n.k === "w" ? el("span", { textContent: n.f })
        : n.k === "r" ? el("span", { textContent: "recursive calls and the first one" }) : n.k === "e" ? el("span", { textContent: "elsewhere" }) : el("span", { textContent: n.b ? `part ${n.p}` : `part ${n.p} again` }),
      shown && el("span", { className: "x", textContent: `× ${times}` }), n.y && el("span", { className: "t", textContent: `${n.y} counted by the program` }), entered && el("span", { className: "t", textContent: entered }), n.v && el("span", { className: "t", textContent: n.v }),
      el("span", { className: "t", textContent: numbers(n, whole) }));
    const mark = hit(s, n) ? "hit" : "", part = whole > 0 ? spent(n) / whole : 0;
    if (!data.summary.no_times && part >= 0.002) line.prepend(el("span", { className: "share", "aria-hidden": "true" }, el("i", { style: `width:${(100 * Math.min(1, part)).toFixed(1)}%` })));
    if (!n.b) return el("li", { className: mark }, line);
    const open = words.length > 0 ? hitBelow(s, n) : data.summary.no_times || part >= 0.1;
    return el("li", { className: mark }, folding(line, open, () => lines(s, whole, n.b)));
  };
  const draw = () => {
    place.replaceChildren(...chosen.threads.map((t) => {
      const whole = t.total.compute_ns + t.total.mpi_ns;
      return el("div", { className: "tree" },
        chosen.threads.length > 1 && el("h3", { textContent: t.number ? `Thread ${t.number}` : "Thread that initialised MPI" }),
        el("p", { className: "dim", textContent: plural(t.total.calls, "call") + (data.summary.no_times ? "" : ` · ${time(t.total.mpi_ns)} in MPI · ${time(t.total.compute_ns)} outside`) }),
        el("ul", {}, lines(chosen, whole, t.body || [])));
    }), ...(chosen.cut ? [el("p", { className: "dim", textContent: "The innermost parts are left out here; spoor calltree shows all of it." })] : []));
    found.textContent = words.length ? plural(place.querySelectorAll(".hit").length, "line") : "";
  };
  const fold = (open) => {
    if (!open) for (const d of place.querySelectorAll("details")) d.open = false;
    for (let list; open && (list = place.querySelectorAll("details:not([open])")).length > 0;) for (const d of list) { d.build(); d.open = true; }
  };
  const name = (s) => `${s.ranks === 1 ? `rank ${s.rank}` : `${plural(s.ranks, "rank")}: ${s.some.join(", ")}${s.ranks > s.some.length ? ", …" : ""}`}`;
  const about = el("p", { className: "dim" });
  const choose = (s) => {
    chosen = s;
    about.textContent = s.ranks > 1 ? `Counts and bytes are those of rank ${s.rank}${s.varies ? "; other ranks have other iteration counts" : ""}.${data.summary.no_times ? "" : " Times are means of the class."}` : "";
    draw();
  };
  section("structure", "Structure", lead,
    data.classes > list.length && el("p", { className: "dim", textContent: `The ${list.length} largest of ${plural(data.classes, "class")}.` }),
    el("div", { className: "tools" },
      list.length > 1 && el("select", { "aria-label": "Class of ranks", onchange: (ev) => choose(list[ev.target.selectedIndex]) }, list.map((s) => el("option", { textContent: name(s) }))),
      el("input", { type: "search", placeholder: "Find a call or function", "aria-label": "Find a call or function in the structure", id: "structure-search", oninput: (ev) => { words = ev.target.value.toLowerCase().split(/\s+/).filter(Boolean); draw(); } }), found,
      el("button", { type: "button", id: "fold", textContent: "Fold all", onclick: () => fold(false) }),
      el("button", { type: "button", id: "unfold", textContent: "Unfold all", onclick: () => fold(true) })),
    about, el("div", { className: "figure scrolled" }, place));
  ways.structure = (name, site) => {
    type(document.getElementById("structure-search"), `${name} ${site.replace(/ \(.*\)$/, "")}`.trim());
    place.querySelector(".hit")?.scrollIntoView({ block: "center" });
  };
  choose(list[0]);
};
