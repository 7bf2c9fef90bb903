// Lists of tables: those one can join or watch, and one's own games.
import { useEffect, useState } from "preact/hooks";
import * as api from "../api.js";
import { html } from "../html.js";
import { rulesetTitle } from "../rules/presets.js";

const REFRESH_MS = 5_000;

/** A list that is asked for again while the page is looked at. @template T @param {() => Promise<T>} ask @param {unknown} key
 * @returns {T | null} */
function useFetched(ask, key) {
  const [value, setValue] = useState(/** @type {T | null} */ (null));
  useEffect(() => {
    let live = true;
    const fetchNow = () => {
      if (document.visibilityState === "hidden") return;
      ask().then(
        (got) => live && setValue(got),
        () => undefined,
      );
    };
    fetchNow();
    const timer = setInterval(fetchNow, REFRESH_MS);
    return () => {
      live = false;
      clearInterval(timer);
    };
  }, [key]);
  return value;
}

/** @param {{me: api.Me | null}} props */
export function OpenTables({ me }) {
  const tables = useFetched(api.tables, me?.account_id);
  return html`<section class="card-box" aria-labelledby="open-title">
    <h2 id="open-title">Open tables</h2>
    ${tables === null ? html`<p role="status">One moment…</p>` : null}
    ${tables?.length === 0 ? html`<p>No table is open just now: open one yourself.</p>` : null}
    <ul class="tables">
      ${tables?.map((table) => html`<${TableRow} key=${table.table_id} table=${table} me=${me} />`)}
    </ul>
  </section>`;
}

/** @param {{table: api.TableSummary, me: api.Me | null}} props */
function TableRow({ table, me }) {
  const mine = table.seats.some((holder) => holder !== null && holder.account_id === me?.account_id);
  const free = table.seats.filter((holder) => !holder).length;
  const joinable = table.phase === "seating" && free > 0 && table.kind !== "coins";
  const price = table.stake_coins + table.fee_coins;
  const action = mine ? "Back to your seat" : joinable ? "Join" : "Watch";
  return html`<li>
    <span>
      <b>${rulesetTitle(table.ruleset)}</b>
      <small>
        ${KINDS[table.kind]}${table.stake_coins ? ` · stake ${table.stake_coins}, leaving costs ${price}` : ""}
        ${table.clock_ms ? ` · ${table.clock_ms / 1000} s a move` : ""} · ${table.names?.[table.host] ?? "somebody"}’s table ·
        ${joinable ? ` ${free} free` : " playing"}
      </small>
    </span>
    <a class="quiet button" href=${`#/table/${table.table_id}`}>${action}</a>
  </li>`;
}

/** @type {Record<string, string>} */
const KINDS = { practice: "Practice", coins: "Coins", online: "Online", private: "Private" };

/** @param {{me: api.Me}} props */
export function MyGames({ me }) {
  const games = useFetched(api.myGames, me.account_id);
  if (!games || games.length === 0) return null;
  return html`<section class="card-box" aria-labelledby="mine-title">
    <h2 id="mine-title">My games</h2>
    <ul class="tables">
      ${games.map(
        (game) => html`<li key=${game.table_id}>
          <span>
            <b>${rulesetTitle(game.ruleset)}</b>
            <small>${KINDS[game.kind]}${game.stake_coins ? ` · stake ${game.stake_coins}` : ""} · ${resultWords(game, me)}</small>
          </span>
          ${
            game.phase === "ended"
              ? html`<a class="quiet button" href=${`#/replay/${game.table_id}`}>Replay</a>`
              : html`<a class="quiet button" href=${`#/table/${game.table_id}`}>Back to the table</a>`
          }
        </li>`,
      )}
    </ul>
  </section>`;
}

/** @param {api.TableSummary} game @param {api.Me} me */
function resultWords(game, me) {
  if (game.phase !== "ended") return "running";
  const seat = game.seats.findIndex((holder) => holder?.account_id === me.account_id);
  const own = seat < 0 ? 0 : seat % 2;
  const score = game.scores ? ` ${game.scores[own]} to ${game.scores[1 - own]}`.replaceAll("-", "−") : "";
  if (game.winner === null || game.winner === undefined) return "no winner";
  if (seat < 0) return `left;${score}`;
  return `${game.winner === own ? "won" : "lost"}${score}`;
}
