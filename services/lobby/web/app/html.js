// Markup without a build step: htm's tagged templates over Preact's `h`.
import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
