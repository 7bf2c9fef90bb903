// Whole tables of people over one process: node load.mjs ADDRESS TABLES SECONDS THINK_MS [PEOPLE]
//
// Each table has four guests, or PEOPLE and bots; whoever is on turn plays the moment the turn is seen
// (THINK_MS: after about so long). A move takes from its sending until the last of them has seen it.
// Of bots' moves only the number is known here: they count in moves a second.
// Prints a JSON line when measuring begins and one with the figures when it ends.
// The sockets are bare TCP: a WebSocket library would cost more than the gateway does.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

const [address, tableCount, seconds, thinkMs, people = 4] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const { hostname, port } = new URL(address);
const WARM_MS = 2000;
const OPENING_AT_ONCE = 8;
const STALLED_MS = 2000 + 3 * thinkMs;

const taken = [];
const failures = new Map();
let [measuresFrom, measuresTo, moves, games] = [Infinity, Infinity, 0, 0];

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const fails = (why) => failures.set(why, (failures.get(why) ?? 0) + 1);

async function ask(method, path, token, body) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomBytes(16).toString('hex') };
  if (token) headers.authorization = `Bearer ${token}`;
  const answer = await fetch(address + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** A client's WebSocket: text frames below 64 KiB out, unmasked frames in. */
class Socket {
  constructor(onText) {
    this.onText = onText;
    this.rest = null;
    this.tcp = connect({ host: hostname, port: Number(port), noDelay: true });
    this.open = new Promise((done, failed) => {
      this.tcp.once('error', failed);
      this.tcp.once('data', (head) => {
        if (!head.includes('101')) return failed(new Error(head.toString().split('\r\n')[0]));
        this.tcp.on('data', (bytes) => this.read(bytes));
        const end = head.indexOf('\r\n\r\n') + 4;
        if (end < head.length) this.read(head.subarray(end));
        done();
      });
    });
    this.tcp.on('close', () => fails('socket closed'));
    this.tcp.write(
      `GET /v1/ws HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n` +
        'Sec-WebSocket-Protocol: spades.v1\r\n\r\n',
    );
  }

  read(bytes) {
    const all = this.rest ? Buffer.concat([this.rest, bytes]) : bytes;
    let at = 0;
    while (at + 2 <= all.length) {
      let [length, from] = [all[at + 1] & 127, at + 2];
      if (length === 126) {
        if (from + 2 > all.length) break;
        [length, from] = [all.readUInt16BE(from), from + 2];
      }
      if (from + length > all.length) break;
      const kind = all[at] & 15;
      if (kind === 1) this.onText(all.latin1Slice(from, from + length));
      if (kind === 9) this.write(10, all.subarray(from, from + length));
      at = from + length;
    }
    this.rest = at < all.length ? all.subarray(at) : null;
  }

  send(text) {
    this.write(1, Buffer.from(text, 'latin1'));
  }

  write(kind, payload) {
    const long = payload.length > 125;
    const frame = Buffer.alloc((long ? 8 : 6) + payload.length);
    frame[0] = 128 | kind;
    frame[1] = 128 | (long ? 126 : payload.length);
    if (long) frame.writeUInt16BE(payload.length, 2);
    // Masked, as clients must: with a mask of zeros.
    payload.copy(frame, long ? 8 : 6);
    this.tcp.write(frame);
  }
}

/** One table with its four people. */
class Table {
  constructor() {
    this.underWay = new Map();
    this.seats = [0, 1, 2, 3].slice(0, people).map((seat) => ({ seat, sent: 0 }));
    this.lastMs = performance.now();
  }

  async open() {
    for (const place of this.seats) {
      place.token ??= (await ask('POST', '/v1/sessions', null, { guest: true, token: true })).token;
    }
    const table = { kind: 'practice', ruleset: { name: 'deniro', options: {} } };
    this.id = (await ask('POST', '/v1/tables', this.seats[0].token, table)).table_id;
    for (const place of this.seats) {
      await ask('PUT', `/v1/tables/${this.id}/seats/${place.seat}`, place.token, {});
      if (!place.socket) {
        place.socket = new Socket((text) => this.saw(place, text));
        await place.socket.open;
        const { ticket } = await ask('POST', '/v1/ws-tickets', place.token, {});
        place.socket.send(JSON.stringify({ type: 'hello', ticket }));
      }
      const watches = new Promise((done) => (place.watches = done));
      place.socket.send(JSON.stringify({ type: 'watch', table_id: this.id }));
      await watches;
    }
  }

  start() {
    this.command(this.seats[0], '"type":"start"');
  }

  command(place, fields) {
    place.sent += 1;
    place.socket.send(`{${fields},"id":"${this.id.slice(0, 8)}${place.seat}.${place.sent}"}`);
  }

  /** One frame at one seat. Only what matters here is parsed. */
  saw(place, text) {
    switch (text.slice(9, text.indexOf('"', 9))) {
      case 'card_played':
      case 'bid_made':
        return this.sawMove(place, text);
      case 'turn_started':
        return text.includes('"you":') ? this.isOnTurn(place, JSON.parse(text)) : undefined;
      case 'hand_scored':
        this.handNo = JSON.parse(text).hand_no;
        return this.command(place, '"type":"ready"');
      case 'snapshot':
        return place.watches();
      case 'game_over':
        return place.seat === 0 ? this.playAgain() : undefined;
      case 'command_rejected':
        // The last of four to be ready may be too late: the hand is dealt, or the game over.
        return /"code":"(wrong_phase|game_over|already)/.test(text) ? undefined : fails(text);
      case 'error':
        return fails(text);
      default:
        return undefined;
    }
  }

  sawMove(place, text) {
    const from = text.indexOf('"turn_id":"') + 11;
    const turn = text.slice(from, text.indexOf('"', from));
    const move = this.underWay.get(turn);
    if (move === undefined && place.seat === 0 && people < 4) {
      const now = performance.now();
      if (now >= measuresFrom && now <= measuresTo) moves += 1;
    }
    if (move === undefined || ++move.seen < people) return;
    this.underWay.delete(turn);
    const now = (this.lastMs = performance.now());
    if (move.sentMs >= measuresFrom && now <= measuresTo) {
      moves += 1;
      taken.push(now - move.sentMs);
    }
  }

  isOnTurn(place, { turn_id, you }) {
    // Bids of 3 a team keep the score where it is, so that a game lasts.
    const play = you.legal_cards
      ? `"type":"play_card","turn_id":"${turn_id}","card":"${you.legal_cards[0]}"`
      : `"type":"bid","turn_id":"${turn_id}","bid":${place.seat < 2 ? 1 : 2}`;
    const go = () => {
      this.underWay.set(turn_id, { sentMs: performance.now(), seen: 0 });
      this.command(place, play);
    };
    if (thinkMs) setTimeout(go, thinkMs * (0.5 + Math.random()));
    else go();
  }

  async playAgain() {
    games += 1;
    await this.open();
    this.start();
  }
}

async function openAll() {
  const all = Array.from({ length: tableCount }, () => new Table());
  const closed = [...all];
  const open = async () => {
    for (let table = closed.pop(); table; table = closed.pop()) await table.open();
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, open));
  return all;
}

const at = (share) => Number(taken[Math.min(taken.length - 1, Math.floor(share * taken.length))]?.toFixed(2));

const tables = await openAll();
tables.forEach((table) => table.start());
await pause(WARM_MS);
const cpu = process.cpuUsage();
measuresFrom = performance.now();
measuresTo = measuresFrom + seconds * 1000;
console.log(JSON.stringify({ measuring: true }));
await pause(seconds * 1000);
const used = process.cpuUsage(cpu);
const stalled = tables.filter((table) => measuresTo - table.lastMs > STALLED_MS).length;
taken.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    tables: tableCount,
    moves,
    moves_per_s: Number((moves / seconds).toFixed(1)),
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    max_ms: at(1),
    client_cpu_us: Math.round((used.user + used.system) / Math.max(1, moves)),
    games_ended: games,
    stalled_tables: stalled,
    failures: Object.fromEntries([...failures].slice(0, 5)),
  }),
);
process.exit(0);
