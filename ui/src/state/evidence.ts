import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Citation, Claim, Schemas, Source } from "../api/client";
import { matchedSentence } from "../text/matches";
import { query, setQuery } from "./router";

/** A place in a document that supports something. */
export interface Place {
  documentId: string;
  start: number;
  end: number;
  chunkId?: string | null;
  quote?: string | null;
  level?: Citation["supportLevel"];
  support?: number;
  schemaVersion?: string;
  /** What it supports: a sentence, a property. */
  says?: string;
  /** What has become of the quote, if that is known. */
  stale?: Schemas["StaleReason"];
}

/** What the arrow keys step through: the evidence of the selected thing. */
export const places = signal<readonly Place[]>([]);

/** The place in the address, with what the page knows about it. */
export const shown = computed<Place | null>(() => {
  const found = /^([0-9a-f-]{36}):(\d+)-(\d+)$/i.exec(query.value.get("at") ?? "");
  if (!found) return null;
  const place = { documentId: found[1] ?? "", start: Number(found[2]), end: Number(found[3]) };
  return places.value.find((one) => same(one, place)) ?? place;
});
export const index = computed(() => {
  const now = shown.value;
  return now ? places.value.findIndex((one) => same(one, now)) : -1;
});

export function same(a: Place, b: Place): boolean {
  return a.documentId === b.documentId && a.start === b.start && a.end === b.end;
}

/** The document itself: no words of it are meant. */
export function ofDocument(documentId: string): Place {
  return { documentId, start: 0, end: 0 };
}

export function isWhole(place: Place): boolean {
  return place.end === 0;
}

/** What opened the pane: the focus goes back to it. */
let opener: HTMLElement | null = null;

/** Opens a place in the pane; `list` is what the arrows then step through. */
export function show(place: Place, list: readonly Place[] = [place]): void {
  const active = document.activeElement?.closest<HTMLElement>("main button");
  if (active) opener = active;
  const picked = [...list.map((one) => (same(one, place) ? place : one)), place];
  places.value = picked.filter((one, i) => picked.findIndex((other) => same(other, one)) === i);
  setQuery({ at: `${place.documentId}:${place.start}-${place.end}` }, { replace: shown.value !== null });
}

/** A page that was reloaded with an open pane knows what the arrows step through only now. */
export function useNeighbours(list: readonly Place[]): void {
  useEffect(() => {
    if (shown.value && places.value.length === 0 && list.length > 0) places.value = list;
  });
}

export function close(): void {
  if (!shown.value) return;
  setQuery({ at: null });
  opener?.focus();
  opener = null;
}

export function step(by: number): void {
  const list = places.value;
  const next = list[(index.value + by + list.length) % list.length];
  if (next && list.length > 1) show(next, list);
}

export function ofCitation(one: Citation, sentence?: string, stale?: Schemas["StaleReason"]): Place | null {
  if (one.documentId === null || one.startOffset === null || one.endOffset === null) return null;
  return {
    documentId: one.documentId,
    start: one.startOffset,
    end: one.endOffset,
    chunkId: one.chunkId,
    quote: one.quote,
    level: one.supportLevel,
    support: one.support,
    says: sentence,
    stale,
  };
}

/** The whole chunk that an answer names, where no words of it support a sentence or where they are not known yet. */
export function ofSource(sources: readonly Source[], chunkId: string, judged: boolean): Place | null {
  const one = sources.find((source) => source.id === chunkId);
  if (!one?.documentId || typeof one.startOffset !== "number" || typeof one.endOffset !== "number")
    return null;
  const place = { documentId: one.documentId, start: one.startOffset, end: one.endOffset, chunkId };
  return judged ? { ...place, level: "none" } : place;
}

export function ofClaim(
  one: Pick<
    Claim,
    "document_id" | "document_start" | "document_end" | "chunk_id" | "quote" | "schema_version"
  >,
  says: string,
): Place | null {
  if (!one.document_id || one.document_start === null || one.document_end === null) return null;
  return {
    documentId: one.document_id,
    start: one.document_start,
    end: one.document_end,
    chunkId: one.chunk_id,
    quote: one.quote,
    schemaVersion: one.schema_version,
    says,
  };
}

/** A hit: the sentence with most of the matched words. */
export function ofHit(hit: Schemas["HitModel"]): Place {
  const from = hit.startOffset ?? 0;
  const { start, end } = matchedSentence(hit.chunk.content, hit.highlights);
  return { documentId: hit.document.id, start: from + start, end: from + end, chunkId: hit.chunk.id };
}
