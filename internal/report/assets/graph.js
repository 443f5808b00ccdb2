// Where the nodes of a graph are drawn.

// smooth returns n numbers that differ as little as they can along edges, and are none of those before: eigenvectors of
// the graph's Laplacian, by iteration. Two of them unfold a graph, which springs alone leave folded.
const smooth = (n, edges, before) => {
  const degree = new Array(n).fill(0);
  for (const [a, b] of edges) { degree[a]++; degree[b]++; }
  const shift = 2 * Math.max(1, ...degree);
  let v = Array.from({ length: n }, (_, i) => Math.cos((2 * Math.PI * (i + before.length)) / n) + i / n);
  for (let round = 0; round < 400; round++) {
    const w = v.map((x, i) => (shift - degree[i]) * x);
    for (const [a, b] of edges) { w[a] += v[b]; w[b] += v[a]; }
    for (const u of before) { const p = u.reduce((sum, x, i) => sum + x * w[i], 0); u.forEach((x, i) => { w[i] -= p * x; }); }
    const size = Math.hypot(...w) || 1;
    v = w.map((x) => x / size);
  }
  return v;
};

// unfold places the nodes of a graph in a square, the lowest at 0 and the widest at 1, alike each time: smoothly at first, then edges pull and nodes push each other off.
export const unfold = (n, edges) => {
  const none = new Array(n).fill(1 / Math.sqrt(n)), first = smooth(n, edges, [none]), second = smooth(n, edges, [none, first]), ideal = 2 / Math.sqrt(n), rounds = n > 200 ? 60 : 200;
  const at = first.map((x, i) => [x * Math.sqrt(n) + 0.02 * Math.cos(i), second[i] * Math.sqrt(n) + 0.02 * Math.sin(i)]);
  for (let round = 0; round < rounds; round++) {
    const force = at.map(() => [0, 0]), most = 0.2 * (1 - round / rounds);
    const push = (a, b, f) => {
      const dx = at[a][0] - at[b][0], dy = at[a][1] - at[b][1], d = Math.hypot(dx, dy) || 1e-6, by = f(d) / d;
      force[a][0] += dx * by; force[a][1] += dy * by; force[b][0] -= dx * by; force[b][1] -= dy * by;
    };
    for (let a = 0; a < n; a++) for (let b = 0; b < a; b++) push(a, b, (d) => (ideal * ideal) / d);
    for (const [a, b] of edges) if (a !== b) push(a, b, (d) => -(d * d) / (2 * ideal));
    force.forEach(([dx, dy], i) => { const d = Math.hypot(dx, dy) || 1, by = Math.min(d, most) / d; at[i][0] += dx * by; at[i][1] += dy * by; });
  }
  const [low, high] = [Math.min, Math.max].map((most) => [0, 1].map((k) => most(...at.map((p) => p[k])))), size = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
  return at.map((p) => p.map((v, k) => (v - low[k]) / size));
};
