// What the page shows, as the tool wrote it.

// unpack decompresses a packed text into bytes.
export const unpack = async (text) => {
  const raw = Uint8Array.from(atob(text || ""), (c) => c.charCodeAt(0));
  if (raw.length === 0) return raw;
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

export const data = JSON.parse(new TextDecoder().decode(await unpack(document.getElementById("data").textContent)));

// reader takes numbers from bytes.
export const reader = (b) => {
  let at = 0;
  return {
    done: () => at >= b.length,
    byte: () => b[at++],
    uvarint: () => {
      let v = 0, scale = 1;
      for (;;) {
        const x = b[at++];
        v += (x & 127) * scale;
        if (!(x & 128)) return v;
        scale *= 128;
      }
    },
  };
};
