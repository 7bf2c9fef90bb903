// The stand-alone checker: one file with every module inside, to be opened without a network.

/** What the checker is made of, by the name that modules import it under. @type {[string, string][]} */
const MODULES = [
  ["@noble/hashes/_u64.js", "/vendor/noble/_u64.js"],
  ["@noble/hashes/utils.js", "/vendor/noble/utils.js"],
  ["@noble/hashes/_md.js", "/vendor/noble/_md.js"],
  ["@noble/hashes/sha2.js", "/vendor/noble/sha2.js"],
  ["@noble/hashes/hmac.js", "/vendor/noble/hmac.js"],
  ["app/cards.js", "/app/cards.js"],
  ["app/fair/deal.js", "/app/fair/deal.js"],
  ["app/fair/check.js", "/app/fair/check.js"],
  ["app/fair/verify.js", "/app/fair/verify.js"],
];

/** @returns {Promise<string>} the whole page */
export async function standalonePage() {
  const imports = await Promise.all(
    MODULES.map(async ([name, path]) => {
      const response = await fetch(path);
      if (!response.ok) throw new Error(`${path} could not be fetched`);
      return [name, dataUrl(named(await response.text(), name))];
    }),
  );
  const map = JSON.stringify({ imports: Object.fromEntries(imports) });
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Check a deal of Spades</title>`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">`,
    `<style>${STYLE}</style><script type="importmap">${map}</script></head><body><main>`,
    `<h1>Check a deal of Spades</h1><p>Choose the proof you downloaded. Nothing leaves this page: it needs no network.</p>`,
    `<p><label>Proof <input type="file" accept="application/json,.json" multiple></label></p><div id="results"></div>`,
    `</main><script type="module">import "app/fair/verify.js";</script></body></html>`,
  ].join("\n");
}

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 1em}code{overflow-wrap:anywhere;" +
  "display:block;font-size:.8rem}li{margin:.6em 0}.bad{color:#a8201a}.ok{color:#0d6b3f}";

/** A module from a data: address has no folder: what it imports is named in full. @param {string} source @param {string} name */
function named(source, name) {
  const folder = name.slice(0, name.lastIndexOf("/"));
  return source.replace(/(from\s*["'])(\.[^"']+)(["'])/g, (_, before, path, after) => {
    return `${before}${resolved(folder, path)}${after}`;
  });
}

/** @param {string} folder @param {string} path */
function resolved(folder, path) {
  const parts = folder.split("/");
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** @param {string} source */
function dataUrl(source) {
  const bytes = new TextEncoder().encode(source);
  return `data:text/javascript;base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}
