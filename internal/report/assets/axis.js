// The axis of times: ticks at 1, 2 or 5 times a power of ten, with enough digits to differ.

const units = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

// ticksOf returns the times and labels that fit between two times.
export const ticksOf = (from, to, width) => {
  const [unit, size] = units.findLast(([, s]) => to >= s) || units[0];
  const label = (x, step) => `${(x / size).toFixed(Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9))))} ${unit}`;
  let step = 10 ** Math.floor(Math.log10((to - from) / 20));
  for (let i = 0; i < 40 && ((label(to, step).length * 6.6 + 22) * (to - from)) / step > width; i++) step *= i % 3 === 1 ? 2.5 : 2;
  step = Math.max(1, step);
  const list = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to; n++) list.push([n * step, label(n * step, step)]);
  return { list, step, label: (x) => label(x, step / 10) };
};
