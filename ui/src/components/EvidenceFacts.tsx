import { href } from "../state/router";
import type { Found } from "../state/source";
import type { Span } from "../state/spans";
import { count, fileType } from "../text/format";
import { unwrapped } from "../text/matches";

/** Objects of a chunk that are named. */
const NAMED = 4;

/** The quote and what is known about it: support, chunk, version, schema, objects. */
export function EvidenceFacts({ span, found }: { span: Span; found: Found }) {
  const { place, chunk, claims } = found;
  const schema = place.schemaVersion ?? claims[0]?.schema_version;
  const objects = [
    ...new Map(claims.flatMap((one) => (one.object ? [[one.object.id, one.object]] : []))).values(),
  ];
  return (
    <>
      {(place.quote ?? span.text) && (
        <blockquote class="quote" tabIndex={0}>
          {unwrapped(place.quote ?? span.text)}
        </blockquote>
      )}
      <dl class="facts">
        {place.level && (
          <Fact name="support">{<span class={`level ${place.level}`}>{place.level}</span>}</Fact>
        )}
        <Fact name="type">{fileType(span.file_type, span.document_name)}</Fact>
        {chunk && <Fact name="chunk">{chunk.chunk_index + 1}</Fact>}
        <Fact name="version">{span.version}</Fact>
        {schema && <Fact name="schema">{schema}</Fact>}
        {objects.length > 0 && (
          <Fact name="objects">
            {objects.slice(0, NAMED).map((one) => (
              <a key={one.id} href={href(`/o/${one.id}`)}>
                {one.name}
              </a>
            ))}
            {objects.length > NAMED && ` and ${count(objects.length - NAMED, "other")}`}
          </Fact>
        )}
      </dl>
    </>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
