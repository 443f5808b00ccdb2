// Mouse, fingers and wheel on a figure whose horizontal axis is a range.

// handle has a figure move and zoom. at(x) is what lies at a place of the window; set(from, to) shows a range.
export const handle = (canvas, { view, at, width, set, zoom, hover, leave, click, mark }) => {
  let drag = null, pinch = 0;
  const fingers = new Map();
  canvas.addEventListener("wheel", (ev) => {
    if (!(ev.ctrlKey || ev.metaKey || document.activeElement === canvas)) return;
    if (!ev.ctrlKey && !ev.metaKey && ev.altKey) return; // scrolls rows
    ev.preventDefault();
    if (Math.abs(ev.deltaX) > Math.abs(ev.deltaY) || ev.shiftKey) {
      const d = ((ev.deltaX || ev.deltaY) / width()) * (view().to - view().from);
      set(view().from + d, view().to + d);
    } else zoom(Math.exp(Math.max(-1, Math.min(1, ev.deltaY / 400))), at(ev.clientX));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (ev) => {
    fingers.set(ev.pointerId, ev.clientX);
    canvas.focus({ preventScroll: true });
    drag = { x: ev.clientX, y: ev.clientY, ...view(), moved: false, select: ev.shiftKey };
    try { canvas.setPointerCapture(ev.pointerId); } catch { /* not a pointer of this window */ }
  });
  canvas.addEventListener("pointermove", (ev) => {
    if (fingers.has(ev.pointerId)) fingers.set(ev.pointerId, ev.clientX);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], apart = Math.max(8, Math.abs(a - b));
      if (pinch) zoom(pinch / apart, at((a + b) / 2));
      pinch = apart;
      drag = null;
      return;
    }
    if (drag && (drag.moved || Math.abs(ev.clientX - drag.x) > 3)) {
      drag.moved = true;
      leave();
      if (drag.select) return mark(drag.x, ev.clientX);
      const d = ((ev.clientX - drag.x) / width()) * (drag.to - drag.from);
      set(drag.from - d, drag.to - d);
      return;
    }
    hover(ev);
  });
  const up = (ev) => {
    fingers.delete(ev.pointerId);
    pinch = 0;
    if (drag?.moved && drag.select && ev.type === "pointerup") {
      const [a, b] = [at(drag.x), at(ev.clientX)].sort((x, y) => x - y);
      mark(0, 0);
      set(a, b);
    } else if (drag && !drag.moved && ev.type === "pointerup") click(ev);
    drag = null;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", leave);
};
