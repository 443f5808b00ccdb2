// What the visible part of the timeline went into.

import { between } from "./single.js";

// ofCalls adds up calls of rows between two times, exactly: by what of(form, row, call) says, which may be −1.
export const ofCalls = (single, rows, view, of, spent) => {
  const sums = new Map();
  for (const row of rows) {
    const r = single.rows[row];
    if (!r) continue;
    const [first, last] = between(r, view.from, view.to);
    for (let i = first; i < last; i++) {
      const what = of(single.forms[r.form[i]].of, r, i);
      if (what < 0) continue;
      const end = spent ? r.start[i] + spent(r, i) : r.end[i], ns = Math.min(end, view.to) - Math.max(r.start[i], view.from);
      const s = sums.get(what) || { ns: 0, calls: 0 };
      s.ns += Math.max(0, ns);
      s.calls++;
      sums.set(what, s);
    }
  }
  return sums;
};

// ofShares adds up coarse tiles, each function's own.
export const ofShares = (each, functions, allRows, tiles, span, rows, view) => {
  const sums = new Map(), wide = span / tiles;
  const first = Math.max(0, Math.floor(view.from / wide)), last = Math.min(tiles - 1, Math.floor((view.to - 1) / wide));
  for (let f = 0; f < functions; f++) {
    let ns = 0;
    for (const row of rows) {
      const at = (f * allRows + row) * tiles;
      for (let i = first; i <= last; i++) {
        const v = each[at + i];
        if (v) ns += (v / 250) * (Math.min(view.to, (i + 1) * wide) - Math.max(view.from, i * wide));
      }
    }
    if (ns > 0) sums.set(f, { ns, calls: 0 });
  }
  return sums;
};

// ofTiles adds up tiles by what most of each went into.
export const ofTiles = (t, rows, view) => {
  const sums = new Map(), { main, share, tiles } = t.levels[0];
  const first = Math.max(0, Math.floor((view.from - t.from) / t.tile)), last = Math.min(tiles - 1, Math.floor((view.to - 1 - t.from) / t.tile));
  for (const row of rows) {
    for (let i = first; i <= last; i++) {
      const at = row * tiles + i;
      if (main[at] === 255 || !share[at]) continue;
      const s = sums.get(main[at]) || { ns: 0, calls: 0 }, start = t.from + i * t.tile;
      s.ns += (share[at] / 250) * (Math.min(view.to, start + t.tile) - Math.max(view.from, start));
      sums.set(main[at], s);
    }
  }
  return sums;
};
