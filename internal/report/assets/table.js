// A table that sorts by its columns and shows the rows that match a filter.

import { el } from "./dom.js";
import { count, plural } from "./format.js";

// table makes one. Columns have a label and text(row); numeric ones a value(row)
// to sort by. The first shown lines are there until more are asked for.
export const table = ({ columns, rows, sort = 0, label, filter, thing = "row", className = "", shown = 30 }) => {
  let by = sort, down = columns[sort].value !== undefined, query = "", limit = shown;
  const body = el("tbody"), more = el("div", { className: "more", hidden: true });
  const heads = columns.map((c, i) =>
    el("th", { scope: "col", className: c.value ? "n" : "" },
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
      const all = columns.map((c) => String(c.text(r))).join(" ").toLowerCase();
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
        el(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : undefined, className: [c.value ? "n" : "", c.wrap ? "wrap" : "", c.code ? "code" : ""].join(" ").trim(), title: c.hover && c.hover(r) },
          c.node ? c.node(r) : String(c.text(r)))))));
    if (list.length === 0) body.append(el("tr", {}, el("td", { colSpan: columns.length, className: "dim", textContent: rows.length ? "Nothing matches the filter." : "Nothing to show." })));
    more.hidden = list.length <= limit;
    more.replaceChildren(`${count(limit)} of ${plural(list.length, thing)} `, el("button", { type: "button", textContent: "Show all", onclick: () => { limit = Infinity; draw(); } }));
    found.textContent = words.length ? `${count(list.length)} of ${plural(rows.length, thing)}` : "";
  };
  const found = el("span", { className: "dim", role: "status" });
  const tools = filter && rows.length > 5 && el("div", { className: "tools" },
    el("input", { type: "search", placeholder: filter, "aria-label": filter, oninput: (ev) => { query = ev.target.value; limit = shown; draw(); } }), found);
  const view = el("div", { className }, tools,
    el("div", { className: "scroll" }, el("table", { "aria-label": label }, el("thead", {}, el("tr", {}, heads)), body), more));
  draw();
  return view;
};
