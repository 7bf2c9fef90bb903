// The stand-alone checker's page: reads proofs from files and shows each step.
import { checkDeal } from "./check.js";

/** @param {string} name @param {string} text @param {string} [className] */
function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** @param {File} file @returns {Promise<HTMLElement>} */
async function checked(file) {
  const section = element("section", "");
  section.append(element("h2", file.name));
  try {
    const steps = checkDeal(JSON.parse(await file.text()));
    const failed = steps.filter((step) => !step.ok);
    section.append(
      failed.length === 0
        ? element("p", `✓ All ${steps.length} steps agree.`, "ok")
        : element("p", `✗ These differ: ${failed.map((step) => step.name).join(", ")}.`, "bad"),
    );
    const list = element("ol", "");
    for (const step of steps) {
      const item = element("li", `${step.ok ? "✓" : "✗"} ${step.name.replaceAll("_", " ")}`, step.ok ? "ok" : "bad");
      item.append(
        element("code", `published or seen: ${step.shown}`),
        element("code", `computed here: ${step.computed}`),
      );
      list.append(item);
    }
    section.append(list);
  } catch {
    section.append(element("p", "✗ This file is no proof of a deal.", "bad"));
  }
  return section;
}

document.querySelector("input")?.addEventListener("change", async (event) => {
  const files = /** @type {HTMLInputElement} */ (event.target).files ?? [];
  const results = document.getElementById("results");
  results?.replaceChildren(...(await Promise.all(Array.from(files, checked))));
});
