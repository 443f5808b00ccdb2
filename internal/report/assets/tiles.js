// Tiles: what most of a short time went into, and how much of it, at every width in powers of two.

// levelsOf halves tiles again and again. main says of each tile what took most of it, 255 nothing.
export const levelsOf = (main, share, rows) => {
  let tiles = main.length / rows;
  const list = [{ main, share, tiles }];
  while (tiles > 32) {
    const half = Math.ceil(tiles / 2), m = new Uint8Array(half * rows), s = new Uint8Array(half * rows);
    for (let row = 0; row < rows; row++) {
      for (let i = 0; i < half; i++) {
        const a = row * tiles + 2 * i, b = 2 * i + 1 < tiles ? a + 1 : a, to = row * half + i;
        m[to] = share[b] > share[a] ? main[b] : main[a];
        s[to] = Math.min(250, (share[a] + share[b] + 1) >> 1);
      }
    }
    list.push({ main: m, share: s, tiles: half });
    main = m;
    share = s;
    tiles = half;
  }
  return list;
};

// levelFor is the widest level whose tiles are no wider than a pixel.
export const levelFor = (levels, tile, perPixel) => Math.max(0, Math.min(levels.length - 1, Math.floor(Math.log2(Math.max(1, perPixel / tile)))));
