// The server's clock as this browser measures it: pings give the offset, the quickest of late is believed.

const SAMPLES_MAX = 8;

export class ServerClock {
  constructor() {
    /** @type {{offsetMs: number, roundMs: number}[]} */
    this.samples = [];
  }

  /** Server time minus ours, in milliseconds. */
  get offsetMs() {
    if (this.samples.length === 0) return 0;
    return this.samples.reduce((best, one) => (one.roundMs < best.roundMs ? one : best)).offsetMs;
  }

  /** @param {number} sentMs @param {number} receivedMs ours @param {number} serverMs theirs, in between */
  measured(sentMs, receivedMs, serverMs) {
    const roundMs = receivedMs - sentMs;
    if (roundMs < 0) return;
    this.samples = [...this.samples, { offsetMs: serverMs - (sentMs + roundMs / 2), roundMs }].slice(-SAMPLES_MAX);
  }

  /** A first guess, until a ping has been there and back. @param {number} serverMs */
  guessed(serverMs) {
    if (this.samples.length === 0) this.samples = [{ offsetMs: serverMs - Date.now(), roundMs: 10_000 }];
  }

  /** Milliseconds until an absolute deadline. @param {number} deadlineMs */
  leftMs(deadlineMs) {
    return deadlineMs - (Date.now() + this.offsetMs);
  }
}
