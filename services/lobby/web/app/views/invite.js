// Coming in by a friend's link: the code opens the private table, then the table's own page takes over.
import { useEffect, useState } from "preact/hooks";
import { redeemInvite } from "../api.js";
import { html } from "../html.js";
import { goTo } from "../route.js";

/** @param {{tableId: string}} props the path's part behind /invite/ is the code */
export function InvitePage({ tableId: code }) {
  const [refused, setRefused] = useState("");
  useEffect(() => {
    redeemInvite(code).then(
      (table) => goTo(`/table/${table.table_id}`),
      (error) => setRefused(error.code === "rate_limited" ? "Too many codes were wrong. Wait a minute." : NO_TABLE),
    );
  }, [code]);
  return html`<main class="page">
    <p role=${refused ? "alert" : "status"}>${refused || "Opening the table…"}</p>
    ${refused ? html`<p><a href="#/">To the first page</a></p>` : null}
  </main>`;
}

const NO_TABLE = "This link opens no table. Ask your friend for a new one.";
