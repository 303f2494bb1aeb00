import { parse, type ServerEvent } from "../text/events";
import { raw } from "./client";

/** The events of a stream, until it ends. */
export async function* events(path: string, init: RequestInit): AsyncGenerator<ServerEvent> {
  const response = await raw(path, init);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const event = parse(part);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
