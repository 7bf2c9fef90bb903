// Installs what the page needs from its lock and copies the browser's part of it to vendor/.
//
//   node services/lobby/web/setup.mjs        again at once when nothing changed
//
// Nothing of a third party is committed: vendor/ and node_modules/ are made here and ignored by git.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const MODULES = join(HERE, "node_modules");
const VENDOR = join(HERE, "vendor");
const STAMP = join(VENDOR, ".made-from");

/** From the package to the path below /vendor/, as the import map in index.html names it. */
const FILES = [
  ["preact/dist/preact.mjs", "preact/preact.js"],
  ["preact/hooks/dist/hooks.mjs", "preact/hooks.js"],
  ["htm/dist/htm.module.js", "htm/htm.js"],
  ["@noble/hashes/sha2.js", "noble/sha2.js"],
  ["@noble/hashes/hmac.js", "noble/hmac.js"],
  ["@noble/hashes/utils.js", "noble/utils.js"],
  ["@noble/hashes/_md.js", "noble/_md.js"],
  ["@noble/hashes/_u64.js", "noble/_u64.js"],
];

const LICENSES = ["preact", "htm", "@noble/hashes"];

/** A module without its block comments and source map: half of @noble/hashes is prose. */
function slim(source) {
  return source
    .replace(/^[ \t]*\/\*(?:(?!\*\/)[\s\S])*\*\/[ \t]*\n/gm, "")
    .replace(/^\/\/# sourceMappingURL=.*$/gm, "");
}

/** The command that runs npm: the one that belongs to this node where there is one, else the path's. */
function npm() {
  const own = join(dirname(process.execPath), "..", "lib", "node_modules", "npm", "bin", "npm-cli.js");
  return existsSync(own) ? [process.execPath, own] : ["npm"];
}

function install() {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const [command, ...first] = npm();
  const run = spawnSync(
    command,
    [...first, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: HERE,
      env: { ...process.env, PATH: path },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  if (run.error) throw new Error(`npm could not be started (${run.error.message}); install Node.js with npm`);
  if (run.status !== 0) throw new Error(`npm ci ended with ${run.status}; its own words are above`);
}

function copy() {
  rmSync(VENDOR, { recursive: true, force: true });
  for (const [from, to] of FILES) {
    const target = join(VENDOR, to);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, slim(readFileSync(join(MODULES, from), "utf8")));
  }
  const texts = LICENSES.map((name) => `${name}\n\n${readFileSync(join(MODULES, name, "LICENSE"), "utf8")}`);
  writeFileSync(join(VENDOR, "LICENSES.txt"), texts.join("\n----\n\n"));
}

/** What the result depends on: the lock and this script. */
function source() {
  const hash = createHash("sha256");
  for (const name of ["package-lock.json", "setup.mjs"]) hash.update(readFileSync(join(HERE, name)));
  return hash.digest("hex");
}

try {
  const wanted = source();
  const made = existsSync(STAMP) && existsSync(MODULES) ? readFileSync(STAMP, "utf8") : "";
  if (made !== wanted) {
    install();
    copy();
    writeFileSync(STAMP, wanted);
  }
} catch (error) {
  console.error(`The web page was not set up: ${error.message}`);
  process.exit(1);
}
