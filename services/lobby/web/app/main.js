// The page's beginning: who is here, which page, and the frame around it.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { html } from "./html.js";
import { prefs, showPrefs } from "./prefs.js";
import { followHash, route } from "./route.js";
import { findOut, me, someone } from "./session.js";
import { useStore } from "./store.js";
import { HomePage } from "./views/home.js";
import { LazyPage } from "./views/lazy.js";
import { GameFound } from "./views/queue.js";

/** Pages beyond home, each loaded when it is first opened. @type {[RegExp, () => Promise<any>, string][]} */
const PAGES = [
  [/^\/table\/([^/]+)$/, () => import("./views/table.js"), "TablePage"],
  [/^\/invite\/([^/]+)$/, () => import("./views/invite.js"), "InvitePage"],
  [/^\/replay\/([^/]+)$/, () => import("./views/replay.js"), "ReplayPage"],
  [/^\/rules(?:\/([a-z]+))?$/, () => import("./views/rules.js"), "RulesPage"],
  [/^\/(statistics)$/, () => import("./views/statistics.js"), "StatisticsPage"],
  [/^\/(testing)$/, () => import("./views/testing.js"), "TestingPage"],
];

function App() {
  const path = useStore(route);
  const who = useStore(me);
  useStore(prefs);
  showPrefs();
  // A link to a table works for a stranger too: they come as a guest.
  const needsSomeone = ["/table/", "/invite/", "/replay/"].some((start) => path.startsWith(start));
  useEffect(() => {
    if (needsSomeone && who === null) void someone();
  }, [needsSomeone, who]);
  return html`
    <div id="live" class="sr-only" role="log" aria-live="polite" aria-relevant="additions"></div>
    <${GameFound} />
    <${Page} path=${path} who=${who} needsSomeone=${needsSomeone} />
  `;
}

/** @param {{path: string, who: import("./api.js").Me | null | undefined, needsSomeone: boolean}} props */
function Page({ path, who, needsSomeone }) {
  if (who === undefined || (needsSomeone && who === null)) {
    return html`<main class="page"><p role="status">One moment…</p></main>`;
  }
  for (const [pattern, load, name] of PAGES) {
    const found = pattern.exec(path);
    if (found) {
      const id = decodeURIComponent(found[1] ?? "");
      return html`<${LazyPage} key=${name + id} load=${load} name=${name} tableId=${id} me=${who} />`;
    }
  }
  return html`<${HomePage} me=${who} />`;
}

followHash();
showPrefs();
const root = document.getElementById("app");
if (root) render(html`<${App} />`, root);
findOut().catch(() => me.set(null));
