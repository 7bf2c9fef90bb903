// Choosing a rule set and what it lets the host choose.
import { html } from "../html.js";
import { OPTION_WORDS, presetOf, PRESETS, settled } from "../rules/presets.js";

/** @param {{ruleset: import("../table/types.js").Ruleset, onChange: (ruleset: import("../table/types.js").Ruleset) => void}} props */
export function RulesetPicker({ ruleset, onChange }) {
  const preset = presetOf(ruleset.name);
  /** @param {string} option @param {number | boolean} value */
  const choose = (option, value) => {
    const options = { ...ruleset.options, [option]: value };
    onChange({ name: ruleset.name, options: settled(ruleset.name, options) });
  };
  return html`<fieldset class="ruleset">
    <legend>Rules</legend>
    <div class="ruleset-names">
      ${PRESETS.map(
        ({ name, title }) =>
          html`<label key=${name} class=${name === ruleset.name ? "is-picked" : ""}>
            <input
              type="radio"
              name="ruleset"
              value=${name}
              checked=${name === ruleset.name}
              onChange=${() => onChange({ name, options: {} })}
            />
            ${title}
          </label>`,
      )}
    </div>
    <p class="hint">${preset.blurb} <a href=${`#/rules/${preset.name}`}>All its rules</a></p>
    <div class="ruleset-options">
      ${Object.entries(preset.menu).map(([option, values]) => {
        const value = ruleset.options[option] ?? values[0];
        if (typeof values[0] === "boolean") {
          // There is no swap without Blind Nil.
          if (option === "swap" && !ruleset.options.blind_nil) return null;
          return html`<label class="switch" key=${option}>
            <input
              type="checkbox"
              name=${option}
              checked=${value === true}
              onChange=${(/** @type {any} */ event) => choose(option, event.target.checked)}
            />
            <span>${OPTION_WORDS[option]}</span>
          </label>`;
        }
        return html`<label key=${option}>
          ${OPTION_WORDS[option]}
          <select
            name=${option}
            value=${value}
            onChange=${(/** @type {any} */ event) => choose(option, Number(event.target.value))}
          >
            ${values
              // 250 goes with the older Nil of 50.
              .filter((choice) => choice !== 250 || ruleset.options.nil === 50)
              .map((choice) => html`<option key=${choice} value=${choice}>${choice}</option>`)}
          </select>
        </label>`;
      })}
    </div>
  </fieldset>`;
}
