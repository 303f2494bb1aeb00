import type { Chunk } from "../api/client";
import type { Place } from "../state/evidence";
import { useScrollTo } from "../state/image";
import type { Span } from "../state/spans";
import { Marked } from "./Marked";
import { PageImage } from "./PageImage";

/** The quote as it was, where the document no longer has it. */
export function Gone({ place, deleted }: { place: Place; deleted: boolean }) {
  const { newText, url } = place.stale ?? {};
  return (
    <div class="document-text">
      <p class="note" role="status">
        {deleted ? "The document was deleted. It said:" : "The document has changed since. It said:"}
      </p>
      <blockquote class="quote" tabIndex={0}>
        {place.quote}
      </blockquote>
      {newText && (
        <>
          <p class="note">It says now:</p>
          <blockquote class="quote" tabIndex={0}>
            {newText}
          </blockquote>
        </>
      )}
      {url && <a href={url}>See it in the document</a>}
    </div>
  );
}

export function hasPicture(span: Span): boolean {
  return span.pages.some((page) => page.rects !== null);
}

/** The pages with the words marked, else their text. */
export function Source({ span, chunk }: { span: Span; chunk: Chunk | null }) {
  const pages = span.pages.filter((page) => page.rects !== null);
  if (hasPicture(span)) {
    return (
      <>
        {pages.map((page, i) => (
          <PageImage
            key={page.page}
            documentId={span.document_id}
            version={span.version}
            page={page}
            follow={i === 0}
          />
        ))}
      </>
    );
  }
  return <TextSource span={span} chunk={chunk} />;
}

/** The words in their chunk, or with a little text around them. */
function TextSource({ span, chunk }: { span: Span; chunk: Chunk | null }) {
  const scroll = useScrollTo<HTMLElement>(`${span.document_id} ${span.start} ${span.end}`);
  const from = Number(chunk?.metadata?.startOffset ?? NaN);
  const inside = chunk !== null && span.start >= from && span.end <= from + [...chunk.content].length;
  return (
    <div class="document-text">
      {span.headings.length > 0 && <p class="headings">{span.headings.join(" › ")}</p>}
      {inside && chunk ? (
        <Marked
          text={chunk.content}
          spans={[{ start: span.start - from, end: span.end - from }]}
          first={scroll}
        />
      ) : (
        <>
          {span.before}
          <mark ref={scroll}>{span.text}</mark>
          {span.after}
        </>
      )}
    </div>
  );
}
