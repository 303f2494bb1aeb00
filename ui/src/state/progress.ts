import { signal } from "@preact/signals";
import type { Job } from "../api/client";
import { events } from "../api/events";

/** Browsers open six connections to one server; the streams must leave room for requests. */
const MOST = 3;

/** Jobs as their streams last told. */
export const live = signal<ReadonlyMap<string, Job>>(new Map());
const watched = new Set<string>();
const waiting: string[] = [];

/** Follows jobs until they end, three at a time; `ended` is called for each. */
export function watch(ids: readonly string[], ended: () => void): void {
  for (const id of ids) {
    if (watched.has(id) || waiting.includes(id)) continue;
    waiting.push(id);
  }
  startNext(ended);
}

function startNext(ended: () => void): void {
  while (watched.size < MOST) {
    const id = waiting.shift();
    if (id === undefined) return;
    watched.add(id);
    void follow(id).finally(() => {
      watched.delete(id);
      ended();
      startNext(ended);
    });
  }
}

async function follow(id: string): Promise<void> {
  try {
    for await (const event of events(`/api/v1/jobs/${id}/events`, {})) {
      if (event.name === "deleted") return;
      live.value = new Map(live.value).set(id, event.data as Job);
      if (event.name === "end") return;
    }
  } catch {
    // The list is read again anyway, and says what is wrong.
  }
}
