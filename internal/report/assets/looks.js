// Looks: a colour with marks of its own for each kind of thing, so that kinds differ without colour. They
// are pixels, since a timeline paints more of them in a frame than a canvas fills rectangles.

import { colour } from "./dom.js";

const ratioNow = () => Math.max(1, window.devicePixelRatio || 1);

// mark draws what a kind has beside its colour.
const mark = (t, n) => {
  const line = (...p) => { t.beginPath(); for (let i = 0; i < p.length; i += 4) { t.moveTo(p[i], p[i + 1]); t.lineTo(p[i + 2], p[i + 3]); } t.stroke(); };
  if (n === 1) line(-2, 10, 10, -2, -2, 2, 2, -2, 6, 10, 10, 6);
  if (n === 2) for (const [x, y] of [[2, 2], [6, 6]]) { t.beginPath(); t.arc(x, y, 1, 0, 7); t.fill(); }
  if (n === 3) line(-2, -2, 10, 10, -2, 6, 2, 10, 6, -2, 10, 2);
  if (n === 4) line(0, 4, 8, 4, 4, 0, 4, 8);
  if (n === 5) line(4, 0, 4, 8);
  if (n === 6) line(0, 2, 8, 2, 0, 6, 8, 6);
  if (n === 7) line(0, 0, 8, 8);
};

// swatch paints one look of a colour and a mark.
const swatch = (css, n, size) => {
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const t = tile.getContext("2d", { willReadFrequently: true });
  t.scale(size / 8, size / 8);
  t.fillStyle = css;
  t.fillRect(0, 0, 8, 8);
  t.strokeStyle = t.fillStyle = colour("panel");
  t.globalAlpha = 0.5;
  t.lineWidth = 1.2;
  mark(t, n);
  return tile;
};

const pixelsOf = (tile) => new Uint32Array(tile.getContext("2d").getImageData(0, 0, tile.width, tile.height).data.buffer);
const onePixel = (css) => pixelsOf(swatch(css, 0, 1))[0];

// mixed is a part of one colour and the rest of another.
export const mixed = (a, b, part) => {
  const p = Math.round(part * 256), q = 256 - p;
  return (((a & 255) * p + (b & 255) * q) >> 8) | (((((a >>> 8) & 255) * p + ((b >>> 8) & 255) * q) >> 8) << 8) |
    (((((a >>> 16) & 255) * p + ((b >>> 16) & 255) * q) >> 8) << 16) | 0xff000000;
};

// palettes: which colour and mark the n-th kind has.
const palettes = {
  kind: (n) => [colour("c" + n), [1, 2, 0, 3, 4, 5, 6, 7, 4][n] ?? 0],
  wait: (n) => [colour("w" + (n % 8)), [0, 3, 1, 5, 2, 4, 6, 7][n % 8]],
  function: (n) => [colour("f" + (n % 10)), [0, 1, 5, 2][Math.floor(n / 10) % 4]],
};

// looksOf makes the looks of a palette, for the screen and theme as they are now.
export const looksOf = (palette, count) => {
  const size = Math.round(8 * ratioNow()), idle = onePixel(colour("idle"));
  return {
    size, idle, ink: onePixel(colour("panel")),
    list: Array.from({ length: count }, (_, n) => {
      const [css, m] = palettes[palette](n), tile = swatch(css, m, size), pixels = pixelsOf(tile), plain = onePixel(css);
      return { css, tile, pixels, plain, faded: pixels.map((p) => mixed(p, idle, 0.2)), pale: mixed(plain, idle, 0.2) };
    }),
  };
};

// sampleOf is a look for a legend.
export const sampleOf = (look) => {
  const s = document.createElement("canvas"), r = ratioNow();
  s.width = 26 * r;
  s.height = 14 * r;
  s.style.cssText = "width:26px;height:14px";
  s.setAttribute("aria-hidden", "true");
  const g = s.getContext("2d");
  g.fillStyle = look ? g.createPattern(look.tile, "repeat") : colour("idle");
  g.fillRect(0, 0, s.width, s.height);
  return s;
};
