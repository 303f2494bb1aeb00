import type { Chunk, Document } from "../../api/client";
import { boxStyle, PageImage } from "../../components/PageImage";
import { Empty, Failed, Loading } from "../../components/States";
import { chunkClass, endOf, hovered, hovering, select, startOf } from "../../state/document";
import { withQuery } from "../../state/router";
import { useBorders, usePages, type PageSize } from "../../state/pages";

interface Props {
  document: Document;
  chunks: readonly Chunk[];
  span: { start: number; end: number } | null;
  selected: string | null;
}

/** The pages of a document as pictures; those far from view are not read. The span is highlighted. */
export function Pages({ document, chunks, span, selected }: Props) {
  const { sizes, marked, near, watch } = usePages(document, span);
  if (sizes.error) return <Failed error={sizes.error} retry={sizes.reload} />;
  if (!sizes.data) return <Loading lines={12} />;
  if (sizes.data.length === 0) return <NoPages />;
  const at = (offset: number): Chunk | undefined =>
    chunks.find((one) => offset >= startOf(one) && offset < endOf(one));
  const first = marked.data?.find((one) => one.rects)?.page;
  return (
    <>
      {sizes.data.map((size) => {
        const rects = marked.data?.find((one) => one.page === size.page)?.rects ?? null;
        const asked = size.width !== null; // a page that is too large has a size, and an error to show
        const ratio = size.width && size.height ? `${size.width} / ${size.height}` : "210 / 297";
        return (
          <div
            key={size.page}
            ref={watch}
            data-page={size.page}
            class="page-slot"
            style={{ aspectRatio: ratio }}
          >
            {(near.has(size.page) || rects) && asked ? (
              <PageImage
                documentId={document.id}
                version={document.version}
                page={{ ...size, rects }}
                follow={size.page === first}
                on={{
                  pick: (offset) => pick(size, at(offset)),
                  over: (offset) => (hovered.value = offset === null ? null : (at(offset)?.id ?? null)),
                }}
              >
                <Borders document={document} size={size} chunks={chunks} selected={selected} />
              </PageImage>
            ) : (
              <p class="quiet">{asked ? `Page ${size.page}` : `Page ${size.page} has no picture.`}</p>
            )}
          </div>
        );
      })}
    </>
  );
}

function NoPages() {
  return (
    <Empty title="No pages">
      <p>This document has no pages that could be shown.</p>
      <p>
        <a class="button" href={withQuery({ view: "text" })}>
          Show the text
        </a>
      </p>
    </Empty>
  );
}

/** Selects the part of a chunk on a page. */
function pick(page: PageSize, chunk: Chunk | undefined): void {
  if (!chunk) return;
  select(Math.max(startOf(chunk), page.start), Math.min(endOf(chunk), page.end));
}

/** The borders of the chunks on a page; a click selects a chunk. The list at the right is for keyboards. */
function Borders(props: {
  document: Document;
  size: PageSize;
  chunks: readonly Chunk[];
  selected: string | null;
}) {
  const borders = useBorders(props.document, props.size, props.chunks);
  return (
    <>
      {borders.flatMap(({ chunk, boxes }) =>
        boxes.map((box, i) => (
          <div
            key={`${chunk.id} ${i}`}
            class={`border${chunkClass(chunk.id, props.selected)}`}
            data-chunk={i === 0 ? chunk.chunk_index + 1 : undefined}
            title={`Chunk ${chunk.chunk_index + 1}`}
            style={boxStyle(box)}
            onClick={() => pick(props.size, chunk)}
            {...hovering(chunk.id)}
          />
        )),
      )}
    </>
  );
}
