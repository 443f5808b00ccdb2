// Ways from one part of the page to another: parts say here how they show something, others ask for it.

import { el } from "./dom.js";

export const ways = {};

const there = (id) => {
  const s = document.getElementById(id);
  s?.scrollIntoView({ block: "start" });
  (s?.querySelector("input[type=search], canvas, table") || s)?.focus?.({ preventScroll: true });
};

// way is a button that leads to a part, null if the part has no way for it.
export const way = (part, text, ...what) =>
  ways[part] ? el("button", { type: "button", className: "way", textContent: text, onclick: () => { there(part); ways[part](...what); } }) : null;

// type puts a text into a field as a reader would.
export const type = (field, text) => {
  if (!field) return;
  field.value = text;
  field.dispatchEvent(new Event("input"));
};
