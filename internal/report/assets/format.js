// Numbers as a person reads them: three digits, and a unit.

const digits = (v) => (v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2)).replace(/\.0+$|(\.\d*[1-9])0+$/, "$1");

const steps = (v, by, units) => {
  let i = 0;
  while (v >= by * 0.9995 && i < units.length - 1) {
    v /= by;
    i++;
  }
  return i === 0 ? `${digits(v)}${units[0] && " " + units[0]}` : `${digits(v)} ${units[i]}`;
};

export const count = (n) => Math.round(n).toLocaleString("en-US");
export const short = (n) => steps(n, 1000, ["", "k", "M", "G", "T"]);
export const bytes = (n) => steps(n, 1000, ["B", "KB", "MB", "GB", "TB", "PB"]);
export const percent = (x) => (x >= 0.9995 ? "100 %" : x > 0 && x < 0.0005 ? "< 0.1 %" : `${(100 * x).toFixed(1)} %`);

export const time = (ns) => {
  if (ns < 0) return "−" + time(-ns);
  if (ns >= 600e9) return `${Math.floor(ns / 60e9)} min ${Math.round((ns % 60e9) / 1e9)} s`;
  return steps(ns, 1000, ["ns", "µs", "ms", "s"]);
};

export const plural = (n, thing) => `${count(n)} ${thing}${n === 1 ? "" : /(s|ch)$/.test(thing) ? "es" : "s"}`;

// ranks names the ranks of a row.
export const ranks = (first, bin, all) => {
  const last = Math.min(first + bin, all) - 1;
  return last > first ? `ranks ${first} to ${last}` : `rank ${first}`;
};

export const ratio = (x) => `${x.toFixed(2)} ×`;

// share is one that is known between two bounds.
export const share = (s) => {
  const off = (s.high - s.low) / 2;
  return off <= 0.02 || off <= Math.min(s.value, 1 - s.value) / 4 ? percent(s.value) : `${percent(s.low)} to ${percent(s.high)}`;
};
