import type { ServerEvent } from "whence-client";
import { whence } from "./client";

/** The events of a stream, until it ends. */
export function events(path: string, init: RequestInit): AsyncGenerator<ServerEvent> {
  return whence.events(path, init);
}
