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

/** Sentences and lines of a text, without the white space around them. */
function sentencesOf(points: readonly string[]): Range[] {
  const found: Range[] = [];
  let start = 0;
  points.forEach((point, i) => {
    const next = points[i + 1];
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
