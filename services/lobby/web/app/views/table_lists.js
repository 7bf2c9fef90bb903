// Lists of tables: those one can join or watch, and one's own games.
import { useEffect, useState } from "preact/hooks";
import * as api from "../api.js";
import { html } from "../html.js";
import { someone } from "../session.js";
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
  return html`<section class="card-box" aria-labelledby="open-title">
    <h2 id="open-title">Open tables</h2>
    ${
      me
        ? html`<${TableList} me=${me} />`
        : html`<p>Tables of others, to join or to watch.</p>
            <button type="button" class="quiet" data-action="guest" onClick=${() => void someone()}>
              Come in as a guest
            </button>`
    }
  </section>`;
}

/** @param {{me: api.Me}} props */
function TableList({ me }) {
  const tables = useFetched(api.tables, me.account_id);
  if (tables === null) return html`<p role="status">One moment…</p>`;
  if (tables.length === 0) return html`<p>No table is open just now: open one yourself.</p>`;
  return html`<ul class="tables">
    ${tables.map((table) => html`<${TableRow} key=${table.table_id} table=${table} me=${me} />`)}
  </ul>`;
}

/** @param {{table: api.TableSummary, me: api.Me}} props */
function TableRow({ table, me }) {
  const mine = table.seats.some((seat) => seat.account_id === me.account_id);
  const free = table.seats.filter((seat) => seat.free).length;
  const joinable = table.phase === "seating" && free > 0 && table.kind !== "coins";
  const action = mine ? "Back to your seat" : joinable ? "Join" : "Watch";
  return html`<li>
    <span>
      <b>${rulesetTitle(table.ruleset)}</b>
      <small>
        ${KINDS[table.kind]}${table.stake_coins ? ` · stake ${table.stake_coins}, leaving costs ${table.leaving_price_coins}` : ""}
        ${table.clock_ms ? ` · ${table.clock_ms / 1000} s a move` : ""} · ${table.host.name ?? "somebody"}’s table ·
        ${seatsWords(table, joinable ? free : 0)}
      </small>
    </span>
    <a class="quiet button" href=${`#/table/${table.table_id}`}>${action}</a>
  </li>`;
}

/** @param {api.TableSummary} table @param {number} free seats that one may take */
function seatsWords(table, free) {
  if (free > 0) return `${free} free`;
  return table.phase === "seating" ? "seats being taken" : "playing";
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
        (game) =>
          html`<li key=${game.table_id}>
            <span>
              <b>${rulesetTitle(game.ruleset)}</b>
              <small
                >${KINDS[game.kind]}${game.stake_coins ? ` · stake ${game.stake_coins}` : ""} ·
                ${resultWords(game, me)}</small
              >
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

/** @param {api.GameSummary} game @param {api.Me} me */
function resultWords(game, me) {
  if (game.phase !== "ended") return "running";
  const seat = game.seats.findIndex((taken) => taken.account_id === me.account_id);
  const own = seat < 0 ? 0 : seat % 2;
  const score = ` ${game.scores[own]} to ${game.scores[1 - own]}`.replaceAll("-", "−");
  const net = game.payouts.find((payout) => payout.account_id === me.account_id)?.net_coins;
  const coins = net === undefined ? "" : ` · ${net > 0 ? "+" : ""}${net} coins`.replaceAll("-", "−");
  if (game.winner === null) return `no winner${coins}`;
  if (seat < 0) return `you left${coins}`;
  return `${game.winner === own ? "won" : "lost"}${score}${coins}`;
}
