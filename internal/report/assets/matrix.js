import { data, reader, unpack } from "./data.js";
import { colour, el, none, prepare, repaints, section, tip, toggles, untip } from "./dom.js";
import { bytes, count, percent, plural, ranks, short } from "./format.js";
import { ways } from "./links.js";
import { table } from "./table.js";

// decode returns the cells of a level: rows of [column, messages, bytes].
const decode = async (level) => {
  const rows = new Map(), b = reader(await unpack(level.cells));
  let row = 0;
  while (!b.done()) {
    row += b.uvarint();
    const cells = [];
    for (let n = b.uvarint(), to = 0; n > 0; n--) {
      to += b.uvarint();
      cells.push([to, b.uvarint(), b.uvarint()]);
    }
    rows.set(row, cells);
  }
  return rows;
};

// heat returns what gives a colour of the scale, for 0 to 1.
export const heat = () => {
  const stops = [0, 1, 2, 3, 4].map((i) => colour("heat" + i).match(/[0-9a-f]{2}/gi).map((h) => parseInt(h, 16)));
  return (x) => {
    const i = Math.min(3, Math.floor(x * 4)), f = x * 4 - i;
    return `rgb(${stops[i].map((a, k) => Math.round(a + (stops[i + 1][k] - a) * f)).join()})`;
  };
};

export const matrix = async () => {
  const lead = "Who sends how much to whom: senders down, receivers across, by world rank. Collectives count by their logical pattern, from each rank to the ranks that need its data.";
  const layers = data.matrix.filter((l) => l.total.messages > 0);
  const notes = data.matrix.flatMap((l) => [
    l.elsewhere.messages > 0 && `${l.name}: ${plural(l.elsewhere.messages, "message")} (${bytes(l.elsewhere.bytes)}) went to ranks outside of this world or without a track.`,
    l.unsized > 0 && `${l.name}: ${plural(l.unsized, "message")} of unknown size count with no bytes.`,
    l.unknown > 0 && `${l.name}: ${plural(l.unknown, "call")} with unknown partners are left out.`]).filter(Boolean);
  if (layers.length === 0) {
    section("matrix", "Matrix", lead, none("The trace has no messages between ranks."));
    return;
  }
  for (const l of layers) for (const lv of l.levels) lv.rows = await decode(lv);

  const all = layers[0].ranks;
  const on = new Set([layers[0]]);
  let measure = 2, view = { x: 0, y: 0, n: all }, cursor = null, cells = new Map(), bin = 1, least = 0, most = 0;
  const canvas = el("canvas", { tabIndex: 0, role: "img", "aria-describedby": "matrix-keys" });
  const where = el("p", { className: "dim", role: "status" });
  const pairs = el("div");
  const text = (v) => (measure === 2 ? bytes(v) : `${short(v)} messages`);
  const margin = { left: 58, top: 24 };
  let side = 560, legend = 110;

  // levels that all chosen layers have, finest last
  const bins = () => {
    const lists = [...on].map((l) => l.levels.map((lv) => lv.bin));
    const finest = Math.max(...lists.map((b) => Math.min(...b)));
    return [...new Set(lists.flat())].filter((b) => b >= finest && lists.every((l) => l.includes(b))).sort((a, b) => b - a);
  };
  const collect = () => {
    cells = new Map();
    least = Infinity; most = 0;
    for (const l of on) {
      for (const [row, list] of l.levels.find((lv) => lv.bin === bin).rows) {
        for (const c of list) {
          const key = row * 1e6 + c[0], old = cells.get(key);
          if (old) { old[1] += c[1]; old[2] += c[2]; }
          else cells.set(key, [row, c[1], c[2], c[0]]);
        }
      }
    }
    for (const c of cells.values()) {
      const v = c[measure];
      if (v > 0 && v < least) least = v;
      if (v > most) most = v;
    }
  };
  const pick = () => {
    const list = bins();
    const old = bin;
    bin = list.findLast((b) => view.n / b <= 256) ?? list[0];
    return bin !== old;
  };
  const level = (v) => (most <= least ? 1 : (Math.log(v) - Math.log(least)) / (Math.log(most) - Math.log(least)));

  const draw = () => {
    const box = (canvas.parentElement.clientWidth || 620) - 28;
    legend = box < 480 ? 4 : 110; // a narrow page has the scale in words alone
    side = Math.max(180, Math.min(620, box - margin.left - legend, all * 92));
    const g = prepare(canvas, margin.left + side + legend, margin.top + side + 8);
    const mix = heat(), px = side / view.n;
    g.font = "11.5px system-ui, sans-serif";
    g.fillStyle = colour("empty");
    g.fillRect(margin.left, margin.top, side, side);
    g.save();
    g.beginPath();
    g.rect(margin.left, margin.top, side, side);
    g.clip();
    for (const c of cells.values()) {
      const v = c[measure];
      if (v <= 0) continue;
      const x = margin.left + (c[3] * bin - view.x) * px, y = margin.top + (c[0] * bin - view.y) * px, s = bin * px;
      if (x + s < margin.left || y + s < margin.top || x > margin.left + side || y > margin.top + side) continue;
      g.fillStyle = mix(level(v));
      g.fillRect(x, y, Math.max(1, s - (s > 8 ? 1 : 0)), Math.max(1, s - (s > 8 ? 1 : 0)));
      if (s > 56) { // room for the number
        g.fillStyle = colour(level(v) > 0.5 ? "heat0" : "heat4");
        g.textAlign = "center";
        g.fillText(measure === 2 ? bytes(v) : short(v), x + s / 2, y + s / 2 + 4);
      }
    }
    if (cursor) {
      g.strokeStyle = colour("ink");
      g.lineWidth = 2;
      g.strokeRect(margin.left + (cursor.x * bin - view.x) * px, margin.top + (cursor.y * bin - view.y) * px, bin * px, bin * px);
    }
    g.restore();
    g.strokeStyle = colour("line");
    g.strokeRect(margin.left - 0.5, margin.top - 0.5, side + 1, side + 1);
    g.fillStyle = colour("soft");
    g.font = "11.5px system-ui, sans-serif";
    let step = Math.max(1, bin);
    while (step * px < 34) step *= 2;
    for (let r = Math.ceil(view.x / step) * step; r < view.x + view.n; r += step) {
      g.textAlign = "center";
      g.fillText(r, margin.left + (r - view.x + Math.min(bin, all - r) / 2) * px, margin.top - 7);
    }
    for (let r = Math.ceil(view.y / step) * step; r < view.y + view.n; r += step) {
      g.textAlign = "right";
      g.fillText(r, margin.left - 7, margin.top + (r - view.y + Math.min(bin, all - r) / 2) * px + 4);
    }
    if (most > 0 && legend > 20) {
      const h = Math.min(200, side), x = margin.left + side + 22;
      for (let i = 0; i < h; i++) { g.fillStyle = mix(1 - i / h); g.fillRect(x, margin.top + i, 12, 1.5); }
      g.fillStyle = colour("soft");
      g.textAlign = "left";
      const label = (v, y) => g.fillText(measure === 2 ? bytes(v) : short(v), x + 18, y);
      label(most, margin.top + 9);
      if (least < most) {
        label(Math.sqrt(least * most), margin.top + h / 2 + 4);
        label(least, margin.top + h);
      }
    }
    canvas.setAttribute("aria-label", `Heat map of ${measure === 2 ? "bytes" : "messages"}: ${[...on].map((l) => l.name).join(", ")}, ${plural(cells.size, "cell")} with traffic, max ${text(most)}`);
    canvas.dataset.bin = bin;
    canvas.dataset.span = view.n;
    where.textContent = `${view.n < all ? `Senders ${view.y} to ${view.y + view.n - 1}, receivers ${view.x} to ${view.x + view.n - 1}. ` : ""}${bin > 1 ? `${bin} ranks share a row here.` : "Each rank has its own row."} Colours are logarithmic${most > least && legend <= 20 ? `, from ${text(least)} to ${text(most)}` : ""}.`;
  };
  const busiest = () => {
    const list = [...cells.values()].filter((c) => c[measure] > 0).sort((a, b) => b[measure] - a[measure]);
    const total = list.reduce((a, c) => a + c[measure], 0);
    pairs.replaceChildren(el("h3", { textContent: bin > 1 ? "Busiest groups of ranks" : "Busiest pairs" }), table({
      label: "Busiest pairs of ranks", thing: "pair", sort: measure === 2 ? 3 : 2, rows: list.slice(0, 20),
      columns: [
        { label: bin > 1 ? "From ranks" : "From rank", text: (c) => ranks(c[0] * bin, bin, all).replace(/^ranks? /, "") },
        { label: bin > 1 ? "To ranks" : "To rank", text: (c) => ranks(c[3] * bin, bin, all).replace(/^ranks? /, "") },
        { label: "Messages", value: (c) => c[1], text: (c) => count(c[1]) },
        { label: "Bytes", value: (c) => c[2], text: (c) => bytes(c[2]) },
        { label: "Share", value: (c) => c[measure], text: (c) => percent(c[measure] / total) },
      ],
    }), el("p", { className: "dim", textContent: `In total ${plural([...on].reduce((a, l) => a + l.total.messages, 0), "message")}, ${bytes([...on].reduce((a, l) => a + l.total.bytes, 0))}.` }));
  };
  const update = () => { pick(); collect(); busiest(); draw(); };

  // zoom by a factor around a place, in ranks.
  const zoom = (by, x, y) => {
    const n = Math.round(Math.max(Math.min(4, all), Math.min(all, view.n * by)));
    const fx = (x - view.x) / view.n, fy = (y - view.y) / view.n;
    view = { n, x: Math.round(Math.max(0, Math.min(all - n, x - fx * n))), y: Math.round(Math.max(0, Math.min(all - n, y - fy * n))) };
    if (pick()) { cursor = null; collect(); busiest(); }
    draw();
  };
  const middle = () => [view.x + view.n / 2, view.y + view.n / 2];
  const place = (ev) => {
    const r = canvas.getBoundingClientRect(), k = side / view.n;
    const x = view.x + (ev.clientX - r.left - margin.left) / k, y = view.y + (ev.clientY - r.top - margin.top) / k;
    return x >= view.x && y >= view.y && x < view.x + view.n && y < view.y + view.n && x < all && y < all ? { x, y } : null;
  };
  const describe = (x, y) => {
    const c = cells.get(y * 1e6 + x);
    const pair = `From ${ranks(y * bin, bin, all)} to ${ranks(x * bin, bin, all)}`;
    return c ? `${pair}\n${plural(c[1], "message")}, ${bytes(c[2])}${c[1] ? `, ${bytes(c[2] / c[1])} each` : ""}` : `${pair}: nothing`;
  };
  let drag = null;
  canvas.addEventListener("wheel", (ev) => {
    const p = place(ev);
    if (!p || !(ev.ctrlKey || ev.metaKey || document.activeElement === canvas)) return;
    ev.preventDefault();
    zoom(ev.deltaY > 0 ? 1.25 : 0.8, p.x, p.y);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (ev) => {
    canvas.focus({ preventScroll: true });
    drag = { x: ev.clientX, y: ev.clientY, view: { ...view } };
    canvas.setPointerCapture(ev.pointerId);
  });
  canvas.addEventListener("pointermove", (ev) => {
    if (drag && view.n < all && (Math.abs(ev.clientX - drag.x) > 3 || Math.abs(ev.clientY - drag.y) > 3)) {
      const k = view.n / side, clamp = (v) => Math.round(Math.max(0, Math.min(all - view.n, v)));
      view.x = clamp(drag.view.x - (ev.clientX - drag.x) * k);
      view.y = clamp(drag.view.y - (ev.clientY - drag.y) * k);
      untip();
      draw();
      return;
    }
    const p = place(ev);
    if (p) tip(describe(Math.floor(p.x / bin), Math.floor(p.y / bin)), ev.clientX, ev.clientY);
    else untip();
  });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointerleave", untip);
  canvas.addEventListener("blur", () => { cursor = null; untip(); draw(); });
  canvas.addEventListener("dblclick", (ev) => { const p = place(ev); if (p) zoom(0.5, p.x, p.y); });
  canvas.addEventListener("keydown", (ev) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[ev.key];
    if (moves) {
      const top = Math.ceil(all / bin) - 1;
      cursor ??= { x: Math.floor(view.x / bin), y: Math.floor(view.y / bin) };
      cursor.x = Math.max(0, Math.min(top, cursor.x + moves[0]));
      cursor.y = Math.max(0, Math.min(top, cursor.y + moves[1]));
      const see = (v, at) => (at * bin < v ? at * bin : (at + 1) * bin > v + view.n ? Math.min(all - view.n, (at + 1) * bin - view.n) : v);
      view.x = Math.max(0, see(view.x, cursor.x));
      view.y = Math.max(0, see(view.y, cursor.y));
      draw();
      const r = canvas.getBoundingClientRect(), k = side / view.n;
      tip(describe(cursor.x, cursor.y), r.left + margin.left + (cursor.x * bin - view.x + bin) * k, r.top + margin.top + (cursor.y * bin - view.y + bin) * k);
    } else if (ev.key === "+" || ev.key === "=") zoom(0.5, ...(cursor ? [cursor.x * bin, cursor.y * bin] : middle()));
    else if (ev.key === "-") zoom(2, ...middle());
    else if (ev.key === "0" || ev.key === "Escape") { view = { x: 0, y: 0, n: all }; update(); }
    else return;
    ev.preventDefault();
  });
  section("matrix", "Matrix", lead, notes.map((n) => el("p", { className: "notice", textContent: n })),
    el("div", { className: "tools" },
      layers.map((l) => el("label", {}, el("input", { type: "checkbox", checked: on.has(l), onchange: (ev) => {
        if (ev.target.checked) on.add(l);
        else if (on.size > 1) on.delete(l);
        else ev.target.checked = true;
        update();
      } }), l.name)),
      toggles("Measure", [[2, "Bytes"], [1, "Messages"]], measure, (m) => { measure = m; collect(); busiest(); draw(); }),
      el("span", { className: "group", role: "group", "aria-label": "Zoom of the matrix" },
        el("button", { type: "button", id: "matrix-in", textContent: "+", "aria-label": "Zoom in", onclick: () => zoom(0.5, ...middle()) }),
        el("button", { type: "button", textContent: "−", "aria-label": "Zoom out", onclick: () => zoom(2, ...middle()) }),
        el("button", { type: "button", id: "matrix-all", textContent: "All", onclick: () => { view = { x: 0, y: 0, n: all }; update(); } })),
      el("span", { className: "dim", id: "matrix-keys", textContent: "Drag to move; wheel (after a click) or + and − to zoom; arrow keys to read cells." })),
    el("div", { className: "two" }, el("div", { className: "figure" }, canvas, where), pairs));
  update();
  ways.matrix = (from, to) => {
    const n = Math.min(all, 64), clamp = (v) => Math.max(0, Math.min(all - n, v - Math.floor(n / 2)));
    view = { n, x: clamp(to), y: clamp(from) };
    update();
    cursor = { x: Math.floor(to / bin), y: Math.floor(from / bin) };
    draw();
    where.textContent = `${describe(cursor.x, cursor.y).replace("\n", ": ")}. ${where.textContent}`;
  };
  repaints.push(draw);
};
