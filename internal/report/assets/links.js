// Ways from one part of the page to another: parts say here how they show something, others ask for it.

import { el } from "./dom.js";

export const ways = {};

const there = (id) => {
  const s = document.getElementById(id);
  s?.scrollIntoView({ block: "start" });
  (s?.querySelector("input[type=search], canvas, table") || s)?.focus?.({ preventScroll: true });
};

// way is a button that leads to a part, null if the finished page has no such part.
export const way = (part, text, ...what) => {
  if (!ways[part] && document.documentElement.dataset.ready) return null;
  const b = el("button", { type: "button", className: "way", textContent: text, onclick: () => { there(part); ways[part](...what); } });
  b.dataset.to = part;
  return b;
};

// type puts a text into a field as a reader would.
export const type = (field, text) => {
  if (!field) return;
  field.value = text;
  field.dispatchEvent(new Event("input"));
};
