import { data, unpack } from "./data.js";
import { colour, el, none, prepare, repaints, section, tip, toggles, untip } from "./dom.js";
import { count, percent, plural, time } from "./format.js";
import { ticksOf } from "./axis.js";
import { handle } from "./hand.js";
import { drawnFrom, live, partOf } from "./parts.js";
import { way, ways } from "./links.js";
import { looksOf, sampleOf } from "./looks.js";
import { paintCalls, paintTiles, sheet } from "./paint.js";
import { arrange, lay, lineAt, nameOf } from "./rows.js";
import { about, between, callAt, ofWait, singleOf } from "./single.js";
import { ofCalls, ofShares, ofTiles } from "./stats.js";
import { table } from "./table.js";
import { levelsOf } from "./tiles.js";

const categories = ["point-to-point", "waiting", "collective", "one-sided", "files", "other MPI", "spoor", "not traced", "never returned"];
const own = [6, 7]; // categories that are not MPI

// Bounds of what is drawn call by call.
const manyCalls = 20000, manyLines = 1500;

export const timeline = async () => {
  const t = data.timeline;
  if (!t || t.rows.length === 0) {
    section("timeline", "Timeline", null, none("The trace holds no times of calls."));
    return;
  }
  const [main, share, each, wmain, wshare, ...sums] = await Promise.all([t.main, t.share, t.each, t.waiting?.main, t.waiting?.share, ...(t.counters || []).map((c) => c.sums)].map(unpack));
  const span = t.end_ns - t.start_ns, n = t.rows.length, tile = span / t.tiles, kinds = t.waiting?.names || [];
  const whole = {
    from: 0, to: span, tiles: { from: 0, tile, levels: levelsOf(main, share, n) },
    waits: t.waiting && { from: 0, tile, levels: levelsOf(wmain, wshare, n) }, single: await singleOf(t.single),
  };
  const kept = live ? [] : await Promise.all((t.kept || []).filter((k) => k.window).map((k) => drawnFrom(k.window, n)));
  let part = whole, asked = null; // part is what is drawn from: of spoor report --serve, a part of the run in more detail
  const known = {
    mean: "Times here are approximate: the trace keeps statistics, so each call has the mean time of similar calls. Order and totals are right, single calls may be off.",
    columns: `The trace says when ranks compute, in ${t.columns} parts of the run. Single calls are drawn in order and may be off by such a part.`,
    histogram: "Times here are approximate: each call has a time drawn from the histogram of similar calls. Order, totals and spread are right, single calls may be off.",
    bounded: "Times are those of each call, within the tolerance of the recording.", exact: "Times are those of each call.",
  }[t.columns ? "columns" : t.kind];
  const notes = [
    t.bin > 1 && (t.sampled ? `Every row shows the first of ${t.bin} ranks.` : `${t.bin} ranks share a row.`),
    t.threads && "Threads have rows of their own. A thread's row begins with its rank's: the time of its first call is not recorded.",
    whole.single || (live && t.bin === 1) ? "Zoomed in, single calls are shown, with messages between them." : `The finest tile is ${time(tile)} long.`,
    !whole.single && !live && t.bin === 1 && "spoor report --serve shows single calls of a run as long as this.",
  ].filter(Boolean).join(" ");

  let view = { from: 0, to: span }, found = null, cursor = null, band = null;
  const opts = { threads: true, fit: true, sort: "rank", group: "none", find: "", large: new Set(), counter: -1, colours: "kind", messages: true };
  const inMPI = (r) => r.share.reduce((a, b, c) => a + (own.includes(c) ? 0 : b), 0);
  const waitedIn = t.waiting && t.rows.map((_, row) => { let s = 0; for (let i = row * t.tiles; i < (row + 1) * t.tiles; i++) s += wshare[i]; return s / 250 / t.tiles; });
  const values = { mpi: (i) => inMPI(t.rows[i]), calls: (i) => t.rows[i].calls, outside: (i) => -inMPI(t.rows[i]), ...(waitedIn && { waited: (i) => waitedIn[i] }) };

  const canvas = el("canvas", { tabIndex: 0, role: "img", className: "lanes-canvas", "aria-describedby": "time-keys" });
  const spacer = el("div"), scroller = el("div", { className: "lanes", id: "lanes" }, canvas, spacer);
  const where = el("p", { className: "dim", role: "status", id: "time-where" }), hits = el("span", { className: "dim", role: "status", id: "hits" });
  const statistics = el("div", { id: "time-statistics" }), chosen = el("div", { id: "chosen", className: "chosen", role: "region", "aria-label": "Chosen call", "aria-live": "polite", hidden: true });
  const top = 22;
  let left = 78, width = 900, lines = [], height = 0, low = 0, seen = 0, page = null, looks = null, exact = false;
  const layRows = () => {
    ({ lines, height, low } = lay(arrange(t.rows, { ...opts, values }), { fit: opts.fit, large: opts.large, counter: opts.counter >= 0 }));
  };
  layRows();
  const shownRows = () => lines.filter((l) => l.row !== undefined).map((l) => l.row);
  // brief names a row beside it: a thread below its rank by its number alone.
  const brief = (r) => (r.thread ? `${opts.sort === "rank" && opts.group === "none" ? "" : `${r.first}, `}thread ${r.thread}${r.more ? "…" : ""}` : low < 11 || left < 70 ? `${r.first}${r.last > r.first ? "…" : ""}` : r.last > r.first ? `${r.first}…` : `rank ${r.first}`);
  const category = (f) => t.functions[f].category;
  const lookOf = (f) => (opts.colours === "function" ? f : category(f));
  const newLooks = () => {
    looks = opts.colours === "wait" ? looksOf("wait", kinds.length) : opts.colours === "function" ? looksOf("function", t.functions.length) : looksOf("kind", categories.length);
    looks.rest = looksOf("kind", 6).list[5].pale;
    looks.bar = looksOf("function", 1).list[0].plain;
  };
  newLooks();

  const paint = (l, y0, y1) => {
    const row = l.row, r = part.single?.rows[row];
    if (exact && opts.colours === "wait") {
      paintCalls(page, looks, part.single, row, y0, y1, view, (f, i) => (f < 0 ? -1 : r.waits.get(i)?.[0] ?? -1), (i) => { const w = r.waits.get(i); return w ? w[1] / Math.max(1, r.end[i] - r.start[i]) : 0; }, null);
    } else if (exact) paintCalls(page, looks, part.single, row, y0, y1, view, lookOf, null, found && ((f) => found.has(f)));
    else if (opts.colours === "wait") paintTiles(page, looks, part.waits, row, y0, y1, view, (k) => k, null);
    else {
      paintTiles(page, looks, part.tiles, row, y0, y1, view, lookOf, found && ((f, _, i, tiles) => {
        if (found.has(f) || part !== whole || tiles > t.coarse * 2) return found.has(f);
        const c = Math.floor((i * t.coarse) / tiles);
        for (const g of found) if (each[(g * n + row) * t.coarse + c] > 0) return true;
        return false;
      }));
    }
    if (l.counter) {
      const c = t.counters[opts.counter], list = sums[opts.counter], h = (y1 - y0) * (l.counter / l.h), pixel = looks.bar;
      for (let x = 0; x < page.width; x++) {
        const i = Math.floor(((view.from + ((x + 0.5) / page.width) * (view.to - view.from)) / span) * c.tiles), v = list[row * c.tiles + i];
        if (!v) continue;
        for (let y = Math.max(0, Math.round(y1 + h - 1 - ((v - 1) / 250) * (h - 2))); y < Math.min(page.height, y1 + h); y++) page.pixels[y * page.width + x] = pixel;
      }
    }
  };
  const drawLines = (g, k) => {
    const place = new Map(lines.filter((l) => l.row !== undefined && l.y + l.h > seen && l.y < seen + canvas.clientHeight).map((l) => [l.row, l.y - seen + l.h / 2 + top]));
    const s = part.single, list = [];
    for (let i = 0; i < s.links.length && list.length <= 4 * manyLines; i += 4) {
      const [a, ac, b, bc] = s.links.subarray(i, i + 4), from = s.rows[a].start[ac], to = s.rows[b].end[bc];
      if (Math.max(from, to) >= view.from && Math.min(from, to) <= view.to && place.has(a) && place.has(b)) list.push(from, place.get(a), to, place.get(b));
    }
    if (list.length > 4 * manyLines) return -1;
    g.strokeStyle = g.fillStyle = colour("ink");
    g.globalAlpha = list.length > 800 ? 0.3 : 0.6;
    g.lineWidth = 1;
    g.beginPath();
    for (let i = 0; i < list.length; i += 4) {
      g.moveTo(left + (list[i] - view.from) * k, list[i + 1]);
      g.lineTo(left + (list[i + 2] - view.from) * k, list[i + 3]);
    }
    g.stroke();
    for (let i = 0; i < list.length; i += 4) g.fillRect(left + (list[i + 2] - view.from) * k - 1.5, list[i + 3] - 1.5, 3, 3);
    g.globalAlpha = 1;
    return list.length / 4;
  };
  const nameCalls = (g, k) => {
    g.font = "11px system-ui, sans-serif";
    g.textAlign = "left";
    for (const l of lines) {
      const r = l.row !== undefined && l.h >= 15 && l.y + l.h > seen && l.y < seen + canvas.clientHeight && part.single.rows[l.row];
      if (!r) continue;
      const [first, last] = between(r, view.from, view.to);
      for (let i = first; i < last; i++) {
        const x0 = Math.max(0, (r.start[i] - view.from) * k), x1 = Math.min(width, (r.end[i] - view.from) * k);
        if (x1 - x0 < 46) continue;
        const text = part.single.forms[r.form[i]].name.replace("MPI_", ""), w = g.measureText(text).width;
        if (w + 12 > x1 - x0) continue;
        const y = top + l.y - seen + (l.h - l.gap) / 2;
        g.fillStyle = colour("panel");
        g.globalAlpha = 0.86;
        g.fillRect(left + x0 + 4, y - 7, w + 6, 14);
        g.globalAlpha = 1;
        g.fillStyle = colour("ink");
        g.fillText(text, left + x0 + 7, y + 4);
      }
    }
  };
  const draw = () => {
    const all = scroller.clientWidth || 1000;
    left = all < 520 ? 40 : 78;
    width = Math.max(160, all - left - 4);
    const room = Math.min(height, Math.max(240, Math.round(innerHeight * 0.68) - top));
    scroller.style.maxHeight = `${room + top + 4}px`;
    const g = prepare(canvas, left + width + 2, top + room + 2), ratio = canvas.width / (left + width + 2);
    spacer.style.height = `${height - room}px`;
    seen = Math.max(0, Math.min(height - room, scroller.scrollTop));
    const w = Math.round(width * ratio), h = Math.round(room * ratio), k = width / (view.to - view.from);
    if (!page || page.width !== w || page.height !== h) page = sheet(w, h);
    let visible = 0;
    if (part.single) for (const l of lines) if (l.row !== undefined && l.y + l.h > seen && l.y < seen + room) { const [a, b] = between(part.single.rows[l.row], view.from, view.to); visible += b - a; }
    exact = Boolean(part.single) && visible <= manyCalls && (view.to - view.from) / width < tile * 2;
    page.pixels.fill(0);
    for (const l of lines) {
      if (l.title || l.y + l.h + l.counter <= seen || l.y >= seen + room) continue;
      paint(l, Math.round((l.y - seen) * ratio), Math.round((l.y + l.h - l.gap - seen) * ratio));
    }
    g.putImageData(page.image, Math.round(left * ratio), Math.round(top * ratio));
    const soft = colour("soft"), ticks = ticksOf(view.from, view.to, width);
    g.font = "11.5px system-ui, sans-serif";
    g.textAlign = "center";
    for (const [x, label] of ticks.list) {
      const px = left + (x - view.from) * k, half = g.measureText(label).width / 2;
      g.fillStyle = colour("line");
      g.fillRect(px, 16, 1, 5);
      g.fillStyle = soft;
      if (px > left - 8 + half && px < left + width - half + 2) g.fillText(label, px, 12);
    }
    g.save();
    g.beginPath();
    g.rect(left, top, width, room);
    g.clip();
    const drawn = exact && opts.messages ? drawLines(g, k) : 0;
    if (exact) nameCalls(g, k);
    if (cursor !== null && lines[cursor.line]) {
      g.strokeStyle = colour("ink");
      g.lineWidth = 1.5;
      g.strokeRect(left + (cursor.at - view.from) * k - 1, top + lines[cursor.line].y - seen - 1, 3, lines[cursor.line].h);
    }
    if (band) {
      g.fillStyle = colour("accent");
      g.globalAlpha = 0.25;
      g.fillRect(left + band[0], top, band[1] - band[0], room);
      g.globalAlpha = 1;
    }
    g.restore();
    g.font = "11.5px system-ui, sans-serif";
    let free = -1e9;
    for (const l of lines) {
      const y = top + l.y - seen + Math.max(9, Math.min(l.h, 26) / 2 + 3);
      if (y < top + 4 || y > top + room + 2 || (y < free + 13 && !l.title)) continue;
      free = y;
      g.fillStyle = l.title ? colour("ink") : soft;
      g.textAlign = l.title ? "left" : "right";
      g.fillText(l.title || brief(t.rows[l.row]), l.title ? 4 : left - 8, y);
    }
    const d = canvas.dataset;
    Object.assign(d, { mode: exact ? "calls" : "tiles", from: view.from, to: view.to, rows: shownRows().length, lines: drawn, left, top });
    d.ticks = ticks.list.map(([, l]) => l).join("|");
    where.textContent = `${ticks.label(view.from)} to ${ticks.label(view.to)} of ${time(span)}${exact ? `, single calls${drawn > 0 ? `, ${plural(drawn, "message")}` : drawn < 0 ? "; zoom in for messages" : ""}` : ""}.${asked ? " Loading…" : ""}`;
  };
  let frame = 0, later = 0;
  const redraw = () => {
    if (!frame) frame = requestAnimationFrame(() => { frame = 0; draw(); });
    clearTimeout(later);
    later = setTimeout(settle, 120);
  };
  // settle does what need not be done in every frame.
  const settle = () => {
    summarise();
    canvas.setAttribute("aria-label", `Timeline of ${plural(shownRows().length, "row")} from ${time(view.from)} to ${time(view.to)}; tables of the same below`);
    if (live) load();
  };
  const fits = (p) => view.from >= p.from && view.to <= p.to;
  const load = async () => {
    if (!fits(part)) part = whole;
    const wide = (view.to - view.from) / width, fine = part.single || part.tiles.tile <= wide * 1.01;
    if (fine || asked) return;
    const d = view.to - view.from, from = Math.max(0, view.from - d), to = Math.min(span, view.to + d);
    asked = `${from} ${to}`;
    redraw();
    try {
      const p = await partOf(from, to, n);
      if (fits(p)) part = p;
    } catch (e) {
      hits.textContent = `Not loaded: ${e.message}`;
    }
    asked = null;
    draw();
    summarise();
  };
  const summarise = () => {
    const rows = shownRows(), wait = opts.colours === "wait", d = (view.to - view.from) * rows.reduce((a, r) => a + (t.sampled ? 1 : t.rows[r].last - t.rows[r].first + 1), 0);
    const scale = t.sampled ? 1 : t.bin; // a tile has the part of one rank
    let got, how = "";
    if (exact && wait) got = ofCalls(part.single, rows, view, (f, r, i) => r.waits.get(i)?.[0] ?? -1, (r, i) => r.waits.get(i)[1]);
    else if (exact) got = ofCalls(part.single, rows, view, (f) => f);
    else if (wait) { got = ofTiles(part.waits, rows, view); how = "by the main function of each tile"; }
    else if (part === whole) got = ofShares(each, t.functions.length, n, t.coarse, span, rows, view);
    else { got = ofTiles(part.tiles, rows, view); how = "by the main function of each tile"; }
    const list = [...got].map(([k, s]) => ({ name: wait ? kinds[k] : t.functions[k].name, own: !wait && own.includes(category(k)), ns: s.ns * (exact ? 1 : scale), calls: s.calls })).sort((a, b) => b.ns - a.ns);
    const sum = list.reduce((a, x) => a + x.ns, 0);
    if (!wait) list.push({ name: "outside of MPI", ns: Math.max(0, d - sum), calls: 0 });
    statistics.style.minHeight = `${statistics.offsetHeight}px`; // what is below does not move up
    statistics.replaceChildren(
      el("p", { className: "dim" }, `${plural(rows.length, "row")}, ${time(view.to - view.from)}${how && `; ${how}`}${wait ? `: ${time(sum)} waited, ${percent(d ? sum / d : 0)}` : ""}.`),
      table({
        label: "Time of the visible part", shown: 8, thing: "line", sort: 1, rows: list,
        columns: [
          { label: wait ? "Reason to wait" : "Function", text: (x) => x.name },
          { label: "Time", value: (x) => x.ns, text: (x) => time(x.ns) },
          { label: "Of the time shown", value: (x) => x.ns, text: (x) => percent(d ? x.ns / d : 0), node: (x) => [percent(d ? x.ns / d : 0), " ", el("span", { className: "barbox" }, el("span", { className: "bar", style: `width:${(90 * Math.min(1, x.ns / d)).toFixed(1)}px` }))] },
          ...(exact ? [{ label: "Calls", value: (x) => x.calls, text: (x) => (x.calls ? count(x.calls) : "") }] : []),
        ],
      }));
  };
  const set = (from, to) => {
    const least = whole.single || live || kept.length > 0 ? 200 : tile * 16, d = Math.min(span, Math.max(least, to - from));
    from = Math.max(0, Math.min(span - d, from));
    view = { from, to: from + d };
    if (part !== whole && !fits(part)) part = whole;
    if (part === whole) part = kept.find(fits) || whole;
    redraw();
  };
  const zoom = (by, at) => set(at - (at - view.from) * by, at + (view.to - at) * by);
  const middle = () => (cursor ? cursor.at : (view.from + view.to) / 2);
  const atX = (x) => view.from + ((x - canvas.getBoundingClientRect().left - left) / width) * (view.to - view.from);
  const place = (ev) => {
    const r = canvas.getBoundingClientRect(), x = ev.clientX - r.left - left, y = ev.clientY - r.top - top, line = lineAt(lines, y + seen);
    return { at: atX(ev.clientX), line, label: x < 0 && y >= 0, in: x >= 0 && y >= 0 && x <= width && line?.row !== undefined };
  };
  const describe = (row, at) => {
    const r = t.rows[row], list = [`${nameOf(r)}, ${r.host}, at ${ticksOf(view.from, view.to, width).label(at)}`];
    if (exact) {
      const s = part.single.rows[row], [i, next] = callAt(s, at);
      if (i >= 0) {
        const f = part.single.forms[s.form[i]], w = s.waits.get(i);
        list.push(`${f.name}: ${time(s.end[i] - s.start[i])}`, f.site || "", about(f), w ? ofWait(w, kinds) : "");
      } else if (next < s.start.length) list.push(`outside of MPI for ${time(s.start[next] - (next > 0 ? s.reach[next - 1] : 0))}, before ${part.single.forms[s.form[next]].name}`);
      else list.push("after the last call");
      return list.filter(Boolean).join("\n");
    }
    const p = part.tiles, i = Math.max(0, Math.min(p.levels[0].tiles - 1, Math.floor((at - p.from) / p.tile))), k = row * p.levels[0].tiles + i, f = p.levels[0].main[k];
    list.push(`${percent(p.levels[0].share[k] / 250)} ${r.share.slice(6).some((v) => v > 0) ? "in MPI or spoor" : "in MPI"}${f === 255 ? "" : `, most in ${t.functions[f].name}`}, within ${time(p.tile)}`);
    if (part.waits) {
      const q = part.waits.levels[0], kind = q.main[k];
      if (kind !== 255) list.push(`${percent(q.share[k] / 250)} waiting: ${kinds[kind]}`);
    }
    return list.join("\n");
  };
  // choose pins a call below the figure, with ways to what else the page knows of it.
  const choose = (row, at) => {
    const s = exact && part.single.rows[row], i = s ? callAt(s, at)[0] : -1, f = i >= 0 ? part.single.forms[s.form[i]] : null;
    const rank = t.rows[row].first, buttons = [];
    if (f) {
      if (f.site) buttons.push(way("calls", "All calls from there", f.name, f.site), way("structure", "In the structure", f.name, f.site));
      if (f.peer >= 0 && f.act !== "together" && f.act !== "moves") buttons.push(f.act === "receives" ? way("matrix", `Matrix: ${f.peer} to ${rank}`, f.peer, rank) : way("matrix", `Matrix: ${rank} to ${f.peer}`, rank, f.peer));
      for (let l = 0; l < part.single.links.length; l += 4) {
        const [a, ac, b, bc] = part.single.links.subarray(l, l + 4);
        const other = a === row && ac === i ? [b, bc, "received"] : b === row && bc === i ? [a, ac, "sent"] : null;
        if (other && buttons.length < 10) buttons.push(el("button", { type: "button", className: "way", textContent: `Where it was ${other[2]}: ${nameOf(t.rows[other[0]])}`, onclick: () => { const o = part.single.rows[other[0]], m = (o.start[other[1]] + o.end[other[1]]) / 2, half = (view.to - view.from) / 2; if (m < view.from || m > view.to) set(m - half, m + half); draw(); choose(other[0], m); } }));
      }
    } else {
      const p = part.tiles.levels[0], name = t.functions[p.main[row * p.tiles + Math.floor((at - part.tiles.from) / part.tiles.tile)]]?.name;
      if (name) buttons.push(way("calls", `Calls of ${name}`, name, ""), way("structure", "In the structure", name, ""));
    }
    buttons.push(way("ranks", "Numbers of ranks", rank));
    chosen.hidden = false;
    chosen.replaceChildren(el("p", { className: "pre", textContent: describe(row, at) }), el("div", { className: "tools" }, buttons, el("button", { type: "button", textContent: "Close", onclick: () => { chosen.hidden = true; } })));
  };
  const relay = () => { cursor = null; layRows(); redraw(); };
  const enlarge = (row) => { if (!opts.large.delete(row)) opts.large.add(row); const keep = cursor; layRows(); cursor = keep; redraw(); };
  handle(canvas, {
    view: () => view, at: atX, width: () => width, set, zoom, leave: untip,
    hover: (ev) => { const p = place(ev); if (p.in) tip(describe(p.line.row, p.at), ev.clientX, ev.clientY); else untip(); },
    click: (ev) => { const p = place(ev); if (p.label && p.line?.row !== undefined) enlarge(p.line.row); else if (p.in) choose(p.line.row, p.at); },
    mark: (a, b) => { const r = canvas.getBoundingClientRect().left + left; band = a === b ? null : [Math.min(a, b) - r, Math.max(a, b) - r]; redraw(); },
  });
  canvas.addEventListener("dblclick", (ev) => zoom(0.4, place(ev).at));
  canvas.addEventListener("blur", () => { cursor = null; untip(); redraw(); });
  scroller.addEventListener("scroll", redraw);
  canvas.addEventListener("keydown", (ev) => {
    const wide = view.to - view.from, moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[ev.key];
    if (moves) {
      const order = lines.map((_, i) => i).filter((i) => lines[i].row !== undefined), now = Math.max(0, order.indexOf(cursor?.line ?? order[0]));
      const line = order[Math.max(0, Math.min(order.length - 1, now + (cursor ? moves[1] : 0)))];
      cursor = { line, at: Math.max(0, Math.min(span, (cursor?.at ?? view.from) + (moves[0] * wide) / (ev.shiftKey ? 5 : 50))) };
      if (cursor.at < view.from || cursor.at > view.to) set(cursor.at - wide / 2, cursor.at + wide / 2);
      const l = lines[line], room = canvas.clientHeight - top;
      if (l.y < seen || l.y + l.h > seen + room) scroller.scrollTop = l.y - room / 2;
      draw();
      const r = canvas.getBoundingClientRect();
      tip(describe(l.row, cursor.at), r.left + left + ((cursor.at - view.from) / (view.to - view.from)) * width, r.top + top + l.y - seen + l.h);
    } else if (ev.key === "+" || ev.key === "=") zoom(0.5, middle());
    else if (ev.key === "-") zoom(2, middle());
    else if (ev.key === "0" || ev.key === "Escape") set(0, span);
    else if (ev.key === "Enter" && cursor) choose(lines[cursor.line].row, cursor.at);
    else if (ev.key === "e" && cursor) enlarge(lines[cursor.line].row);
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
    redraw();
  };
  // next moves the view to where found functions are after the middle.
  const next = (to) => {
    if (!found || found.size === 0) return;
    const now = (view.from + view.to) / 2, half = (view.to - view.from) / 2, wide = span / t.coarse;
    for (let c = Math.floor(now / wide) + to; c >= 0 && c < t.coarse; c += to) {
      for (const f of found) {
        for (const row of shownRows()) {
          if (each[(f * n + row) * t.coarse + c] > 0) {
            set((c + 0.5) * wide - half, (c + 0.5) * wide + half);
            return;
          }
        }
      }
    }
    hits.textContent = "No more that way.";
  };
  const legend = el("ul", { className: "legend" });
  const keys = () => {
    newLooks();
    const most = t.functions.map((f, i) => [f, i]).sort(([a], [b]) => b.ns - a.ns).slice(0, 12);
    const items = opts.colours === "wait" ? kinds.map((name, i) => [looks.list[i], name]).filter((_, i) => data.waiting.kinds.some((k) => k.kind === kinds[i])).concat([[null, "not waiting"]])
      : opts.colours === "function" ? [[null, "outside of MPI"], ...most.map(([f, i]) => [looks.list[i], f.name])]
      : [[null, "outside of MPI"], ...categories.map((name, c) => [looks.list[c], name]).filter((_, c) => t.rows.some((r) => r.share[c] > 0))];
    legend.replaceChildren(...items.map(([look, name]) => el("li", {}, sampleOf(look), name)));
  };
  keys();
  const select = (label, id, options, change) => options.length > 1 && el("label", {}, label, el("select", { id, onchange: (ev) => change(options[ev.target.selectedIndex][0]) }, options.map(([, text]) => el("option", { textContent: text }))));
  const used = categories.map((_, c) => c).filter((c) => t.rows.some((r) => r.share[c] > 0));
  const hosts = new Set(t.rows.map((r) => r.host)).size > 1;
  const exactly = (t.kept || []).flatMap((k, i) => [i ? ", " : "", el("button", { type: "button", className: "way", textContent: `iteration ${count(k.iteration)}`, onclick: () => set(k.from, k.to) }), ` (${k.why})`]);
  section("timeline", "Timeline", [known, " ", notes, ...(exactly.length ? [" Drawn exactly as they were: ", ...exactly, "."] : [])],
    el("div", { className: "tools" },
      el("input", { type: "search", id: "time-search", placeholder: "Find a function", "aria-label": "Find a function in the timeline", oninput: (ev) => search(ev.target.value), onkeydown: (ev) => { if (ev.key === "Enter") next(1); } }),
      el("span", { className: "group", role: "group", "aria-label": "Found calls" },
        el("button", { type: "button", textContent: "←", "aria-label": "Previous", onclick: () => next(-1) }),
        el("button", { type: "button", textContent: "→", "aria-label": "Next", onclick: () => next(1) })), hits, el("span", { className: "gap" }),
      el("span", { className: "group", role: "group", "aria-label": "Zoom of the timeline" },
        el("button", { type: "button", id: "time-in", textContent: "+", "aria-label": "Zoom in", onclick: () => zoom(0.5, middle()) }),
        el("button", { type: "button", id: "time-out", textContent: "−", "aria-label": "Zoom out", onclick: () => zoom(2, middle()) }),
        el("button", { type: "button", id: "time-all", textContent: "All", onclick: () => set(0, span) }))),
    el("div", { className: "tools" },
      select("Colours", "time-colours", [["kind", "kind of call"], ["function", "function"], ...(t.waiting ? [["wait", "wait state"]] : [])], (v) => { opts.colours = v; keys(); redraw(); }),
      n > 1 && el("input", { type: "search", id: "time-rows", placeholder: "Rows: 0-3,8 or host", "aria-label": "Rows to show: ranks or a host", oninput: (ev) => { opts.find = ev.target.value; relay(); } }),
      n > 1 && select("Sort", "time-sort", [["rank", "by rank"], ["mpi", "most in MPI"], ["outside", "least in MPI"], ["calls", "most calls"], ...(t.waiting ? [["waited", "most waiting"]] : [])], (v) => { opts.sort = v; relay(); }),
      select("Group", "time-group", [["none", "no groups"], ...(hosts ? [["host", "by host"]] : []), ...(t.threads ? [["thread", "by thread"]] : [])], (v) => { opts.group = v; relay(); }),
      t.counters?.length > 0 && select("Counter", "time-counter", [[-1, "none"], ...t.counters.map((c, i) => [i, c.name])], (v) => { opts.counter = v; relay(); }),
      t.threads && el("label", {}, el("input", { type: "checkbox", id: "time-threads", checked: true, onchange: (ev) => { opts.threads = ev.target.checked; relay(); } }), "all threads"),
      (whole.single || live || kept.length > 0) && el("label", {}, el("input", { type: "checkbox", id: "time-messages", checked: true, onchange: (ev) => { opts.messages = ev.target.checked; redraw(); } }), "messages"),
      n > 20 && toggles("Height of rows", [[true, "Fit"], [false, "Tall"]], true, (v) => { opts.fit = v; relay(); })),
    el("div", { className: "figure" }, scroller, where, legend, chosen,
      el("details", { className: "dim", id: "time-keys" }, el("summary", {}, "How to use it"), el("p", { textContent: "Drag to move, shift-drag to choose a part, wheel (after a click), pinch, or + and − to zoom, 0 for all; arrow keys to read. A click or Enter keeps a call below the figure; a click on a row's name, or e, enlarges the row. The filled height of a row is the share of time in MPI or in spoor." }))),
    el("h3", { textContent: "What is visible" }), statistics,
    el("h3", { textContent: "Time of ranks by kind of call, for the whole run" }),
    table({
      label: "Time of ranks by kind of call", shown: 12, filter: "Filter ranks", thing: "row", sort: 2, rows: t.rows,
      columns: [
        { label: t.bin > 1 ? "Ranks" : "Rank", text: nameOf },
        { label: "Host", text: (r) => r.host },
        { label: "In MPI", value: inMPI, text: (r) => percent(inMPI(r)) },
        ...used.map((c) => ({ label: categories[c], value: (r) => r.share[c], text: (r) => percent(r.share[c]) })),
        { label: "Calls", value: (r) => r.calls, text: (r) => count(r.calls) },
      ],
    }));
  ways.timeline = ({ name = "", rows = "", colours, seen } = {}) => {
    const field = document.getElementById("time-search"), filter = document.getElementById("time-rows"), pick = document.getElementById("time-colours");
    field.value = name;
    if (filter && rows !== "") { filter.value = rows; opts.find = rows; relay(); }
    if (colours && t.waiting && pick) { pick.selectedIndex = 2; opts.colours = colours; keys(); }
    search(name);
    if (seen) set(seen.from, seen.to);
  };
  draw();
  settle();
  repaints.push(() => { keys(); draw(); });
};
