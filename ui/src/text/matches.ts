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

/** A line that ends within a sentence: the next begins with a small letter, or with one of a script without case. */
const WRAPPED = /(?<=[\p{L}\p{N},，、])\n(?=[\p{Ll}\p{Lo}])/gu;

/** A text with its wrapped lines joined: by a blank, or by nothing in scripts that have none. */
export function unwrapped(text: string): string {
  return text.replace(WRAPPED, (_, at: number) =>
    /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(text.charAt(at + 1)) ? "" : " ",
  );
}

/** Sentences and lines of a text, without the white space around them. */
function sentencesOf(points: readonly string[]): Range[] {
  const found: Range[] = [];
  let start = 0;
  points.forEach((point, i) => {
    const next = points[i + 1];
    if (
      point === "\n" &&
      points
        .slice(i - 1, i + 2)
        .join("")
        .search(WRAPPED) >= 0
    )
      return;
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
