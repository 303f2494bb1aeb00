import type { Points } from "./points";

interface Range {
  start: number;
  end: number;
}

/** The sentence of a chunk with most of the matched words, in code points; the whole chunk where none matched. */
export function matchedSentence(content: string, highlights: readonly Range[]): Range {
  const points = [...content];
  const whole = { start: 0, end: points.length };
  let best = whole;
  let most = 0;
  for (const one of sentencesOf(points)) {
    const inside = highlights.filter((mark) => mark.start >= one.start && mark.end <= one.end);
    const words = new Set(inside.map((mark) => points.slice(mark.start, mark.end).join("").toLowerCase()));
    if (words.size > most) [best, most] = [one, words.size];
  }
  return best;
}

/**
 * A line that ends within a sentence: the next begins with a small letter, or with one of a script without case. After a
 * longer line it may begin with a capital or a figure, but not with "1. " or "Key: ".
 */
const WRAPPED =
  /(?<=[\p{L}\p{N},，、])\n(?=[\p{Ll}\p{Lo}])|(?<=[^\n]{19}[\p{L}\p{N},])\n(?=[\p{Lu}\p{N}])(?!\d+[.)]\s|[^\n.,]{1,40}:\s)/gu;

/** A text with its wrapped lines joined: by a blank, or by nothing in scripts that have none. */
export function unwrapped(text: string): string {
  return text.replace(WRAPPED, (_, at: number) =>
    /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(text.charAt(at + 1)) ? "" : " ",
  );
}

/** Sentences and lines of a text, without the white space around them. */
function sentencesOf(points: readonly string[]): Range[] {
  const found: Range[] = [];
  // Joined lines keep the number of code points.
  const joined = [...points.join("").replace(WRAPPED, " ")];
  let start = 0;
  joined.forEach((point, i) => {
    const next = joined[i + 1];
    const ends = /[.!?]/.test(point) ? next === undefined || /\s/.test(next) : /[\n。！？]/.test(point);
    if (!ends && next !== undefined) return;
    found.push(trimmed(points, start, i + 1));
    start = i + 1;
  });
  return found.filter((one) => one.end > one.start);
}

function trimmed(points: readonly string[], start: number, end: number): Range {
  while (start < end && /\s/.test(points[start] ?? "")) start += 1;
  while (end > start && /\s/.test(points[end - 1] ?? "")) end -= 1;
  return { start, end };
}

/** Characters of an excerpt before its first matched word. */
const LEAD = 100;

/** Where a word begins about 100 characters before a place; 0 near the beginning, and without a place. */
export function wordFrom(points: Points, place: number): number {
  if (!Number.isFinite(place) || place <= LEAD) return 0;
  const lead = points.slice(place - LEAD, place);
  return place - LEAD + [...lead.slice(0, lead.search(/\s/) + 1)].length;
}
