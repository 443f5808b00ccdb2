import { data, unpack } from "./data.js";
import { colour, el, none, prepare, repaints, section, tip, untip } from "./dom.js";
import { unfold } from "./graph.js";
import { bytes, count, plural, short, time } from "./format.js";
import { ways } from "./links.js";
import { heat } from "./matrix.js";

const texts = { ns: time, bytes, "": (v) => (v < 10000 ? count(v) : short(v)) };

// spread is what a box plot says of numbers: quartiles, whiskers to the last number within 1.5 boxes, those beyond.
export const spread = (values) => {
  const v = [...values].filter(([, x]) => !Number.isNaN(x)).sort((a, b) => a[1] - b[1]);
  if (v.length === 0) return null;
  const q = (p) => { const at = p * (v.length - 1), i = Math.floor(at); return v[i][1] + (at - i) * ((v[i + 1] || v[i])[1] - v[i][1]); };
  const [q1, mid, q3] = [q(0.25), q(0.5), q(0.75)], reach = 1.5 * (q3 - q1);
  const inside = v.filter(([, x]) => x >= q1 - reach && x <= q3 + reach);
  return { n: v.length, least: v[0], most: v[v.length - 1], q1, mid, q3, low: inside[0][1], high: inside[inside.length - 1][1], beyond: v.filter(([, x]) => x < q1 - reach || x > q3 + reach), mean: v.reduce((a, [, x]) => a + x, 0) / v.length };
};

// boxes draws a box plot of each group of ranks on one scale.
const boxes = (groups, text) => {
  const all = groups.map(([name, v]) => [name, spread(v)]).filter(([, s]) => s), w = Math.max(300, Math.min(1000, innerWidth - 60)), left = groups.length > 1 ? Math.min(w / 2.5, 20 + 7 * Math.max(...groups.map(([name]) => name.length))) : 20, row = 44;
  const least = Math.min(...all.map(([, s]) => s.least[1])), most = Math.max(...all.map(([, s]) => s.most[1])), from = least > 0 && least > most * 0.6 ? least - (most - least) * 0.1 : Math.min(0, least);
  const x = (v) => left + ((v - from) / (most - from || 1)) * (w - left - 40);
  return el("svg", { viewBox: `0 0 ${w} ${all.length * row + 26}`, width: "100%", role: "img", "aria-label": all.map(([name, s]) => `${name}: min ${text(s.least[1])}, quartiles ${text(s.q1)}, ${text(s.mid)}, ${text(s.q3)}, max ${text(s.most[1])} on rank ${s.most[0]}`).join("; ") },
    all.map(([name, s], i) => {
      const y = i * row + 20;
      return el("g", {},
        groups.length > 1 && el("text", { x: left - 12, y: y + 4, "text-anchor": "end" }, name),
        el("line", { class: "axis whisker", x1: x(s.low), x2: x(s.high), y1: y, y2: y }),
        [s.low, s.high].map((v) => el("line", { class: "axis whisker", x1: x(v), x2: x(v), y1: y - 6, y2: y + 6 })),
        el("rect", { class: "box", x: x(s.q1), y: y - 11, width: Math.max(2, x(s.q3) - x(s.q1)), height: 22, rx: 2 }, el("title", {}, `half of the ranks: ${text(s.q1)} to ${text(s.q3)}`)),
        el("line", { class: "median", x1: x(s.mid), x2: x(s.mid), y1: y - 11, y2: y + 11 }),
        s.beyond.slice(-200).map(([rank, v]) => el("rect", { class: "b", x: x(v) - 3, y: y - 3, width: 6, height: 6, rx: 3 }, el("title", {}, `rank ${rank}: ${text(v)}`))));
    }),
    (w < 600 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((p) => { const v = from + p * (most - from); return el("text", { x: x(v), y: all.length * row + 20, "text-anchor": p === 0 ? "start" : p === 1 ? "end" : "middle" }, text(v)); }));
};

// ranks compares them by any number, as boxes, rank by rank, and where they are in the program's own topologies.
export const numbersOfRanks = async () => {
  const list = data.numbers, lead = "One number of each rank. The box is the middle half of the ranks with the median, whiskers end at the last ranks within 1.5 boxes, dots are ranks beyond.";
  if (list.length === 0) return section("ranks", "Ranks", lead, none("No rank left a track."));
  const hosts = new Map(data.flat.per_rank.map((r) => [r.rank, r.host])), grouped = new Set(hosts.values()).size;
  let chosen = list[0], values = [], marked = -1, topology = data.topologies[0];
  const read = async (x) => { const b = await unpack(x.each); return [...new Float32Array(b.buffer, b.byteOffset, b.length / 4)]; };
  const plot = el("div"), canvas = el("canvas", { tabIndex: 0, role: "img", "aria-label": "The number of each rank" }), note = el("p", { className: "dim", role: "status", id: "ranks-note" }), map = el("canvas", { role: "img", tabIndex: 0, id: "topology" }), lead2 = el("p", { className: "dim" });
  const text = (v) => texts[chosen.unit](v);
  const bars = () => {
    const width = Math.max(200, canvas.parentElement.clientWidth - 30), h = 110, g = prepare(canvas, width, h), n = values.length, w = width / n;
    const most = Math.max(...values.filter((v) => !Number.isNaN(v)), 1e-300);
    g.fillStyle = colour("accent");
    for (let x = 0; x < (w < 1 ? width : n); x++) {
      const part = w < 1 ? values.slice(Math.floor(x / w), Math.max(Math.floor(x / w) + 1, Math.floor((x + 1) / w))) : [values[x]];
      const v = Math.max(...part.filter((p) => !Number.isNaN(p)), 0), step = w < 1 ? 1 : w, tall = Math.max(v > 0 ? 1 : 0, (v / most) * (h - 18));
      g.globalAlpha = marked < 0 || (w < 1 ? Math.floor(marked * w) === x : marked === x) ? 1 : 0.4;
      g.fillRect(x * step, h - 16 - tall, Math.max(0.6, step - (step > 3 ? 1 : 0)), tall);
    }
    g.globalAlpha = 1;
    g.fillStyle = colour("soft");
    g.font = "11.5px system-ui, sans-serif";
    const every = Math.max(1, Math.ceil((n * 46) / width));
    for (let r = 0; r < n; r += every) { g.textAlign = r === 0 ? "left" : "center"; g.fillText(r, r === 0 ? 0 : (r + 0.5) * w, h - 3); }
  };
  // gridShape puts cells of a grid: two dimensions as they are, what comes before them as blocks beside each other.
  const gridShape = (room) => {
    const d = topology.dims, cols = d[d.length - 1], rows = d.length > 1 ? d[d.length - 2] : 1, blocks = d.slice(0, -2).reduce((a, b) => a * b, 1);
    const across = Math.max(1, Math.min(blocks, Math.floor(room / (Math.min(cols * 34, room / 2) + 14))));
    const size = Math.max(3, Math.min(44, Math.floor((room / across - 14) / cols), Math.max(22, Math.floor(720 / rows))));
    const at = (i) => { const b = Math.floor(i / (rows * cols)), k = i % (rows * cols); return [(b % across) * (cols * size + 14) + (k % cols) * size, Math.floor(b / across) * (rows * size + 14) + Math.floor(k / cols) * size]; };
    return { size, at, below: cols, width: across * (cols * size + 14), height: Math.ceil(blocks / across) * (rows * size + 14) };
  };
  const graphShape = (room) => {
    const n = topology.ranks.length, width = Math.min(room, 640), size = Math.max(5, Math.min(34, Math.floor(width / (2 * Math.sqrt(n) + 2))));
    topology.places ||= unfold(n, topology.edges);
    const by = width - size - 4;
    return { size, below: 1, width, height: Math.max(...topology.places.map(([, y]) => y)) * by + size + 4, at: (i) => topology.places[i].map((p) => p * by + 2) };
  };
  const shape = () => { const room = Math.max(180, map.parentElement.clientWidth - 30); return topology.edges ? graphShape(room) : gridShape(room); };
  const drawEdges = (g, s) => {
    g.strokeStyle = colour("soft");
    for (const [a, b] of topology.edges) {
      const [x, y] = s.at(a).map((p) => p + s.size / 2), [to, down] = s.at(b).map((p) => p + s.size / 2);
      g.globalAlpha = topology.ranks[a] === marked || topology.ranks[b] === marked ? 1 : 0.35;
      g.beginPath();
      g.moveTo(x, y);
      g.lineTo(to, down);
      g.stroke();
    }
    g.globalAlpha = 1;
  };
  const drawTopology = () => {
    if (!topology) return;
    const s = shape(), g = prepare(map, s.width, s.height), mix = heat();
    const good = values.filter((v) => !Number.isNaN(v)), least = Math.min(...good), most = Math.max(...good);
    g.font = "11px system-ui, sans-serif";
    g.textAlign = "center";
    if (topology.edges) drawEdges(g, s);
    topology.ranks.forEach((r, i) => {
      const [x, y] = s.at(i), v = values[r], p = most > least ? (v - least) / (most - least) : 0;
      g.fillStyle = r < 0 || Number.isNaN(v) ? colour("empty") : mix(p);
      g.fillRect(x, y, s.size - 1, s.size - 1);
      if (r === marked) { g.strokeStyle = colour("ink"); g.lineWidth = 2; g.strokeRect(x + 1, y + 1, s.size - 3, s.size - 3); }
      if (s.size >= 22 && r >= 0) { g.fillStyle = colour(p > 0.5 ? "heat0" : "heat4"); g.fillText(r, x + s.size / 2, y + s.size / 2 + 4); }
    });
    const strongest = `the strongest colour is ${text(most)}`;
    map.setAttribute("aria-label", topology.edges ? `${plural(topology.ranks.length, "rank")} and ${plural(topology.edges.length, "edge")} of the graph between them, ${strongest}` : `${topology.dims.join(" × ")} ranks by their place in the grid, ${strongest}`);
    lead2.textContent = topology.edges ? "The same number, by the program's graph: lines are its edges, ranks that are neighbours are near each other." : "The same number, by coordinates of the Cartesian topology; dimensions before the last two are blocks.";
  };
  const draw = () => { bars(); drawTopology(); };
  const choose = async (x) => {
    chosen = x;
    values = await read(x);
    const pairs = values.map((v, r) => [r, v]), s = spread(pairs);
    const groups = grouped > 1 && grouped <= 24 ? [...new Set(hosts.values())].map((h) => [h, pairs.filter(([r]) => hosts.get(r) === h)]) : [["all ranks", pairs]];
    plot.replaceChildren(s ? boxes(groups, text) : none("The trace does not have this number."));
    const far = s?.beyond.slice().sort((a, b) => Math.abs(b[1] - s.mid) - Math.abs(a[1] - s.mid)).slice(0, 6);
    note.textContent = !s ? "" : `${plural(s.n, "rank")}: mean ${text(s.mean)}, median ${text(s.mid)}, from ${text(s.least[1])} (rank ${s.least[0]}) to ${text(s.most[1])} (rank ${s.most[0]}).` +
      (far.length ? ` Far from the others: ${far.map(([r, v]) => `rank ${r} with ${text(v)}`).join(", ")}.` : "") + (x.guess ? " For some ranks the trace has only the mean of similar ranks." : "");
    draw();
  };
  const pick = el("select", { id: "ranks-number", "aria-label": "Number to compare ranks by", onchange: (ev) => choose(list[ev.target.selectedIndex]) }, list.map((x) => el("option", { textContent: x.name })));
  section("ranks", "Ranks", lead,
    el("div", { className: "tools" }, pick),
    el("div", { className: "figure" }, plot, canvas, note),
    topology && [el("h3", { textContent: "By place in the program's topology" }),
      lead2,
      data.topologies.length > 1 && el("div", { className: "tools" }, el("select", { id: "topologies", "aria-label": "Topology", onchange: (ev) => { topology = data.topologies[ev.target.selectedIndex]; drawTopology(); } }, data.topologies.map((x) => el("option", { textContent: `${x.edges ? `graph of ${plural(x.ranks.length, "rank")}` : x.dims.join(" × ")}, ${x.name}` })))),
      el("div", { className: "figure scrollx" }, map)]);
  await choose(chosen);
  const show = (rank, x, y) => { if (rank >= 0 && rank < values.length) tip(`rank ${rank}${hosts.get(rank) ? `, ${hosts.get(rank)}` : ""}\n${chosen.name}: ${Number.isNaN(values[rank]) ? "not known" : text(values[rank])}`, x, y); else untip(); };
  canvas.addEventListener("pointermove", (ev) => show(Math.floor(((ev.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth) * values.length), ev.clientX, ev.clientY));
  canvas.addEventListener("pointerleave", untip);
  canvas.addEventListener("blur", untip);
  const step = (ev, next, at) => { ev.preventDefault(); marked = Math.max(0, Math.min(values.length - 1, next)); draw(); const [x, y] = at(); show(marked, x, y); };
  canvas.addEventListener("keydown", (ev) => {
    const d = { ArrowLeft: -1, ArrowRight: 1 }[ev.key];
    if (d) step(ev, marked + d, () => { const r = canvas.getBoundingClientRect(); return [r.left + ((marked + 0.5) / values.length) * r.width, r.top]; });
  });
  map.addEventListener("pointermove", (ev) => {
    const s = shape(), b = map.getBoundingClientRect(), i = topology.ranks.findIndex((_, k) => { const [x, y] = s.at(k); return ev.clientX - b.left >= x && ev.clientX - b.left < x + s.size && ev.clientY - b.top >= y && ev.clientY - b.top < y + s.size; });
    show(i < 0 ? -1 : topology.ranks[i], ev.clientX, ev.clientY);
  });
  map.addEventListener("pointerleave", untip);
  map.addEventListener("blur", untip);
  map.addEventListener("keydown", (ev) => {
    const s = shape(), d = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -s.below, ArrowDown: s.below }[ev.key], i = Math.max(0, topology.ranks.indexOf(marked));
    if (d) step(ev, topology.ranks[Math.max(0, Math.min(topology.ranks.length - 1, marked < 0 ? 0 : i + d))], () => { const r = map.getBoundingClientRect(), [x, y] = s.at(topology.ranks.indexOf(marked)); return [r.left + x, r.top + y]; });
  });
  ways.ranks = (rank, number) => {
    marked = rank;
    const i = number === undefined ? -1 : list.findIndex((x) => x.name === number);
    if (i >= 0) { pick.selectedIndex = i; choose(list[i]); } else draw();
  };
  repaints.push(draw);
};
