import { Points } from "../text/points";

/** A text with some spans marked; offsets are code points. */
export function Marked({
  text,
  spans,
  first,
}: {
  text: string;
  spans: readonly { start: number; end: number }[];
  first?: (element: HTMLElement | null) => void;
}) {
  const points = new Points(text);
  const parts = [];
  let done = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const start = Math.max(span.start, done);
    if (span.end <= start) continue;
    parts.push(
      points.slice(done, start),
      <mark ref={parts.length ? undefined : first}>{points.slice(start, span.end)}</mark>,
    );
    done = span.end;
  }
  return (
    <>
      {parts}
      {points.slice(done)}
    </>
  );
}
