import type { Chunk, Document } from "../../api/client";
import { chunkClass, endOf, hovering, startOf } from "../../state/document";
import { useScrollTo } from "../../state/image";
import { setQuery } from "../../state/router";
import { scaled } from "../../state/screen";
import { useRows } from "../../state/viewport";
import { count } from "../../text/format";
import { NotRead } from "./NotRead";

const ROW = 92;

/** The chunks; only those in view and the selected one exist. */
export function Chunks(props: {
  document: Document;
  chunks: Chunk[];
  selected: string | null;
  reload: () => void;
}) {
  const { document, chunks, selected } = props;
  const total = document.chunk_count;
  const scroll = useScrollTo<HTMLLIElement>(selected);
  const height = scaled(ROW);
  const { ref, from, to } = useRows<HTMLOListElement>(chunks.length, height);
  if (chunks.length === 0) return <NotRead title="No chunks" document={document} reload={props.reload} />;
  return (
    <>
      <ol class="chunk-list long" ref={ref} style={{ height: `${chunks.length * height}px` }}>
        {chunks.map((chunk, i) => {
          if (chunk.id !== selected && (i < from || i >= to)) return null;
          return (
            <li
              key={chunk.id}
              ref={chunk.id === selected ? scroll : undefined}
              class={chunkClass(chunk.id, selected)}
              style={{ top: `${i * height}px` }}
              aria-posinset={i + 1}
              aria-setsize={chunks.length}
              {...hovering(chunk.id)}
            >
              <Line chunk={chunk} />
            </li>
          );
        })}
      </ol>
      {chunks.length < total && (
        <p class="quiet">
          The first {chunks.length} of {count(total, "chunk")}.
        </p>
      )}
    </>
  );
}

function Line({ chunk }: { chunk: Chunk }) {
  const page = chunk.metadata?.source_page;
  const span = `${startOf(chunk)}-${endOf(chunk)}`;
  return (
    <button
      type="button"
      class="plain"
      onClick={() => setQuery({ span, v: null, version: null }, { replace: true })}
    >
      <span class="quiet">
        {chunk.chunk_index + 1}
        {page ? ` · page ${String(page)}` : ""} · {count(endOf(chunk) - startOf(chunk), "character")}
      </span>
      <span class="excerpt">{chunk.content.slice(0, 160)}</span>
    </button>
  );
}
