import type { Citation, Source } from "../api/client";
import { plain } from "./markdown";
import { unwrapped } from "./matches";
import { Points } from "./points";

export type Level = Citation["supportLevel"];

/** A sentence of an answer with the citations that support it. */
export interface Sentence {
  start: number;
  end: number;
  level: Level;
  /** Indexes into the answer's citations, those that point at a chunk. */
  citations: number[];
}

const ORDER: Level[] = ["none", "loose", "close", "verbatim"];
/** Of a chunk, or of one that only LightRAG has. */
const ID =
  "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:doc|chunk)-[0-9a-f]{32}(?:-[0-9a-z_-]{1,60})?";
/** A citation marker, with the white space before it. */
const MARKER = new RegExp(`\\s*\\[(${ID})\\]`, "gi");
/** A marker at the end of which only a part has come. */
const HALF = /\s*\[[0-9a-f-]{0,36}$/i;
const LEAD = /^(?:\s|>|#{1,6}\s|[-*+]\s|\d+[.)]\s|\|)*/;
const FENCE = /^(?:```|~~~)/;

/**
 * Carries places through the markdown parser: a character that no text needs and that the parser takes for punctuation,
 * so that stars and underscores beside it keep their meaning.
 */
const MARK = "\ufffc";
export const MARKS = { sentence: `${MARK}s`, end: `${MARK}e${MARK}`, chip: `${MARK}c`, stop: MARK } as const;
const CHIP = `${MARKS.chip}-?\\d+:[^${MARK}]*${MARK}`;
/** Splits a text at its marks. */
export const PIECE = new RegExp(`(${MARKS.sentence}\\d+${MARK}|${MARKS.end}|${CHIP})`);
export const CHIPS = new RegExp(CHIP, "g");
const MARKED = new RegExp(`${MARKS.sentence}(\\d+)${MARK}(.*?)${MARKS.end}`, "gs");

/** The citations of an answer grouped by their sentence, in reading order. */
export function sentences(citations: readonly Citation[]): Sentence[] {
  const found = new Map<string, Sentence>();
  citations.forEach((one, index) => {
    const key = `${one.responseStart}-${one.responseEnd}`;
    const sentence = found.get(key) ?? {
      start: one.responseStart,
      end: one.responseEnd,
      level: "none" as Level,
      citations: [],
    };
    if (ORDER.indexOf(one.supportLevel) > ORDER.indexOf(sentence.level)) sentence.level = one.supportLevel;
    if (one.chunkId !== null && one.startOffset !== null) sentence.citations.push(index);
    found.set(key, sentence);
  });
  return [...found.values()].sort((a, b) => a.start - b.start);
}

/** Chunk ids in the order in which an answer first cites them; a chip shows the place plus one. */
export function numbering(response: string, citations: readonly Citation[]): Map<string, number> {
  const ids = [...response.matchAll(MARKER)].map((found) => (found[1] ?? "").toLowerCase());
  const cited = citations.flatMap((one) => (one.chunkId === null ? [] : [one.chunkId]));
  const numbers = new Map<string, number>();
  for (const id of [...ids, ...cited]) if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
  return numbers;
}

/** A text without its citation markers. */
export function unmarked(text: string): string {
  return text.replace(MARKER, "").trim();
}

/** The sentences that no source supports, as plain text. Where there are no sources at all, the answer says so itself. */
export function unsupported(
  response: string,
  citations: readonly Citation[],
  sources: readonly Source[],
): string[] {
  const points = [...response];
  const shown = new Map(
    [...plain(marked(response, citations)).matchAll(MARKED)].map(([, n, text = ""]) => [
      Number(n),
      text.replace(CHIPS, "").replace(/[,\s]+$/, ""),
    ]),
  );
  return sentences(citations).flatMap((one, n) =>
    one.level === "none" && sources.length > 0
      ? [shown.get(n) ?? unmarked(points.slice(one.start, one.end).join(""))]
      : [],
  );
}

/** What has come of an answer, without a marker that is not whole yet. */
export function soFar(response: string): string {
  return response.replace(HALF, "");
}

/**
 * An answer as markdown, with marks where sentences begin and end and where chips stand. A sentence's number follows
 * its mark; a chip's marks enclose `sentence:chunk id`. Citations without a marker get a chip at the sentence's end.
 */
export function marked(response: string, citations: readonly Citation[]): string {
  const clean = response.replaceAll(MARK, "\ufffd");
  const points = new Points(clean);
  const found = sentences(citations);
  const cuts: { at: number; text: string; drop: number }[] = [];
  const markers = [...clean.matchAll(MARKER)];
  found.forEach((sentence, n) => {
    let start = points.unit(sentence.start);
    const end = points.unit(sentence.end);
    start += LEAD.exec(clean.slice(start, end))?.[0].length ?? 0;
    const within = markers.filter((one) => one.index >= start && one.index <= end + 1);
    const shown = new Set(within.map((one) => (one[1] ?? "").toLowerCase()));
    const first = Math.min(end, ...within.map((one) => one.index));
    const missing = sentence.citations.flatMap((index) => citations[index]?.chunkId ?? []);
    const chips = [...new Set(missing)].filter((id) => !shown.has(id)).map((id) => chip(n, id));
    if (start >= first) return;
    // Code keeps its fence; its chips come behind it.
    if (FENCE.test(clean.slice(start))) {
      if (chips.length) cuts.push({ at: end, drop: 0, text: `\n\n${chips.join("")}\n\n` });
      return;
    }
    cuts.push({ at: start, drop: 0, text: `${MARKS.sentence}${n}${MARKS.stop}` });
    cuts.push({ at: inCell(clean, first), drop: 0, text: MARKS.end + chips.join("") });
  });
  for (const one of markers) {
    const sentence = found.findLastIndex((s) => points.unit(s.start) <= one.index);
    cuts.push({ at: one.index, drop: one[0].length, text: "" });
    cuts.push({ at: inCell(clean, one.index), drop: 0, text: chip(sentence, (one[1] ?? "").toLowerCase()) });
  }
  return spliced(clean, cuts);
}

/** A place after the last bar of a table's row is moved into its last cell: the parser drops what is behind. */
function inCell(text: string, at: number): number {
  const before = text.slice(0, at).trimEnd();
  return before.endsWith("|") ? before.length - 1 : at;
}

function chip(sentence: number, id: string): string {
  return `${MARKS.chip}${sentence}:${id}${MARKS.stop}`;
}

function spliced(text: string, cuts: { at: number; text: string; drop: number }[]): string {
  let done = 0;
  let made = "";
  for (const cut of cuts.sort((a, b) => a.at - b.at)) {
    made += text.slice(done, Math.max(done, cut.at)) + cut.text;
    done = Math.max(done, cut.at + cut.drop);
  }
  return made + text.slice(done);
}

/** The answer with footnotes, and a warning about what no source supports. */
export function footnoted(
  response: string,
  citations: readonly Citation[],
  sources: readonly Source[],
): string {
  const numbers = numbering(response, citations);
  const body = response.replace(MARKER, (_, id: string) => ` [${numbers.get(id.toLowerCase()) ?? "?"}]`);
  const notes = [...numbers].map(([id, n]) => {
    const source = sources.find((one) => one.id === id);
    const cited = citations.filter((one) => one.chunkId === id && one.quote);
    return `[${n}] ${source?.source ?? id}${placesIn(cited.length ? cited : [{ page: source?.page }])}`;
  });
  const bare = unsupported(response, citations, sources).map((one) => `“${one}”`);
  const warning = bare.length ? `⚠ No source for: ${bare.join(", ")}` : "";
  return `${[body, warning, notes.join("\n")].filter((part) => part).join("\n\n")}\n`;
}

/** The places of a source, each page once, with all that is quoted there: `, page 2: "…"; "…"; page 3: "…"`. */
function placesIn(cited: readonly { page?: number | null; quote?: string | null }[]): string {
  const pages = new Map<string, Set<string>>();
  for (const { page, quote } of cited) {
    const name = page ? `page ${page}` : "";
    const quotes = pages.get(name) ?? new Set();
    pages.set(name, quote ? quotes.add(`"${unwrapped(quote)}"`) : quotes);
  }
  const parts = [...pages].map(([name, quotes]) => {
    const said = [...quotes].join("; ");
    return name && said ? `${name}: ${said}` : name || said;
  });
  const all = parts.filter((part) => part).join("; ");
  if (!all) return "";
  return all.startsWith("page") ? `, ${all}` : `: ${all}`;
}
