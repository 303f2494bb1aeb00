import type { Chunk, Document } from "../../api/client";
import { Marked } from "../../components/Marked";
import { chunkClass, endOf, hovering, select, startOf } from "../../state/document";
import { useScrollTo } from "../../state/image";
import { Points } from "../../text/points";
import { NotRead } from "./NotRead";

interface Props {
  document: Document;
  reload: () => void;
  text: string;
  chunks: Chunk[];
  span: { start: number; end: number } | null;
  selected: string | null;
}

/** The whole text with the borders of its chunks; a click selects a chunk. */
export function Text({ document, reload, text, chunks, span, selected }: Props) {
  const scroll = useScrollTo<HTMLElement>(span && `${span.start}-${span.end}`);
  const points = new Points(text);
  if (text === "") return <NotRead title="No text" document={document} reload={reload} />;
  if (chunks.length === 0) return <div class="document-text">{text}</div>;
  const last = chunks.at(-1);
  return (
    <div class="document-text">
      {chunks.map((chunk) => (
        <div
          key={chunk.id}
          id={`chunk-${chunk.chunk_index}`}
          class={`cut${chunkClass(chunk.id, selected)}`}
          {...hovering(chunk.id)}
          data-chunk={chunk.chunk_index + 1}
          onClick={() => select(startOf(chunk), endOf(chunk))}
        >
          <Marked
            text={chunk.content}
            first={chunk.id === selected ? scroll : undefined}
            spans={
              chunk.id === selected && span
                ? [{ start: span.start - startOf(chunk), end: span.end - startOf(chunk) }]
                : []
            }
          />
        </div>
      ))}
      {last && points.slice(endOf(last)).trim() && <div>{points.slice(endOf(last))}</div>}
    </div>
  );
}
