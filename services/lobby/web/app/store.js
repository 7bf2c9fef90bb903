// A value that components watch.
import { useEffect, useState } from "preact/hooks";

/**
 * @template T
 * @typedef {object} Store
 * @property {() => T} get
 * @property {(value: T) => void} set
 * @property {(listener: () => void) => () => void} subscribe
 */

/** @template T @param {T} initial @returns {Store<T>} */
export function createStore(initial) {
  let value = initial;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The store's value; the component renders again when it changes. @template T @param {Store<T>} store @returns {T} */
export function useStore(store) {
  const [, render] = useState(0);
  const shown = store.get();
  useEffect(() => {
    const again = () => render((count) => count + 1);
    // It may have changed between this render and now, when nobody listened yet.
    if (!Object.is(store.get(), shown)) again();
    return store.subscribe(again);
  }, [store]);
  return shown;
}
