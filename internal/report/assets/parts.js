// Parts of the run in more detail: iterations that the page has, and where it comes from spoor report --serve what is asked for as it is looked at.

import { data, unpack } from "./data.js";
import { singleOf } from "./single.js";
import { levelsOf } from "./tiles.js";

// drawnFrom reads a part of the timeline.
export const drawnFrom = async (p, rows) => {
  const wide = (p.to - p.from) / p.tiles;
  const tiles = async (main, share) => ({ from: p.from, tile: wide, levels: levelsOf(await unpack(main), await unpack(share), rows) });
  return { from: p.from, to: p.to, tiles: await tiles(p.main, p.share), waits: p.wait_main ? await tiles(p.wait_main, p.wait_share) : null, single: await singleOf(p.single) };
};

// partOf asks for a part of the timeline.
export const partOf = async (from, to, rows) => {
  const answer = await fetch(`window?from=${Math.floor(from)}&to=${Math.ceil(to)}`);
  if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
  return drawnFrom(await answer.json(), rows);
};

export const live = Boolean(data.live);
