import { data } from "./data.js";
import { el, none, section, toggles } from "./dom.js";
import { bytes, count, percent, plural } from "./format.js";

// size names a class of message sizes, in powers of two.
const power = (i) => `${2 ** (i % 10)} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][Math.floor(i / 10)]}`;
const size = (i) => (i === 0 ? "empty" : i === 1 ? "1 B" : `${power(i - 1)} to ${power(i)}`);

export const sizes = () => {
  const layers = data.matrix.filter((l) => l.sizes && l.sizes.length);
  const lead = "Messages by size, in powers of two; the larger size of a class is not part of it. Collectives count one message for each pair of ranks that exchange data.";
  if (layers.length === 0) return section("sizes", "Message sizes", lead, none("The run sent no messages."));
  let layer = layers[0], measure = "messages";
  const figure = el("div", { className: "figure" });
  const draw = () => {
    const list = layer.sizes.map((c, i) => ({ i, v: c[measure], c })).filter((x, k, all) => all.slice(0, k + 1).some((y) => y.v > 0));
    const most = Math.max(1, ...list.map((x) => x.v)), total = list.reduce((a, x) => a + x.v, 0);
    const row = 22, left = 120, width = Math.max(80, Math.min(700, innerWidth - 330)), height = list.length * row + 6;
    const text = (v) => (measure === "bytes" ? bytes(v) : count(v));
    figure.replaceChildren(el("svg", { viewBox: `0 0 ${left + width + 150} ${height}`, width: "100%", role: "img", "aria-label": `${layer.name}: ${measure} by message size` },
      list.map((x, k) => {
        const w = x.v > 0 ? Math.max(1.5, (width * x.v) / most) : 0;
        return el("g", {}, el("title", {}, `${size(x.i)}: ${plural(x.c.messages, "message")}, ${bytes(x.c.bytes)}`),
          el("rect", { x: 0, y: k * row, width: left + width + 150, height: row, fill: "transparent" }),
          el("text", { x: left - 10, y: k * row + 15, "text-anchor": "end" }, size(x.i)),
          el("rect", { class: "b", x: left, y: k * row + 4, width: w, height: row - 8, rx: 2 }),
          x.v > 0 && el("text", { x: left + w + 8, y: k * row + 15 }, `${text(x.v)} · ${percent(x.v / total)}`));
      })));
  };
  draw();
  return section("sizes", "Message sizes", lead,
    el("div", { className: "tools" },
      layers.length > 1 && toggles("Kind of traffic", layers.map((l) => [l, l.name]), layer, (l) => { layer = l; draw(); }),
      toggles("Measure", [["messages", "Messages"], ["bytes", "Bytes"]], measure, (m) => { measure = m; draw(); })),
    figure);
};
