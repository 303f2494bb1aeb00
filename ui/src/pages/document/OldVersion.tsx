import type { Schemas } from "../../api/client";
import { Time } from "../../components/Time";
import { withQuery } from "../../state/router";
import { Points } from "../../text/points";

/** The text of an earlier version with its chunks. Those whose text has not changed are still there. */
export function OldVersion({
  of,
  present,
}: {
  of: Schemas["DocumentVersionText"];
  present: ReadonlySet<string>;
}) {
  const points = new Points(of.text);
  return (
    <>
      <div class="stale" role="status">
        <p>
          This is version {of.version}, which came in <Time at={of.version_at} />. Search and answers use the
          current one.
        </p>
        <a href={withQuery({ version: null })}>Open the current version</a>
      </div>
      <div class="document-text">
        {of.chunks.length === 0 && "This version had no text."}
        {of.chunks.map((one, i) => (
          <div key={one.id} class={`cut${present.has(one.id) ? "" : " gone"}`} data-chunk={i + 1}>
            {points.slice(one.start, one.end)}
            {!present.has(one.id) && <span class="badge">changed or gone since</span>}
          </div>
        ))}
      </div>
    </>
  );
}
