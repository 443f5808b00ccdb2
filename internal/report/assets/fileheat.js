import { ticksOf } from "./axis.js";
import { readable } from "./cells.js";
import { data, reader, unpack } from "./data.js";
import { colour, el, prepare, repaints, toggles } from "./dom.js";
import { bytes, count, plural, ranks, time } from "./format.js";
import { heat } from "./matrix.js";

// heatRows returns what rows of a heat have: bytes read and written by part of time.
const heatRows = async (h) => {
  const b = reader(await unpack(h.cells)), rows = [];
  while (!b.done()) {
    rows.push([0, 1].map(() => {
      const cells = new Float64Array(h.bins);
      for (let n = b.uvarint(), at = 0; n > 0; n--) { at += b.uvarint(); cells[at] = b.uvarint(); }
      return cells;
    }));
  }
  const n = Math.ceil(h.ranks / h.each);
  return { ranks: rows.slice(0, n).map((cells, i) => ({ name: ranks(i * h.each, h.each, h.ranks), cells })), files: rows.slice(n).map((cells, i) => ({ name: h.files[i] || "(no name)", cells })) };
};

const directions = { both: "read and written", read: "read", written: "written" };

// fileHeat is a heat map of bandwidth: ranks or files down, time across. Colours are logarithmic.
export const fileHeat = async () => {
  if (data.heats.length === 0) return null;
  const all = await Promise.all(data.heats.map(heatRows));
  let chosen = 0, down = "ranks", way = "both";
  const canvas = el("canvas", { tabIndex: 0, id: "file-heat", role: "img" }), note = el("p", { className: "dim", role: "status", id: "file-heat-note" });
  const margin = { left: 150, top: 8, bottom: 22 };
  let width = 600, row = 12, least = 0, most = 0;
  const rows = () => all[chosen][down];
  const value = (r, i) => (way === "written" ? 0 : r.cells[0][i]) + (way === "read" ? 0 : r.cells[1][i]);
  const rate = (b) => `${bytes((b / (data.heats[chosen].ns / data.heats[chosen].bins)) * 1e9)}/s`;
  const short = (s, n) => (s.length > n ? "…" + s.slice(s.length - n + 1) : s);
  const draw = () => {
    const h = data.heats[chosen], list = rows(), mix = heat();
    width = Math.max(160, (canvas.parentElement.clientWidth || 700) - 30);
    margin.left = Math.min(down === "files" ? 190 : 110, width / 3);
    row = Math.max(3, Math.min(26, Math.floor(420 / list.length)));
    const w = width - margin.left, tall = row * list.length, g = prepare(canvas, width, margin.top + tall + margin.bottom);
    least = Infinity; most = 0;
    for (const r of list) for (let i = 0; i < h.bins; i++) { const v = value(r, i); if (v > 0) { least = Math.min(least, v); most = Math.max(most, v); } }
    g.font = "11.5px system-ui, sans-serif";
    g.fillStyle = colour("empty");
    g.fillRect(margin.left, margin.top, w, tall);
    list.forEach((r, k) => {
      for (let i = 0; i < h.bins; i++) {
        const v = value(r, i);
        if (v <= 0) continue;
        g.fillStyle = mix(most > least ? Math.log(v / least) / Math.log(most / least) : 1);
        g.fillRect(margin.left + (i / h.bins) * w, margin.top + k * row, Math.max(1, w / h.bins + 0.4), Math.max(1, row - (row > 6 ? 1 : 0)));
      }
    });
    g.fillStyle = colour("soft");
    g.textAlign = "right";
    const every = Math.ceil(13 / row);
    list.forEach((r, k) => { if (k % every === 0) g.fillText(short(r.name, Math.floor(margin.left / 6.6)), margin.left - 8, margin.top + (k + 0.5) * row + 4); });
    g.textAlign = "center";
    for (const [at, label] of ticksOf(h.from, h.from + h.ns, w).list) {
      const x = margin.left + ((at - h.from) / h.ns) * w;
      if (x + 32 < width) g.fillText(label, x, margin.top + tall + 15);
    }
    const cursor = keys.at();
    if (cursor) {
      g.strokeStyle = colour("ink");
      g.lineWidth = 2;
      g.strokeRect(margin.left + (cursor.x / h.bins) * w, margin.top + cursor.y * row, Math.max(3, w / h.bins), row);
    }
    canvas.dataset.rows = list.length;
    canvas.setAttribute("aria-label", `Heat map of bytes ${directions[way]} a second by ${h.by}, ${down} by time: ${plural(list.length, "row")}, max ${rate(most)}`);
    note.textContent = most > 0
      ? `${directions[way][0].toUpperCase() + directions[way].slice(1)} by ${h.by}: colours are logarithmic, from ${rate(least)} to ${rate(most)} in parts of ${time(h.ns / h.bins)}.`
      : `Nothing was ${directions[way]}.`;
    if (down === "files" && h.more > 0) note.textContent += ` ${plural(h.more, "file")} with fewer bytes are left out.`;
    if (down === "ranks" && h.each > 1) note.textContent += ` ${count(h.each)} ranks share a row.`;
    if (h.kind === "mean") note.textContent += " Each call has the mean time of similar calls, so its start is estimated.";
    else if (h.kind === "histogram") note.textContent += " Times are drawn from histograms, so starts of calls are estimated.";
  };
  const describe = ({ x, y }) => {
    const h = data.heats[chosen], r = rows()[y], one = h.ns / h.bins, part = `${time(h.from + x * one)} to ${time(h.from + (x + 1) * one)}`;
    const say = (k, word) => r.cells[k][x] > 0 && `${word} ${bytes(r.cells[k][x])}, ${rate(r.cells[k][x])}`;
    return [`${r.name}, ${part}`, say(0, "read"), say(1, "written")].filter(Boolean).join("\n") + (r.cells[0][x] + r.cells[1][x] > 0 ? "" : ": nothing");
  };
  const keys = readable(canvas, () => ({ columns: data.heats[chosen].bins, rows: rows().length, left: margin.left, top: margin.top, width: width - margin.left, row }), describe, () => draw());
  repaints.push(draw);
  const choose = (set) => (v) => { set(v); keys.forget(); draw(); };
  return { draw, view: el("div", {}, el("h3", { textContent: "Bandwidth over time" }),
    el("div", { className: "tools" },
      data.heats.length > 1 && toggles("Calls", data.heats.map((h, i) => [i, h.by]), chosen, choose((v) => { chosen = v; })),
      toggles("Rows", [["ranks", "Ranks"], ["files", "Files"]], down, choose((v) => { down = v; })),
      toggles("Direction", [["both", "Both"], ["read", "Read"], ["written", "Written"]], way, choose((v) => { way = v; })),
      el("span", { className: "dim", textContent: "Arrow keys to read cells." })),
    el("div", { className: "figure" }, canvas, note)) };
};
