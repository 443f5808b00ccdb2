// A table that sorts by its columns and shows the rows that match a filter.

import { el } from "./dom.js";
import { count, plural } from "./format.js";

const onPaper = 200; // rows of a table

// siteOf keeps a call site, or the path of a file, on one line: what is cut is the function or the folder, not the file and line.
export const siteOf = (text) => {
  const at = /:\d+\S*$/.test(text) ? text.lastIndexOf(" ") + 1 : text.lastIndexOf("/") + 1 || text.length;
  return el("span", { className: "site", title: text }, el("span", {}, text.slice(0, at)), el("span", {}, text.slice(at)));
};

// pathOf is a call site, and its callers when asked.
const pathOf = (text) => {
  const [site, ...callers] = text.split(" < ");
  if (callers.length === 0) return siteOf(site);
  return el("details", { className: "from" }, el("summary", {}, siteOf(site)), el("ul", {}, callers.map((c) => el("li", {}, siteOf(c)))));
};

// table makes one. Columns have a label and text(row); numeric ones a value(row)
// to sort by; site ones are call sites; extra ones are left out on paper. The first shown lines are there until more are asked for.
export const table = ({ columns, rows, sort = 0, label, filter, thing = "row", className = "", shown = 30 }) => {
  let by = sort, down = columns[sort].value !== undefined, query = "", limit = shown;
  const body = el("tbody"), more = el("div", { className: "more", hidden: true });
  const heads = columns.map((c, i) =>
    el("th", { scope: "col", className: [c.value ? "n" : "", c.extra ? "extra" : ""].join(" ").trim() },
      el("button", { type: "button", title: c.title, onclick: () => {
        if (by === i) down = !down;
        else { by = i; down = c.value !== undefined; }
        draw();
      } }, c.label)));
  const key = (row) => (columns[by].value ? columns[by].value(row) : String(columns[by].text(row)));
  const draw = () => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const list = rows.filter((r) => {
      if (words.length === 0) return true;
      const all = columns.map((c) => String(c.text(r))).join(" ").replaceAll("\u00a0", " ").toLowerCase();
      return words.every((w) => all.includes(w));
    });
    const sign = down ? -1 : 1;
    list.sort((a, b) => {
      const x = key(a), y = key(b);
      return sign * (typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true }));
    });
    heads.forEach((h, i) => (i === by ? h.setAttribute("aria-sort", down ? "descending" : "ascending") : h.removeAttribute("aria-sort")));
    body.replaceChildren(...list.slice(0, limit).map((r) =>
      el("tr", {}, columns.map((c, i) =>
        el(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : undefined, className: [c.value ? "n" : "", c.wrap ? "wrap" : "", c.extra ? "extra" : "", c.code ? "code" : ""].join(" ").trim(), title: c.hover && c.hover(r) },
          c.node ? c.node(r) : c.site ? pathOf(c.text(r)) : String(c.text(r)))))));
    if (list.length === 0) body.append(el("tr", {}, el("td", { colSpan: columns.length, className: "dim", textContent: rows.length ? "Nothing matches the filter." : "Nothing to show." })));
    more.hidden = list.length <= limit;
    more.replaceChildren(`${count(Math.min(limit, list.length))} of ${plural(list.length, thing)} `, el("button", { type: "button", textContent: "Show all", onclick: () => { limit = Infinity; draw(); } }));
    found.textContent = words.length ? `${count(list.length)} of ${plural(rows.length, thing)}` : "";
  };
  const found = el("span", { className: "dim", role: "status" });
  const tools = filter && rows.length > 5 && el("div", { className: "tools" },
    el("input", { type: "search", placeholder: filter, "aria-label": filter, oninput: (ev) => { query = ev.target.value; limit = shown; draw(); } }), found);
  const view = el("div", { className: `table ${className}` }, tools,
    el("div", { className: "scroll" }, el("table", { "aria-label": label }, el("thead", {}, el("tr", {}, heads)), body), more));
  view.onPaper = (yes) => { const keep = limit; if (yes) limit = Math.max(limit, onPaper); draw(); limit = keep; };
  draw();
  return view;
};
