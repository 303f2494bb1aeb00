import type { Schemas } from "../../api/client";
import { Marked } from "../../components/Marked";
import { wordFrom } from "../../text/matches";
import { Points } from "../../text/points";

type Hit = Schemas["HitModel"];

/** A hit; `page` is that of its best sentence, `best` the highest score by words, which has no upper end of its own. */
export function HitCard(props: { hit: Hit; page: number | null; best: number; open: () => void }) {
  const { hit, page, best, open } = props;
  return (
    <>
      <button type="button" class="plain" onClick={open}>
        <span class="hit-head">
          <strong>{hit.document.name}</strong>
          <span class="quiet">
            {page ? `page ${page} · ` : ""}chunk {hit.chunk.chunk_index + 1}
          </span>
          <span class="bars">
            <Bar name="words" score={hit.scores.text} best={best} />
            <Bar name="meaning" score={hit.scores.vector} />
          </span>
        </span>
        <span class="excerpt document-font">
          <Excerpt hit={hit} />
        </span>
      </button>
      {hit.alsoIn.length > 0 && (
        <p class="quiet">Also in {hit.alsoIn.map((one) => one.document.name).join(", ")}</p>
      )}
      {hit.context?.positionalChunks.map((one) => (
        <p key={one.id} class="neighbour quiet">
          {one.chunk_index < hit.chunk.chunk_index ? "before" : "after"}: {one.content.slice(0, 200)} …
        </p>
      ))}
      {hit.context && hit.context.relatedObjects.length > 0 && (
        <p class="quiet">Objects: {hit.context.relatedObjects.map((one) => one.name).join(", ")}</p>
      )}
    </>
  );
}

/** The chunk from a word a little before its first matched one. */
function Excerpt({ hit }: { hit: Hit }) {
  const points = new Points(hit.chunk.content);
  const from = wordFrom(points, Math.min(...hit.highlights.map((one) => one.start)));
  const spans = hit.highlights.map((one) => ({ start: one.start - from, end: one.end - from }));
  return (
    <>
      {from > 0 && "… "}
      <Marked text={points.slice(from)} spans={spans} />
    </>
  );
}

function Bar({ name, score, best = 1 }: { name: string; score: number | null; best?: number }) {
  if (score === null) return null;
  const share = Math.max(0, Math.min(1, score / (best || 1)));
  return (
    <span class="bar" title={`${name} ${score.toFixed(2)}`}>
      <span class="quiet">{name}</span>
      <span
        class="track"
        role="meter"
        aria-label={`Score by ${name}`}
        aria-valuemin={0}
        aria-valuemax={1}
        aria-valuenow={share}
      >
        <span style={{ width: `${share * 100}%` }} />
      </span>
    </span>
  );
}
