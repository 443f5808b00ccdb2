import { data, reader, unpack } from "./data.js";
import { colour, el, none, prepare, repaints, section, tip, toggles, untip } from "./dom.js";
import { count, percent, plural, time } from "./format.js";
import { table } from "./table.js";

const categories = ["point-to-point", "waiting", "collective", "one-sided", "files", "other MPI", "spoor", "not traced"];

// pattern makes the look of a category: a colour with marks of its own, so that
// categories differ without colour.
const pattern = (g, c) => {
  const size = 8, ratio = Math.max(1, window.devicePixelRatio || 1);
  const tile = document.createElement("canvas");
  tile.width = tile.height = size * ratio;
  const t = tile.getContext("2d");
  t.scale(ratio, ratio);
  t.fillStyle = colour("c" + c);
  t.fillRect(0, 0, size, size);
  t.strokeStyle = t.fillStyle = colour("panel");
  t.globalAlpha = 0.55;
  t.lineWidth = 1.2;
  const line = (...p) => { t.beginPath(); for (let i = 0; i < p.length; i += 4) { t.moveTo(p[i], p[i + 1]); t.lineTo(p[i + 2], p[i + 3]); } t.stroke(); };
  if (c === 0) line(-2, 10, 10, -2, -2, 2, 2, -2, 6, 10, 10, 6);
  if (c === 1) for (const [x, y] of [[2, 2], [6, 6]]) { t.beginPath(); t.arc(x, y, 1, 0, 7); t.fill(); }
  if (c === 3) line(-2, -2, 10, 10, -2, 6, 2, 10, 6, -2, 10, 2);
  if (c === 4) line(0, 4, 8, 4, 4, 0, 4, 8);
  if (c === 5) line(4, 0, 4, 8);
  if (c === 6) line(0, 2, 8, 2, 0, 6, 8, 6);
  if (c === 7) line(0, 0, 8, 8);
  const p = g.createPattern(tile, "repeat");
  p.setTransform(new DOMMatrix().scale(1 / ratio));
  return p;
};

const events = async (t) => {
  if (!t.events) return null;
  const b = reader(await unpack(t.events));
  return t.rows.map(() => {
    const list = [];
    for (let n = b.uvarint(), at = 0; n > 0; n--) {
      const start = at + b.uvarint();
      at = start + b.uvarint();
      list.push([start, at, b.byte()]);
    }
    return list;
  });
};

export const timeline = async () => {
  const t = data.timeline;
  if (!t || t.rows.length === 0) {
    section("timeline", "Timeline", null, none("The trace holds no times of calls."));
    return;
  }
  const main = await unpack(t.main), share = await unpack(t.share), each = await unpack(t.each), calls = await events(t);
  const span = t.end_ns - t.start_ns, n = t.rows.length, tile = span / t.tiles;
  const known = {
    mean: "Times here are approximate: the trace keeps statistics, so each call lasts as long as calls like it do on average. Order and total are right, single calls may be off.",
    histogram: "Times here are approximate: each call has a time drawn from the histogram of calls like it. Order, total and spread are right, single calls may be off.",
    bounded: "Times are those of each call, within the error that was asked for.", exact: "Times are those of each call.",
  }[t.kind];
  const notes = [
    t.bin > 1 && (t.sampled ? `Every row shows the first of ${t.bin} ranks.` : `${t.bin} ranks share a row.`),
    t.threads && "Threads have rows of their own, which begin with that of their rank: when a thread made its first call is not recorded.",
    calls ? "Zoomed in, single calls are shown." : `The finest tile is ${time(tile)} long.`].filter(Boolean).join(" ");

  let view = { from: 0, to: span }, found = null, cursor = null;
  const canvas = el("canvas", { tabIndex: 0, role: "img", "aria-describedby": "time-keys" });
  const where = el("p", { className: "dim", role: "status" }), hits = el("span", { className: "dim", role: "status", id: "hits" });
  const left = 74, top = 22;
  let width = 900, rowHeight, height, gap, shown, fit = true;
  // lay decides which rows are shown, and how high they are.
  const lay = (threads) => {
    shown = t.rows.map((_, i) => i).filter((i) => threads || !t.rows[i].thread);
    rowHeight = Math.max(2, Math.min(26, Math.floor(420 / shown.length)));
    if (!fit) rowHeight = Math.max(18, rowHeight);
    height = rowHeight * shown.length;
    gap = rowHeight > 6 ? 2 : rowHeight > 3 ? 1 : 0;
  };
  let threads = true;
  lay(threads);
  const who = (r) => (r.last > r.first ? `ranks ${r.first} to ${r.last}` : `rank ${r.first}`) + (r.more ? `, threads from ${r.thread} on` : r.thread ? `, thread ${r.thread}` : "");
  // brief names a row beside it: a thread below its rank by its number alone.
  const brief = (r) => (r.thread ? `thread ${r.thread}${r.more ? "…" : ""}` : shown.length > 40 ? r.first : r.last > r.first ? `${r.first}…` : `rank ${r.first}`);
  const spoors = (row) => t.rows[row].share.slice(6).some((v) => v > 0);
  const category = (f) => t.functions[f].category;

  const draw = () => {
    width = Math.max(300, (canvas.parentElement.clientWidth || 1100) - left - 4);
    const g = prepare(canvas, left + width + 2, top + height + 4);
    const looks = categories.map((_, c) => (rowHeight >= 6 ? pattern(g, c) : colour("c" + c)));
    const k = width / (view.to - view.from), soft = colour("soft"), idle = colour("idle");
    // ticks at 1, 2 or 5 times a power of ten
    let step = 10 ** Math.floor(Math.log10((view.to - view.from) / 4));
    for (const m of [2, 5, 10]) if ((view.to - view.from) / step > 9) step = (step / (m === 2 ? 1 : m === 5 ? 2 : 5)) * m;
    g.font = "11.5px system-ui, sans-serif";
    g.textAlign = "center";
    for (let x = Math.ceil(view.from / step) * step; x <= view.to; x += step) {
      const px = left + (x - view.from) * k;
      g.fillStyle = soft;
      if (px > left + 14 && px < left + width - 14) g.fillText(time(x), px, 12);
      g.fillStyle = colour("line");
      g.fillRect(px, 16, 1, 5);
    }
    const exact = calls && (view.to - view.from) / width < tile * 2;
    canvas.dataset.mode = exact ? "calls" : "tiles";
    canvas.dataset.from = view.from;
    canvas.dataset.to = view.to;
    g.save();
    g.beginPath();
    g.rect(left, top, width, height);
    g.clip();
    for (let place = 0; place < shown.length; place++) {
      const row = shown[place], y = top + place * rowHeight, h = rowHeight - gap;
      g.fillStyle = idle;
      g.fillRect(left, y, width, h);
      if (exact) {
        for (const [a, b, f] of calls[row]) {
          if (b < view.from) continue;
          if (a > view.to) break;
          const px = left + (a - view.from) * k, w = Math.max(0.8, (b - a) * k);
          g.globalAlpha = found && !found.has(f) ? 0.2 : 1;
          g.fillStyle = looks[category(f)];
          g.fillRect(px, y, w, h);
        }
        g.globalAlpha = 1;
        continue;
      }
      const first = Math.max(0, Math.floor(view.from / tile)), last = Math.min(t.tiles - 1, Math.floor(view.to / tile));
      // tiles that fall on the same pixel are one: their mean share, and the function that most of them have
      const per = Math.max(1, Math.floor((last - first + 1) / width));
      for (let i = first; i <= last; i += per) {
        let sum = 0, best = 255, weight = 0, own = 0;
        const votes = new Map();
        for (let j = i; j < Math.min(i + per, last + 1); j++) {
          const at = row * t.tiles + j, f = main[at];
          sum += share[at];
          if (f === 255) continue;
          const v = (votes.get(f) || 0) + share[at];
          votes.set(f, v);
          if (v > weight) { weight = v; best = f; }
          if (found && found.has(f)) own += share[at];
        }
        if (best === 255) continue;
        let part = sum / (per * 250);
        const px = left + (i * tile - view.from) * k, w = Math.max(1, per * tile * k);
        if (found) {
          const c = Math.floor((i * t.coarse) / t.tiles);
          let hit = 0;
          for (const f of found) hit += each[(f * n + row) * t.coarse + c];
          g.globalAlpha = hit > 0 && (own > 0 || per * tile * k < (width / t.coarse) * 4) ? 1 : 0.18;
          if (own > 0) best = [...found].find((f) => votes.has(f)) ?? best;
        }
        const tall = h < 4 ? h : Math.max(1, Math.round(h * part));
        if (h < 4) g.globalAlpha *= Math.max(0.12, part);
        g.fillStyle = looks[category(best)];
        g.fillRect(px, y + h - tall, w + 0.4, tall);
        g.globalAlpha = 1;
      }
    }
    if (cursor !== null) {
      g.strokeStyle = colour("ink");
      g.lineWidth = 1.5;
      g.strokeRect(left + (cursor.at - view.from) * k - 1, top + cursor.row * rowHeight - 1, 3, rowHeight);
    }
    g.restore();
    g.fillStyle = soft;
    g.textAlign = "right";
    let every = 1;
    for (const m of [1, 2, 4, 8, 16, 32, 64]) if (every * rowHeight < 15) every = m;
    for (let row = 0; row < shown.length; row += every) g.fillText(brief(t.rows[shown[row]]), left - 8, top + row * rowHeight + Math.max(9, rowHeight / 2 + 3));
    canvas.dataset.rows = shown.length;
    where.textContent = `${time(view.from)} to ${time(view.to)} of ${time(span)}${exact ? ", single calls" : ""}.`;
    canvas.setAttribute("aria-label", `Timeline of ${plural(shown.length, "row")} from ${time(view.from)} to ${time(view.to)}; a table of the same below`);
  };
  const set = (from, to) => {
    const least = calls ? 200 : tile * 16;
    const d = Math.min(span, Math.max(least, to - from));
    from = Math.max(0, Math.min(span - d, from));
    view = { from, to: from + d };
    draw();
  };
  const zoom = (by, at) => set(at - (at - view.from) * by, at + (view.to - at) * by);
  const middle = () => (cursor ? cursor.at : (view.from + view.to) / 2);
  const describe = (place, at) => {
    const row = shown[place], r = t.rows[row], lines = [`${who(r)}, ${r.host}, at ${time(at)}`];
    if (canvas.dataset.mode === "calls") {
      const c = calls[row].find(([a, b]) => at <= b);
      if (c && at >= c[0]) lines.push(`${t.functions[c[2]].name}: ${time(c[1] - c[0])}`);
      else if (c) lines.push(`outside of MPI, before ${t.functions[c[2]].name}`);
      else lines.push("after the last call");
      return lines.join("\n");
    }
    const i = Math.min(t.tiles - 1, Math.floor(at / tile)), f = main[row * t.tiles + i];
    lines.push(`${percent(share[row * t.tiles + i] / 250)} ${spoors(row) ? "in MPI or spoor" : "in MPI"}${f === 255 ? "" : `, most in ${t.functions[f].name}`}, within ${time(tile)}`);
    return lines.join("\n");
  };
  const place = (ev) => {
    const r = canvas.getBoundingClientRect(), x = ev.clientX - r.left - left, y = ev.clientY - r.top - top;
    return { at: view.from + (x / width) * (view.to - view.from), row: Math.floor(y / rowHeight), in: x >= 0 && y >= 0 && x <= width && y < height };
  };
  let drag = null;
  canvas.addEventListener("wheel", (ev) => {
    if (!(ev.ctrlKey || ev.metaKey || document.activeElement === canvas)) return;
    ev.preventDefault();
    if (Math.abs(ev.deltaX) > Math.abs(ev.deltaY) || ev.shiftKey) {
      const d = ((ev.deltaX || ev.deltaY) / width) * (view.to - view.from);
      set(view.from + d, view.to + d);
    } else zoom(ev.deltaY > 0 ? 1.25 : 0.8, place(ev).at);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (ev) => { canvas.focus({ preventScroll: true }); drag = { x: ev.clientX, ...view }; canvas.setPointerCapture(ev.pointerId); });
  canvas.addEventListener("pointermove", (ev) => {
    if (drag && Math.abs(ev.clientX - drag.x) > 3) {
      const d = ((ev.clientX - drag.x) / width) * (drag.to - drag.from);
      untip();
      set(drag.from - d, drag.to - d);
      return;
    }
    const p = place(ev);
    if (p.in) tip(describe(p.row, p.at), ev.clientX, ev.clientY);
    else untip();
  });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointerleave", untip);
  canvas.addEventListener("dblclick", (ev) => zoom(0.4, place(ev).at));
  canvas.addEventListener("blur", () => { cursor = null; untip(); draw(); });
  canvas.addEventListener("keydown", (ev) => {
    const wide = view.to - view.from;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[ev.key];
    if (moves) {
      cursor ??= { row: 0, at: view.from };
      cursor = { row: Math.max(0, Math.min(shown.length - 1, cursor.row + moves[1])), at: Math.max(0, Math.min(span, cursor.at + (moves[0] * wide) / (ev.shiftKey ? 5 : 50))) };
      if (cursor.at < view.from || cursor.at > view.to) set(cursor.at - wide / 2, cursor.at + wide / 2);
      draw();
      const r = canvas.getBoundingClientRect();
      tip(describe(cursor.row, cursor.at), r.left + left + ((cursor.at - view.from) / wide) * width, r.top + top + (cursor.row + 1) * rowHeight);
    } else if (ev.key === "+" || ev.key === "=") zoom(0.5, middle());
    else if (ev.key === "-") zoom(2, middle());
    else if (ev.key === "0" || ev.key === "Escape") set(0, span);
    else return;
    ev.preventDefault();
  });
  const search = (text) => {
    const words = text.toLowerCase().trim();
    found = null;
    hits.textContent = "";
    if (words) {
      const list = t.functions.map((f, i) => [f, i]).filter(([f]) => f.name.toLowerCase().includes(words));
      found = new Set(list.map(([, i]) => i));
      hits.textContent = list.length === 0 ? "No function has that in its name." :
        `${list.slice(0, 3).map(([f]) => f.name).join(", ")}${list.length > 3 ? ` and ${list.length - 3} more` : ""}: ${plural(list.reduce((a, [f]) => a + f.calls, 0), "call")}, ${time(list.reduce((a, [f]) => a + f.ns, 0))}`;
    }
    draw();
  };
  // next moves the view to where found functions are after the middle.
  const next = (way) => {
    if (!found || found.size === 0) return;
    const now = (view.from + view.to) / 2, half = (view.to - view.from) / 2, wide = span / t.coarse;
    for (let c = Math.floor(now / wide) + way; c >= 0 && c < t.coarse; c += way) {
      for (const f of found) {
        for (const row of shown) {
          if (each[(f * n + row) * t.coarse + c] > 0) {
            set((c + 0.5) * wide - half, (c + 0.5) * wide + half);
            return;
          }
        }
      }
    }
    hits.textContent = "No more that way.";
  };
  const relay = () => { cursor = null; lay(threads); draw(); };
  const sample = (c) => {
    const s = el("canvas", { "aria-hidden": "true" }), g = prepare(s, 26, 14);
    g.fillStyle = c < 0 ? colour("idle") : pattern(g, c);
    g.fillRect(0, 0, 26, 14);
    return s;
  };
  const inMPI = (r) => r.share.slice(0, 6).reduce((a, b) => a + b, 0);
  const used = categories.map((_, c) => c).filter((c) => t.rows.some((r) => r.share[c] > 0));
  const legend = el("ul", { className: "legend" });
  const keys = () => legend.replaceChildren(...[-1, ...used].map((c) => el("li", {}, sample(c), c < 0 ? "outside of MPI" : categories[c])));
  keys();
  section("timeline", "Timeline", [known, " ", notes],
    el("div", { className: "tools" },
      el("input", { type: "search", id: "time-search", placeholder: "Find a function", "aria-label": "Find a function in the timeline", oninput: (ev) => search(ev.target.value), onkeydown: (ev) => { if (ev.key === "Enter") next(1); } }),
      el("span", { className: "group", role: "group", "aria-label": "Found calls" },
        el("button", { type: "button", textContent: "←", "aria-label": "Previous", onclick: () => next(-1) }),
        el("button", { type: "button", textContent: "→", "aria-label": "Next", onclick: () => next(1) })), hits, el("span", { className: "gap" }),
      t.threads && el("label", {}, el("input", { type: "checkbox", id: "time-threads", checked: true, onchange: (ev) => { threads = ev.target.checked; relay(); } }), "all threads"),
      n > 20 && toggles("Height of rows", [[true, "Fit"], [false, "Tall"]], true, (v) => { fit = v; relay(); }),
      el("span", { className: "group", role: "group", "aria-label": "Zoom of the timeline" },
        el("button", { type: "button", id: "time-in", textContent: "+", "aria-label": "Zoom in", onclick: () => zoom(0.5, middle()) }),
        el("button", { type: "button", textContent: "−", "aria-label": "Zoom out", onclick: () => zoom(2, middle()) }),
        el("button", { type: "button", id: "time-all", textContent: "All", onclick: () => set(0, span) }))),
    el("div", { className: "figure" }, el("div", { className: "scrolled" }, canvas), where, legend,
      el("p", { className: "dim", id: "time-keys", textContent: "Drag to move; wheel (after a click) or + and − to zoom; arrow keys to read. How high a row is filled is the part of the time inside MPI, or of spoor's own, which is neither the program's nor MPI's." })),
    el("h3", { textContent: "The same in numbers" }),
    table({
      label: "Time of ranks by kind of call", shown: 12, filter: "Filter ranks", thing: "row", sort: 2, rows: t.rows,
      columns: [
        { label: t.bin > 1 ? "Ranks" : "Rank", text: who },
        { label: "Host", text: (r) => r.host },
        { label: "In MPI", value: inMPI, text: (r) => percent(inMPI(r)) },
        ...used.map((c) => ({ label: categories[c], value: (r) => r.share[c], text: (r) => percent(r.share[c]) })),
        { label: "Calls", value: (r) => r.calls, text: (r) => count(r.calls) },
      ],
    }));
  draw();
  repaints.push(() => { keys(); draw(); });
};
