// Calls one by one, as the tool packs them, and what there is to say of one.

import { data, reader, unpack } from "./data.js";
import { bytes, time } from "./format.js";

const signed = (v) => (v % 2 ? -(v + 1) / 2 : v / 2);
const acts = ["", "sends", "receives", "exchanges", "together", "completes", "reaches", "moves"];

// singleOf reads the calls of a part of the run.
export const singleOf = async (s) => {
  if (!s) return null;
  const [calls, forms, links, waits] = await Promise.all([s.calls, s.forms, s.links, s.waits].map(unpack));
  const b = reader(calls), rows = [];
  while (!b.done()) {
    const n = b.uvarint(), start = new Float64Array(n), end = new Float64Array(n), form = new Uint16Array(n), reach = new Float64Array(n);
    for (let i = 0; i < n; i++) start[i] = signed(b.uvarint());
    for (let i = 0, at = s.from; i < n; i++) {
      start[i] += at;
      at = end[i] = start[i] + b.uvarint();
      reach[i] = i > 0 ? Math.max(reach[i - 1], at) : at;
    }
    for (let i = 0; i < n; i++) form[i] = b.uvarint();
    rows.push({ start, end, form, reach, waits: new Map() });
  }
  const list = [];
  for (const f = reader(forms); !f.done();) {
    const [name, site, comm, file, act, peer, other, tag, out, into, completed, state] = Array.from({ length: 12 }, () => f.uvarint());
    list.push({
      name: s.names[name] || data.timeline.functions[s.of[name]].name, of: s.of[name], site: s.sites[site - 1], comm: s.comms[comm - 1], file: s.files[file - 1], act: acts[act],
      peer: peer - 1, other: other - 1, tag: signed(tag), out, into, completed, state,
    });
  }
  const pairs = [];
  for (let l = reader(links), row = 0; !l.done();) {
    const fromRow = l.uvarint(), fromCall = l.uvarint();
    row += l.uvarint();
    pairs.push(fromRow, fromCall, row, l.uvarint());
  }
  for (let w = reader(waits), row = 0; !w.done();) {
    row += w.uvarint();
    rows[row].waits.set(w.uvarint(), [w.uvarint(), w.uvarint(), w.uvarint()]);
  }
  return { from: s.from, to: s.to, rows, forms: list, links: new Int32Array(pairs) };
};

// firstBy is the first of a rising list that is no less than a number.
export const firstBy = (list, v) => {
  let a = 0, b = list.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (list[m] < v) a = m + 1;
    else b = m;
  }
  return a;
};

// between are the calls of a row that were under way between two times.
export const between = (row, from, to) => [firstBy(row.reach, from), firstBy(row.start, to)];

// callAt is the call that a row is in at a time, else −1 and the next one.
export const callAt = (row, at) => {
  const next = firstBy(row.start, at + 0.5);
  for (let i = next - 1; i >= Math.max(0, next - 64); i--) if (row.end[i] >= at) return [i, next];
  return [-1, next];
};

// about says what calls of a form do.
export const about = (f) => {
  const who = (r) => (r >= 0 ? `rank ${r}` : "any rank or several"), amount = f.out && f.into ? `${bytes(f.out)} out, ${bytes(f.into)} in` : bytes(f.out || f.into);
  const first = {
    sends: `to ${who(f.peer)}, tag ${f.tag}, ${amount}`, receives: `from ${who(f.peer)}, ${f.tag < 0 ? "any tag" : `tag ${f.tag}`}, ${amount}`,
    exchanges: `to ${who(f.peer)} and from ${who(f.other)}, tag ${f.tag}, ${amount}`, together: (f.peer >= 0 ? `root: rank ${f.peer}, ` : "") + amount,
    completes: `completes ${f.completed === 1 ? "one operation" : `${f.completed} operations`}${f.other >= 0 ? ` with rank ${f.other}, tag ${f.tag}` : ""}${f.into ? `, ${bytes(f.into)} came in` : ""}`,
    reaches: `memory of ${who(f.peer)}, ${amount}`, moves: `${f.file}${f.out || f.into ? `, ${amount}` : ""}`,
  }[f.act];
  return [first, f.comm, f.state === 1 && "never returned", f.state === 2 && "left by the program"].filter(Boolean).join("\n");
};

// ofWait says what a call waited.
export const ofWait = (w, kinds) => `waited ${time(w[1])} for rank ${w[2]}: ${kinds[w[0]]}`;
