// How often a client may ask, and how many bytes it may send over time.

const kUsualAsks = 2000;
const kHour = 3600; // s
/** How long a client is not answered that goes on asking when it is told to be slower. */
const kCutMs = 10_000;
/** The clients whose tokens are remembered; those that have asked for nothing for a while are forgotten first. */
const kMostClients = 20_000;

/** A supply of tokens: `most` at first, and `perSecond` more each second until it is full. */
class Tokens {
  #left: number;
  #time = performance.now();

  constructor(
    readonly most: number,
    readonly perSecond: number,
  ) {
    this.#left = most;
  }

  /** Takes some, if they are there. */
  take(count: number): boolean {
    const now = performance.now();
    const back = ((now - this.#time) / 1000) * this.perSecond;
    this.#left = Math.min(this.most, this.#left + back);
    this.#time = now;
    if (this.#left < count) return false;
    this.#left -= count;
    return true;
  }
}

interface Quota {
  readonly asks: Tokens;
  /** What a client may ask in vain before it is cut. */
  readonly warnings: Tokens;
  readonly bytes: Tokens;
  cutUntil: number;
}

/** The quotas of all clients. */
export class Quotas {
  readonly #clients = new Map<string, Quota>();

  constructor(
    private readonly asksPerSecond = kUsualAsks,
    private readonly bytesPerHour = Number.POSITIVE_INFINITY,
  ) {}

  /** Whether a client may ask; if not, whether it is told ("slower"), is cut from now on, or was cut before. */
  ask(client: string): "yes" | "slower" | "cut" | "silence" {
    const quota = this.#of(client);
    const now = performance.now();
    if (now < quota.cutUntil) return "silence";
    if (quota.asks.take(1)) return "yes";
    if (quota.warnings.take(1)) return "slower";
    quota.cutUntil = now + kCutMs;
    return "cut";
  }

  /** Whether a client may send so many bytes more. */
  send(client: string, bytes: number): boolean {
    return this.#of(client).bytes.take(bytes);
  }

  #of(client: string): Quota {
    const known = this.#clients.get(client);
    // The last one that has asked is the last one of the map.
    this.#clients.delete(client);
    const { asksPerSecond: asks, bytesPerHour: bytes } = this;
    const quota = known ?? {
      asks: new Tokens(2 * asks, asks),
      warnings: new Tokens(2 * asks, asks / 10),
      bytes: new Tokens(bytes, Number.isFinite(bytes) ? bytes / kHour : 0),
      cutUntil: 0,
    };
    this.#clients.set(client, quota);
    if (this.#clients.size > kMostClients) {
      const [oldest] = this.#clients.keys();
      this.#clients.delete(oldest as string);
    }
    return quota;
  }
}
