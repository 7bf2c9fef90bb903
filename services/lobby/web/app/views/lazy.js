// A page whose module is loaded when it is first shown.
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";

/** A part of a page whose module is loaded when it is first shown.
 * @param {{load: () => Promise<any>, name: string} & Record<string, any>} props */
export function LazyPart({ load, name, ...props }) {
  const [part, setPart] = useState(/** @type {{View: any} | null} */ (null));
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (module) => setPart({ View: module[name] }),
      () => setFailed(true),
    );
  }, [name]);
  if (failed) return html`<p role="alert">This part could not be loaded: close it and try again.</p>`;
  if (!part) return html`<p role="status">One moment…</p>`;
  return html`<${part.View} ...${props} />`;
}

/** @param {{load: () => Promise<any>, name: string, tableId: string, me: any}} props */
export function LazyPage({ load, name, ...props }) {
  const [page, setPage] = useState(/** @type {{View: any} | null} */ (null));
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (module) => setPage({ View: module[name] }),
      () => setFailed(true),
    );
  }, [name]);
  if (failed)
    return html`<main class="page">
      <p role="alert">This page could not be loaded. <a href="">Try again</a></p>
    </main>`;
  if (!page) return html`<main class="page"><p role="status">One moment…</p></main>`;
  return html`<${page.View} ...${props} />`;
}
