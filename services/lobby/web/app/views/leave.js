// Leaving a running game, with its price.
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { goTo } from "../route.js";
import { refusalWords } from "../table/refusals.js";
import { Dialog } from "./dialog.js";

/** @param {{state: import("../table/types.js").TableState, session: import("../table/session.js").TableSession, onClose: () => void}} props */
export function LeaveDialog({ state, session, onClose }) {
  const [price, setPrice] = useState(state.stakeCoins > 0 ? state.stakeCoins + state.feeCoins : 0);
  const [problem, setProblem] = useState("");
  const leave = async () => {
    const answer = await session.send("leave", { confirm_price: price });
    if (answer.type === "ack") return goTo("/");
    if (answer.code === "price_changed") setPrice(answer.price_coins);
    setProblem(refusalWords(answer));
    return undefined;
  };
  return html`<${Dialog} title="Leave the game?" onClose=${onClose}>
    ${
      price > 0
        ? html`<p>
            Leaving now costs <b>${price} coins</b>: the stake of ${state.stakeCoins} stays in the pot, and the fee
            is ${state.feeCoins}. A computer player takes your seat.
          </p>`
        : html`<p>Leaving costs nothing here. A computer player takes your seat.</p>`
    }
    <p class="hint">Just closing the page is not leaving: your seat stays yours${state.clockMs === null ? "" : ", the clock goes on"}.</p>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    <div class="button-row">
      <button type="button" class="danger" data-action="confirm-leave" onClick=${leave}>
        ${price > 0 ? `Leave and pay ${price}` : "Leave"}
      </button>
      <button type="button" class="quiet" onClick=${onClose}>Stay</button>
      <a class="quiet button" href="#/">Home, keep my seat</a>
    </div>
  <//>`;
}
