// Files of a server that answers requests for ranges of bytes. If it sends the whole file instead, that is kept in memory.

import { fail } from "../../runtime/errors/errors.js";
import { failClosed, failToRead, reject } from "../broken_file.js";
import type { FetchLike, ResponseLike } from "../platform_types.js";
import { MemorySource } from "./memory.js";
import type { Source } from "./source.js";

/** Bytes that the first request asks for: enough for the header of most models, so that opening is one request. */
const kFirstBytes = 64 * 1024;

/** Makes the requests of one call, for one or several files. */
export class Requests {
  readonly #fetch: FetchLike;
  #hasWarned = false;

  constructor(
    readonly where: string,
    fetch: FetchLike,
  ) {
    this.#fetch = fetch;
  }

  /** Returns the answer to a request for a range, or without a range for the file. */
  async get(url: string, range?: readonly [start: number, end: number]): Promise<ResponseLike> {
    const options = range && { headers: { Range: `bytes=${range[0]}-${range[1] - 1}` } };
    let response: ResponseLike;
    try {
      response = await this.#fetch(url, options);
    } catch (error) {
      return failToRead(this.where, url, error);
    }
    if (!response.ok) fail("InvalidArgument", this.where, `${url} answered ${response.status}.`);
    return response;
  }

  /** Returns the size of a file, or null if the server does not tell it. */
  async sizeOf(url: string): Promise<number | null> {
    try {
      const { ok, headers } = await this.#fetch(url, { method: "HEAD" });
      const length = headers.get("content-length") ?? "";
      return ok && /^\d+$/.test(length) ? Number(length) : null;
    } catch {
      // Some servers allow only GET.
      return null;
    }
  }

  /** Whether there is a file; true also where the server refuses to say, so that reading it shows why. */
  async exists(url: string): Promise<boolean> {
    try {
      const { status } = await this.#fetch(url, { method: "HEAD" });
      return status !== 404 && status !== 410;
    } catch (error) {
      return failToRead(this.where, url, error);
    }
  }

  async body(url: string, response: ResponseLike): Promise<Uint8Array> {
    try {
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      return failToRead(this.where, url, error);
    }
  }

  /** Returns the file of an answer that is the whole file. */
  async whole(url: string, response: ResponseLike): Promise<MemorySource> {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      console.warn(
        `edgegrad: [${this.where}] ${url}: the server does not send ranges of bytes, so the whole file is downloaded and kept ` +
          "in memory. Serve it with support for Range requests, and let pages of other origins read Content-Range.",
      );
    }
    return new MemorySource(await this.body(url, response), url);
  }
}

/** A file at an address. */
export class HttpSource implements Source {
  readonly name: string;
  readonly size: number;
  readonly #requests: Requests;
  readonly #version: string | null;
  #first: Uint8Array | null;
  #whole: MemorySource | null = null;

  private constructor(requests: Requests, url: string, size: number, opened: Opened) {
    this.name = url;
    this.size = size;
    this.#requests = requests;
    this.#first = opened.first;
    this.#version = opened.version;
  }

  /** Requests the beginning of the file at `url`. */
  static async open(requests: Requests, url: string): Promise<Source> {
    const response = await requests.get(url, [0, kFirstBytes]);
    if (response.status !== 206) return requests.whole(url, response);
    const first = await requests.body(url, response);
    const total = totalIn(response) ?? (first.length < kFirstBytes ? first.length : null);
    const size = total ?? (await requests.sizeOf(url));
    // Without a size the file cannot be checked, so it is read like one of a server that knows no ranges.
    if (size === null) return requests.whole(url, await requests.get(url));
    if (first.length !== Math.min(size, kFirstBytes)) rejectAnswer(url);
    return new HttpSource(requests, url, size, { first, version: versionOf(response) });
  }

  async *pieces(start: number, end: number): AsyncIterable<Uint8Array> {
    if (this.#first === null) failClosed(this.#requests.where);
    if (end <= this.#first.length) {
      yield this.#first.subarray(start, end);
      return;
    }
    if (this.#whole === null && start < end) {
      const response = await this.#requests.get(this.name, [start, end]);
      if (versionOf(response) !== this.#version) rejectChange(this.name);
      if (response.status === 206) {
        yield* this.#streamed(response, start, end);
        return;
      }
      const whole = await this.#requests.whole(this.name, response);
      if (whole.size !== this.size) rejectChange(this.name);
      this.#whole = whole;
    }
    if (this.#whole !== null) yield* this.#whole.pieces(start, end);
  }

  async *#streamed(response: ResponseLike, start: number, end: number): AsyncIterable<Uint8Array> {
    const range = response.headers.get("content-range");
    if (range !== null && !range.startsWith(`bytes ${start}-${end - 1}/`)) rejectAnswer(this.name);
    const reader = response.body?.getReader();
    let left = end - start;
    try {
      while (reader !== undefined && left > 0) {
        const { value } = await reader.read();
        if (value === undefined) break;
        if (value.length > left) rejectAnswer(this.name);
        left -= value.length;
        yield value;
      }
    } catch (error) {
      failToRead(this.#requests.where, this.name, error);
    } finally {
      // If reading fails, the rest of a large file must not keep arriving.
      void reader?.cancel().catch(() => {});
    }
    if (left > 0) reject(`${this.name}: the connection ended ${left} bytes early.`);
  }

  async close(): Promise<void> {
    this.#first = null;
    this.#whole = null;
  }
}

/** What the first request has brought. */
interface Opened {
  readonly first: Uint8Array;
  readonly version: string | null;
}

// Content-Range is "bytes 0-65535/1234567", with "*" for a size that the server does not know. Pages cannot read it in
// answers of other origins unless these allow it.
function totalIn(response: ResponseLike): number | null {
  const total = /^bytes 0-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
  return total === undefined ? null : Number(total);
}

function versionOf(response: ResponseLike): string | null {
  return response.headers.get("etag") ?? response.headers.get("last-modified");
}

function rejectAnswer(url: string): never {
  reject(`${url}: the server sent other bytes than were asked for.`);
}

function rejectChange(url: string): never {
  reject(`${url} has changed since it was opened.`);
}
