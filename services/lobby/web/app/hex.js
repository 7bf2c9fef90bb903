/** @param {Uint8Array} bytes @returns {string} lower-case hexadecimal */
export function bytesToHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
