// The rows of the timeline: which are shown, in which order, and how high each is.

// rankSet reads ranks as people write them: 0-3,8. It is null if a text is something else.
export const rankSet = (text) => {
  if (!/^[\d\s,:-]+$/.test(text)) return null;
  const ranges = text.split(/[\s,]+/).filter(Boolean).map((p) => p.split(/[-:]/).map(Number));
  return (first, last) => ranges.some(([a, b = a]) => first <= b && last >= a);
};

export const nameOf = (r) => (r.last > r.first ? `ranks ${r.first} to ${r.last}` : `rank ${r.first}`) + (r.more ? `, threads from ${r.thread} on` : r.thread ? `, thread ${r.thread}${r.of ? ` (${r.of})` : ""}` : "");

// arrange chooses and orders rows: a list of row numbers and, before some of them, titles of groups.
export const arrange = (rows, { threads, find, sort, group, values }) => {
  const text = find.trim().toLowerCase(), set = text && rankSet(text);
  let list = rows.map((_, i) => i).filter((i) => {
    const r = rows[i];
    if (!threads && r.thread) return false;
    if (!text) return true;
    return set ? set(r.first, r.last) : `${nameOf(r)} ${r.host}`.toLowerCase().includes(text);
  });
  if (values[sort]) list.sort((a, b) => values[sort](b) - values[sort](a));
  if (group === "none") return list.map((row) => ({ row }));
  const groups = new Map();
  for (const i of list) {
    const name = group === "host" ? rows[i].host : rows[i].thread ? `threads ${rows[i].thread}` : "first threads";
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push({ row: i });
  }
  return [...groups].flatMap(([title, members]) => [{ title: `${title}: ${members.length}` }, ...members]);
};

// lay gives each line its place; enlarged rows are higher, and each row has one for a counter if there is one.
export const lay = (lines, { fit, large, counter, room = 430 }) => {
  const n = lines.filter((l) => l.row !== undefined).length || 1;
  let h = Math.max(counter ? 6 : 2, Math.min(26, Math.floor(room / (n * (counter ? 2 : 1)))));
  if (!fit) h = Math.max(18, h);
  let y = 0;
  for (const l of lines) {
    l.y = y;
    l.h = l.title ? 18 : large.has(l.row) ? Math.max(54, 3 * h) : h;
    l.gap = l.h > 6 ? 2 : l.h > 3 ? 1 : 0;
    l.counter = counter && !l.title ? Math.max(4, l.h) : 0;
    y += l.h + l.counter;
  }
  return { lines, height: y, low: h };
};

// lineAt is the line at a height.
export const lineAt = (lines, y) => {
  let a = 0, b = lines.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (lines[m].y + lines[m].h + lines[m].counter <= y) a = m + 1;
    else b = m;
  }
  return lines[a];
};
