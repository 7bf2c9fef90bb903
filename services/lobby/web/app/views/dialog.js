// A modal dialog: the browser's own, which keeps the focus inside and closes on Escape.
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";

/** @param {{title: string, onClose: () => void, children?: any, wide?: boolean}} props */
export function Dialog({ title, onClose, children, wide }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  // At once: an Escape pressed before the next frame must find it open.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  /** @param {MouseEvent} event */
  const onBackdrop = (event) => {
    if (event.target === ref.current) onClose();
  };
  return html`<dialog
    ref=${ref}
    class=${`dialog${wide ? " is-wide" : ""}`}
    aria-label=${title}
    onCancel=${(/** @type {Event} */ event) => {
      event.preventDefault();
      onClose();
    }}
    onClose=${() => {
      // The browser may close it without asking first, as on a second Escape; what is gone already is no news.
      if (ref.current?.isConnected) onClose();
    }}
    onClick=${onBackdrop}
  >
    <div class="dialog-box">
      <header class="dialog-head">
        <h2>${title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick=${onClose}>✕</button>
      </header>
      <div class="dialog-body" tabindex="0" role="group" aria-label=${title}>${children}</div>
    </div>
  </dialog>`;
}
