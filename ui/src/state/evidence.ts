import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Citation, Claim, Schemas, Source } from "../api/client";
import type { Level } from "../text/answer";
import { hasWords, value } from "../text/format";
import { matchedSentence } from "../text/matches";
import { path, query, setQuery } from "./router";

/** A place in a document that supports something. */
export interface Place {
  documentId: string;
  start: number;
  end: number;
  /** Which of several things that the place supports: a citation of an answer, a claim. */
  of?: string;
  chunkId?: string | null;
  quote?: string | null;
  level?: Level;
  support?: number;
  schemaVersion?: string;
  /** What it supports: a sentence, a property. */
  says?: string;
  /** What has become of the quote, if that is known. */
  stale?: Schemas["StaleReason"];
}

/** What the arrow keys step through: the evidence of the selected thing. */
export const places = signal<readonly Place[]>([]);

const ADDRESS = /^([0-9a-f-]{36}):(\d+)-(\d+)(?::([\w.-]+))?$/i;
/** A document's own page shows its places itself. */
const hasPane = computed(() => !path.value.startsWith("/d/"));
const wanted = computed<Place | null>(() => {
  if (!hasPane.value) return null;
  const [, documentId, start, end, of] = ADDRESS.exec(query.value.get("at") ?? "") ?? [];
  return documentId ? { documentId, start: Number(start), end: Number(end), of } : null;
});
export const index = computed(() => (wanted.value ? indexIn(places.value, wanted.value) : -1));
/** The place in the address, with what the page knows about it. */
export const shown = computed<Place | null>(() => places.value[index.value] ?? wanted.value);

/** An address that does not say what is meant by a place means the first that is there. */
function indexIn(list: readonly Place[], place: Place): number {
  return list.findIndex((one) => isAt(one, place) && (place.of === undefined || one.of === place.of));
}

export function isAt(a: Place, b: Place): boolean {
  return a.documentId === b.documentId && a.start === b.start && a.end === b.end;
}

export function isShown(place: Place): boolean {
  return shown.value !== null && isAt(shown.value, place) && shown.value.of === place.of;
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
  places.value = indexIn(list, place) < 0 ? [...list, place] : list;
  const of = place.of === undefined ? "" : `:${place.of}`;
  setQuery({ at: `${place.documentId}:${place.start}-${place.end}${of}` }, { replace: shown.value !== null });
}

/** After a reload or the back button, the list that has the place in the address is what the arrows step through. */
export function useNeighbours(list: readonly Place[]): void {
  useEffect(() => {
    if (wanted.value && index.value < 0 && indexIn(list, wanted.value) >= 0) places.value = list;
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

export function ofClaim(one: Claim, says: string): Place | null {
  if (!one.document_id || one.document_start === null || one.document_end === null) return null;
  return {
    documentId: one.document_id,
    start: one.document_start,
    end: one.document_end,
    of: one.id,
    chunkId: one.chunk_id,
    quote: one.quote,
    level: levelOf(one),
    schemaVersion: one.schema_version,
    says,
  };
}

/** How well the quote of a claim supports its value; a person's word has no level. */
export function levelOf(one: Claim): Level | undefined {
  if (one.author) return undefined;
  if (one.ungrounded) return "none";
  const parts = one.elements ?? [one];
  if (parts.some((part) => part.quote === null)) return undefined;
  return parts.every((part) => hasWords(part.quote ?? "", value(part.value))) ? "verbatim" : "close";
}

/** A hit: the sentence with most of the matched words. */
export function ofHit(hit: Schemas["HitModel"]): Place {
  const from = hit.startOffset ?? 0;
  const { start, end } = matchedSentence(hit.chunk.content, hit.highlights);
  return { documentId: hit.document.id, start: from + start, end: from + end, chunkId: hit.chunk.id };
}
