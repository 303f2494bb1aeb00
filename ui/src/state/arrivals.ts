import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Job, Schemas } from "../api/client";
import { live, watch } from "./progress";

type Ingested = Schemas["Ingested"];

/** Documents that were added in this tab and whose end is awaited. More than these are only counted. */
const FOLLOWED = 100;

export interface Sending {
  files: number;
  done: number;
}
/** Files on their way to the server. */
export const sending = signal<Sending | null>(null);
/** What the server did not take. */
export const refusals = signal<readonly { name: string; reason: string }[]>([]);
/** What it took. */
export const arrivals = signal<readonly Ingested[]>([]);

/** Takes in what the server says of files, addresses and texts. */
export function arrive(items: readonly Ingested[]): void {
  const failed = items.flatMap((one) =>
    one.error ? [{ name: one.fileName, reason: one.error.message }] : [],
  );
  if (failed.length) refusals.value = [...refusals.value, ...failed];
  const taken = items.filter((one) => one.documentId && !one.error);
  const ids = new Set(taken.map((one) => one.documentId));
  arrivals.value = [...arrivals.value.filter((one) => !ids.has(one.documentId)), ...taken];
}

export function forgetArrivals(): void {
  refusals.value = [];
  arrivals.value = [];
}

export function jobOf(one: Ingested): Job | undefined {
  return one.jobId ? live.value.get(one.jobId) : undefined;
}

export function isAtWork(one: Ingested): boolean {
  const status = jobOf(one)?.status ?? one.status;
  return status === "pending" || status === "processing";
}

/** Follows what was added until all of it has ended; a stream that breaks is opened again. */
export function useArrivals(): readonly Ingested[] {
  const all = arrivals.value;
  const open = all.slice(0, FOLLOWED).filter(isAtWork);
  useEffect(() => {
    if (open.length === 0) return;
    const follow = (): void =>
      watch(
        open.flatMap((one) => one.jobId ?? []),
        () => undefined,
      );
    follow();
    const timer = setInterval(follow, 2500);
    return () => clearInterval(timer);
  }, [open.map((one) => one.jobId).join()]);
  return all;
}
