import { exact, relative } from "../text/format";

/** A time relative to now; the exact one, in the reader's zone, on hover. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span>–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at)}
    </time>
  );
}
