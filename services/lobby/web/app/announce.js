// The live region: words for those who hear the page.

const KEPT_MAX = 4;

/** What was said of a page one has left is not found on the next one. */
export const hush = () => document.getElementById("live")?.replaceChildren();

/** A message is read once it is in the region; old ones go, so that nothing is read twice. @param {string} words */
export function announce(words) {
  const region = document.getElementById("live");
  if (!region) return;
  const line = document.createElement("p");
  line.textContent = words;
  region.append(line);
  while (region.children.length > KEPT_MAX) region.firstElementChild?.remove();
}
