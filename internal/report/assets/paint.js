// Paints rows of a timeline into pixels: tiles where there are many calls, else calls one by one.

import { between } from "./single.js";
import { levelFor } from "./tiles.js";
import { mixed } from "./looks.js";

// sheet is what a frame is painted into.
export const sheet = (width, height) => {
  const image = new ImageData(width, height);
  return { image, pixels: new Uint32Array(image.data.buffer), width, height };
};

// fill paints a look between two columns and two lines; part below 1 fills from below.
const fill = (s, look, looks, faded, x0, x1, y0, y1) => {
  x0 = Math.max(0, x0);
  x1 = Math.min(s.width, x1);
  y0 = Math.max(0, y0);
  y1 = Math.min(s.height, y1);
  const from = faded ? look.faded : look.pixels, n = looks.size;
  for (let y = y0; y < y1; y++) {
    const line = (y % n) * n, to = y * s.width;
    for (let x = x0; x < x1; x++) s.pixels[to + x] = from[line + (x % n)];
  }
};

const flat = (s, pixel, x0, x1, y0, y1) => {
  for (let y = Math.max(0, y0); y < Math.min(s.height, y1); y++) s.pixels.fill(pixel, y * s.width + Math.max(0, x0), y * s.width + Math.max(0, Math.min(s.width, x1)));
};

// paintTiles paints a row by tiles. lookOf returns the look of what a tile has most of, and hit says whether that was searched for.
export const paintTiles = (s, looks, t, row, y0, y1, view, lookOf, hit) => {
  const perPixel = (view.to - view.from) / s.width, level = levelFor(t.levels, t.tile, perPixel);
  const { main, share, tiles } = t.levels[level], wide = t.tile * 2 ** level, h = y1 - y0, thin = h < 5;
  flat(s, looks.idle, 0, s.width, y0, y1);
  for (let x = 0; x < s.width; x++) {
    const i = Math.floor((view.from + (x + 0.5) * perPixel - t.from) / wide);
    if (i < 0 || i >= tiles) continue;
    const at = row * tiles + i, kind = main[at];
    if (kind === 255 || share[at] === 0) continue;
    const look = looks.list[lookOf(kind)], part = share[at] / 250, faded = hit && !hit(kind, row, i, tiles);
    if (thin) {
      const pixel = mixed(faded ? look.pale : look.plain, looks.idle, Math.max(0.12, part));
      for (let y = Math.max(0, y0); y < Math.min(s.height, y1); y++) s.pixels[y * s.width + x] = pixel;
    } else fill(s, look, looks, faded, x, x + 1, y1 - Math.max(1, Math.round(h * part)), y1);
  }
};

// paintCalls paints a row call by call. partOf says how much of a call has the look, from its beginning; the rest is pale.
export const paintCalls = (s, looks, single, row, y0, y1, view, lookOf, partOf, hit) => {
  const r = single.rows[row], k = s.width / (view.to - view.from);
  flat(s, looks.idle, 0, s.width, y0, y1);
  if (!r) return;
  const [first, last] = between(r, view.from, view.to);
  for (let i = first; i < last; i++) {
    const x0 = Math.floor((r.start[i] - view.from) * k), x1 = Math.max(x0 + 1, Math.round((r.end[i] - view.from) * k)), f = single.forms[r.form[i]];
    const faded = hit && !hit(f.of), n = lookOf(f.of, i), part = partOf ? partOf(i) : 1;
    if (part < 1) flat(s, looks.rest, x0, x1, y0, y1);
    if (n >= 0 && part > 0) fill(s, looks.list[n], looks, faded, x0, Math.max(x0 + 1, Math.round(x0 + (x1 - x0) * part)), y0, y1);
    if (x1 - x0 > 3 && x0 >= 0) flat(s, looks.ink, x0, x0 + 1, y0, y1); // where one ends and the next begins
  }
};
