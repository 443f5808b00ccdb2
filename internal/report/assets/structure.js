import { data } from "./data.js";
import { el, none, section } from "./dom.js";
import { bytes, count, percent, plural, time } from "./format.js";

const range = (a, z) => (a === z ? count(a) : `${count(a)} to ${count(z)}`);

// line is what stands beside a node.
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
  const lead = (code ? "The program's own functions and loops around its MPI calls, as its machine code has them. ≥: rounds in which MPI is not called are not counted; (?): perhaps begun more often, with fewer rounds each time. Ranks"
    : "The program as nested loops of MPI calls, found by the compression; ranks") + " that went through the same one are a class." + (data.summary.no_times ? "" : " Times of a line are those of all its rounds: inside MPI, and outside of it before the calls.");
  if (!list.length) {
    section("structure", "Structure", lead, none("No rank left a track."));
    return;
  }
  const place = el("div"), found = el("span", { className: "dim", role: "status" });
  let chosen = list[0], query = "";
  const node = (s, whole) => (n) => {
    const site = n.s ? s.sites[n.s - 1] : null;
    const times = n.k !== "c" && n.k !== "l" && n.k !== "r" ? "" : n.x || n.u ? `${n.x ? "≥ " : ""}${range(n.a, n.z)}${n.u ? " (?)" : ""}` : !n.d ? range(n.a, n.z)
      : n.d > 0 ? `${count(n.a)}, ${count(n.a + n.d)} … ${count(n.z)}` : `${count(n.z)}, ${count(n.z + n.d)} … ${count(n.a)}`;
    const shown = n.k === "l" || n.k === "r" || n.a > 1 || n.z > 1;
    const entered = shown && n.e > 1 ? `begun ${count(n.e)} times` : !shown && n.e > 1 ? `${count(n.e)} times` : "";
    const line = el("span", { className: "line" },
      n.k === "c" ? [el("strong", { textContent: site.function }), el("span", { className: "t", textContent: n.q || site.site }), n.w && el("span", { className: "t", textContent: n.w })]
        : n.k === "f" ? [el("span", { textContent: `${n.f}()` }), n.l && el("span", { className: "t", textContent: `from ${n.l}` })]
        : n.k === "l" ? [el("span", { textContent: "loop" }), n.q && el("span", { className: "t", textContent: n.q })]
        : n.k === "r" ? el("span", { textContent: "calls of itself, and the first" }) : n.k === "e" ? el("span", { textContent: "elsewhere" }) : el("span", { textContent: n.b ? `part ${n.p}` : `part ${n.p} again` }),
      shown && el("span", { className: "x", textContent: `× ${times}` }), entered && el("span", { className: "t", textContent: entered }),
      el("span", { className: "t", textContent: numbers(n, whole) }));
    const hit = query && (site ? `${site.function} ${site.site}` : n.f || "").toLowerCase().includes(query);
    if (!n.b) return el("li", { className: hit ? "hit" : "" }, line);
    const inner = n.b.map(node(s, whole));
    const open = query ? inner.some((x) => x.classList.contains("hit") || x.querySelector(".hit")) : true;
    return el("li", { className: hit ? "hit" : "" }, el("details", { open }, el("summary", {}, line), el("ul", {}, inner)));
  };
  const draw = () => {
    place.replaceChildren(...chosen.threads.map((t) => {
      const whole = t.total.compute_ns + t.total.mpi_ns;
      return el("div", { className: "tree" },
        chosen.threads.length > 1 && el("h3", { textContent: t.number ? `Thread ${t.number}` : "Thread that initialised MPI" }),
        el("p", { className: "dim", textContent: plural(t.total.calls, "call") + (data.summary.no_times ? "" : ` · ${time(t.total.mpi_ns)} in MPI · ${time(t.total.compute_ns)} outside`) }),
        el("ul", {}, (t.body || []).map(node(chosen, whole))));
    }), ...(chosen.cut ? [el("p", { className: "dim", textContent: "The innermost parts are left out here; spoor profile shows all of it." })] : []));
    found.textContent = query ? plural(place.querySelectorAll(".hit").length, "line") : "";
  };
  const fold = (open) => { for (const d of place.querySelectorAll("details")) d.open = open; };
  const name = (s) => `${s.ranks === 1 ? `rank ${s.rank}` : `${plural(s.ranks, "rank")}: ${s.some.join(", ")}${s.ranks > s.some.length ? ", …" : ""}`}`;
  const about = el("p", { className: "dim" });
  const choose = (s) => {
    chosen = s;
    about.textContent = s.ranks > 1 ? `Counts and bytes are those of rank ${s.rank}${s.varies ? "; the others run loops another number of times" : ""}.${data.summary.no_times ? "" : " Times are means of the class."}` : "";
    draw();
  };
  section("structure", "Structure", lead,
    data.classes > list.length && el("p", { className: "dim", textContent: `The ${list.length} largest of ${plural(data.classes, "class")}.` }),
    el("div", { className: "tools" },
      list.length > 1 && el("select", { "aria-label": "Class of ranks", onchange: (ev) => choose(list[ev.target.selectedIndex]) }, list.map((s) => el("option", { textContent: name(s) }))),
      el("input", { type: "search", placeholder: "Find a call or function", "aria-label": "Find a call or function in the structure", oninput: (ev) => { query = ev.target.value.toLowerCase().trim(); draw(); } }), found,
      el("button", { type: "button", id: "fold", textContent: "Fold all", onclick: () => fold(false) }),
      el("button", { type: "button", id: "unfold", textContent: "Unfold all", onclick: () => fold(true) })),
    about, el("div", { className: "figure scrolled" }, place));
  choose(list[0]);
};
