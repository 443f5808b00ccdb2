// Where the page comes from spoor report --serve: parts of the run are asked for as they are looked at.

import { data, unpack } from "./data.js";
import { singleOf } from "./single.js";
import { levelsOf } from "./tiles.js";

// partOf asks for a part of the timeline.
export const partOf = async (from, to, rows) => {
  const answer = await fetch(`window?from=${Math.floor(from)}&to=${Math.ceil(to)}`);
  if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
  const p = await answer.json(), wide = (p.to - p.from) / p.tiles;
  const tiles = async (main, share) => ({ from: p.from, tile: wide, levels: levelsOf(await unpack(main), await unpack(share), rows) });
  return { from: p.from, to: p.to, tiles: await tiles(p.main, p.share), waits: p.wait_main ? await tiles(p.wait_main, p.wait_share) : null, single: await singleOf(p.single) };
};

export const live = Boolean(data.live);
