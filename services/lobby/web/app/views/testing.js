// For those who help to test: what to try, what is known, how to report.
import { html } from "../html.js";

export function TestingPage() {
  return html`<main class="page rules">
    <p><a href="#/">Home</a></p>
    <h1>Testing guide</h1>
    <p>Thank you for helping. Play as you would at home, and then try to break it.</p>
    <h2>What to try</h2>
    <ul>
      <li>Play a whole game with each rule set. Is the score what you worked out yourself?</li>
      <li>Tap a card that may not be played. Does the reason make sense?</li>
      <li>Pull the network plug in the middle of a trick, or reload. Is everything as you left it?</li>
      <li>Sit down on your phone while the table is open on your computer.</li>
      <li>Let the clock run out three times, then make a move yourself.</li>
      <li>Leave a coin game. Were you told the price before, and is your balance right after?</li>
      <li>Open the ? menu after a hand and check the deal.</li>
      <li>Play with a friend: say something, mute each other, go away and come back, ask for another game.</li>
      <li>Wait for an online game, look around meanwhile, and see whether you are taken along when it is found.</li>
      <li>Play a hand with the keyboard alone, or with a screen reader.</li>
    </ul>
    <h2>What is known</h2>
    <ul>
      <li>Sounds stay off until you have touched the page once: browsers ask for that.</li>
      <li>Whoever has left a table before its end does not hear that the others play another game.</li>
      <li>In a private window your seed for the deal is lost with the window; the rest of the check still works.</li>
    </ul>
    <h2>How to report</h2>
    <p>
      Say what you did, what you saw and what you expected, and give the table’s id: it stands at the end of the rules
      in the table’s ? menu. With it every move of the game can be looked at again.
    </p>
  </main>`;
}
