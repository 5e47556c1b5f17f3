"use strict";
// The state of the page in its address: text, name and choices, compressed, after `#s=`. Data files are not in it.

weir.packed = async (state) => {
  const stream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let letters = "";
  for (const each of bytes) letters += String.fromCharCode(each);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

/** The state of an address; none where it has none, or one that is damaged. */
weir.unpacked = async (hash) => {
  const written = /^#s=([\w-]+)$/.exec(hash)?.[1];
  if (!written) return null;
  try {
    const bytes = weir.bytes(written.replaceAll("-", "+").replaceAll("_", "/"));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const state = JSON.parse(await new Response(stream).text());
    return typeof state.text === "string" && typeof state.name === "string" ? state : null;
  } catch {
    return null;
  }
};

/** SHA-256 of a text in hexadecimal digits; none where the page is not from a safe place, and has none. */
weir.sha256 = async (text) => {
  if (!globalThis.crypto?.subtle) return null;
  const found = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(found), (each) => each.toString(16).padStart(2, "0")).join("");
};
