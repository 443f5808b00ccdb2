// Cells of a heat map: what the pointer or the arrow keys point to.

import { tip, untip } from "./dom.js";

// readable has a canvas tell of its cells. size gives columns, rows, and where they are: left, top, width and the height of a row.
export const readable = (canvas, size, describe, draw) => {
  let cursor = null;
  const to = (x, y) => {
    const s = size(), r = canvas.getBoundingClientRect();
    cursor = { x: Math.max(0, Math.min(s.columns - 1, x)), y: Math.max(0, Math.min(s.rows - 1, y)) };
    draw();
    tip(describe(cursor), r.left + s.left + ((cursor.x + 1) / s.columns) * s.width, r.top + s.top + (cursor.y + 1) * s.row);
  };
  const place = (ev) => {
    const r = canvas.getBoundingClientRect(), s = size();
    const x = Math.floor(((ev.clientX - r.left - s.left) / s.width) * s.columns), y = Math.floor((ev.clientY - r.top - s.top) / s.row);
    return x >= 0 && x < s.columns && y >= 0 && y < s.rows ? { x, y } : null;
  };
  canvas.addEventListener("pointermove", (ev) => { const p = place(ev); if (p) tip(describe(p), ev.clientX, ev.clientY); else untip(); });
  canvas.addEventListener("pointerleave", untip);
  canvas.addEventListener("blur", () => { cursor = null; untip(); draw(); });
  canvas.addEventListener("keydown", (ev) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[ev.key];
    if (!by) return;
    ev.preventDefault();
    if (cursor) to(cursor.x + by[0], cursor.y + by[1]); else to(0, 0);
  });
  return { at: () => cursor, to, forget: () => { cursor = null; } };
};
