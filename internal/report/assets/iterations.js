import { readable } from "./cells.js";
import { data, reader, unpack } from "./data.js";
import { colour, el, prepare, repaints, section, toggles } from "./dom.js";
import { count, plural, ranks, time } from "./format.js";
import { ways } from "./links.js";
import { heat } from "./matrix.js";

const states = ["computing", "waiting", "in calls of files", "in the recorder or untraced", "ready without a processor", "in MPI"];

// iterations is a heat map of what ranks did in the iterations of the run's loop: ranks down, iterations across.
export const iterations = async () => {
  const d = data.iterations;
  if (!d) return;
  const b = reader(await unpack(d.cells)), n = d.widths.length;
  const rows = d.rows.map(([first, all]) => ({ name: ranks(first, all, data.summary.ranks), cells: states.map(() => new Float64Array(n)) }));
  for (const r of rows) for (let i = 0; i < n; i++) for (const s of r.cells) s[i] = b.uvarint();
  const highest = new Map(d.highest.map((h) => [h.column, h]));
  let state = 0;
  const canvas = el("canvas", { tabIndex: 0, id: "iteration-heat", role: "img" }), note = el("p", { className: "dim", role: "status", id: "iteration-note" });
  const margin = { left: 110, top: 8, bottom: 22 };
  let width = 600, row = 12;
  const which = (x) => {
    if (d.parts > 1) return `iteration ${count(Math.floor(x / d.parts))}, part ${(x % d.parts) + 1} of ${d.parts}`;
    const last = Math.min((x + 1) * d.each, d.count) - 1;
    return last > x * d.each ? `iterations ${count(x * d.each)} to ${count(last)}` : `iteration ${count(last)}`;
  };
  // Single iterations may be far longer than all others: the scale ends where nearly all cells are.
  const scale = () => {
    const all = Float64Array.from(rows.flatMap((r) => [...r.cells[state]])).sort();
    return all[Math.floor((all.length - 1) * 0.98)] || all[all.length - 1] || 0;
  };
  const draw = () => {
    const most = scale(), mix = heat();
    width = Math.max(160, (canvas.parentElement.clientWidth || 700) - 30);
    margin.left = Math.min(110, width / 3);
    row = Math.max(3, Math.min(26, Math.floor(420 / rows.length)));
    const w = width - margin.left, tall = row * rows.length, g = prepare(canvas, width, margin.top + tall + margin.bottom);
    g.font = "11.5px system-ui, sans-serif";
    g.fillStyle = colour("empty");
    g.fillRect(margin.left, margin.top, w, tall);
    rows.forEach((r, k) => {
      for (let i = 0; i < n; i++) {
        const v = r.cells[state][i];
        if (v <= 0) continue;
        g.fillStyle = mix(most > 0 ? Math.min(1, v / most) : 1);
        g.fillRect(margin.left + (i / n) * w, margin.top + k * row, Math.max(1, w / n + 0.4), Math.max(1, row - (row > 6 ? 1 : 0)));
      }
    });
    g.fillStyle = colour("soft");
    g.textAlign = "right";
    const every = Math.ceil(13 / row);
    rows.forEach((r, k) => { if (k % every === 0) g.fillText(r.name, margin.left - 8, margin.top + (k + 0.5) * row + 4); });
    g.textAlign = "center";
    const step = [1, 2, 5].flatMap((f) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((p) => f * 10 ** p)).sort((x, y) => x - y).find((s) => (s / d.count) * w > 50) || d.count;
    for (let i = 0; i < d.count; i += step) {
      const x = margin.left + (d.parts > 1 ? (i * d.parts) / n : i / d.each / n) * w;
      if (x + 20 < width) g.fillText(count(i), x, margin.top + tall + 15);
    }
    const cursor = keys.at();
    if (cursor) {
      g.strokeStyle = colour("ink");
      g.lineWidth = 2;
      g.strokeRect(margin.left + (cursor.x / n) * w, margin.top + cursor.y * row, Math.max(3, w / n), row);
    }
    canvas.dataset.rows = rows.length;
    canvas.setAttribute("aria-label", `Heat map of time ${states[state]}, ranks by iteration: ${plural(rows.length, "row")}, ${count(d.count)} iterations`);
    note.textContent = `Colours go from 0 to ${time(most)} a column; longer times have the darkest. Times of cells are within about ${time(d.level)}.`;
    if (d.each > 1) note.textContent += ` ${count(d.each)} iterations share a column.`;
  };
  const describe = ({ x, y }) => {
    const r = rows[y], h = highest.get(x);
    return [`${r.name}, ${which(x)}`, ...states.map((s, i) => r.cells[i][x] > 0 && `${time(r.cells[i][x])} ${s}`), h && `rank ${h.rank} computes ${time(h.ns)} longer than its row`].filter(Boolean).join("\n");
  };
  const keys = readable(canvas, () => ({ columns: n, rows: rows.length, left: margin.left, top: margin.top, width: width - margin.left, row }), describe, () => draw());
  repaints.push(draw);
  section("iterations", "Iterations", `What ranks did in the ${plural(d.count, "iteration")} of the loop that begins with ${d.begins}.`,
    el("div", { className: "tools" },
      toggles("Time", [[0, "Computing"], [1, "Waiting"], [5, "In MPI"], [4, "No processor"]], state, (v) => { state = v; keys.forget(); draw(); }),
      el("span", { className: "dim", textContent: "Arrow keys to read cells." })),
    el("div", { className: "figure" }, canvas, note));
  ways.iterations = (seen) => { if (seen) keys.to(seen.column, seen.row); };
  draw();
};
