import { offline, refusal, unexpected } from "./errors.js";
import { eventsOf, type ServerEvent } from "./events.js";

export interface ConnectionOptions {
  /** The server's address. In a page of the server itself it can be left out. */
  url?: string;
  /** An API key, or a function that gives the present one. */
  key?: string | (() => string | null);
  /** Called with each answer before it is read. */
  onResponse?: (response: Response) => void;
}

/** Sends requests with the key, and turns refusals into ApiErrors. */
export class Connection {
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions = {}) {
    this.#options = options;
  }

  /** Any answer, also a refusal; the caller reads the body. */
  async send(request: Request): Promise<Response> {
    const { key, onResponse } = this.#options;
    const secret = typeof key === "function" ? key() : key;
    if (secret) request.headers.set("Authorization", `Bearer ${secret}`);
    try {
      const response = await fetch(request);
      onResponse?.(response);
      return response;
    } catch (error) {
      throw offline(error, "The server does not answer. Is it running?");
    }
  }

  /** An answer that is no refusal. */
  async raw(path: string, init?: RequestInit): Promise<Response> {
    const base = this.#options.url?.replace(/\/+$/, "") ?? "";
    const response = await this.send(new Request(base + path, init));
    if (!response.ok) throw refusal(response, await response.json().catch(() => null));
    return response;
  }

  async json<T>(path: string, init?: RequestInit): Promise<T> {
    const text = await this.#body(await this.raw(path, init));
    try {
      return JSON.parse(text) as T;
    } catch {
      throw unexpected("The answer is not JSON.");
    }
  }

  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.json<T>(path, posted(body, signal));
  }

  async *events(path: string, init: RequestInit): AsyncGenerator<ServerEvent> {
    yield* eventsOf(await this.raw(path, init));
  }

  async #body(response: Response): Promise<string> {
    try {
      return await response.text();
    } catch (error) {
      throw offline(error, "The connection broke.");
    }
  }
}

export function posted(body: unknown, signal?: AbortSignal): RequestInit {
  const init: RequestInit = { method: "POST", body: JSON.stringify(body) };
  init.headers = { "Content-Type": "application/json" };
  if (signal) init.signal = signal;
  return init;
}
