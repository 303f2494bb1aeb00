import type { Document } from "../../api/client";
import { PageImage } from "../../components/PageImage";
import { Failed, Loading } from "../../components/States";
import { usePages } from "../../state/pages";

/** The pages of a document as pictures; those far from view are not read. The span is highlighted. */
export function Pages({
  document,
  span,
}: {
  document: Document;
  span: { start: number; end: number } | null;
}) {
  const { sizes, marked, near, watch } = usePages(document, span);
  if (sizes.error) return <Failed error={sizes.error} retry={sizes.reload} />;
  if (!sizes.data) return <Loading lines={12} />;
  const first = marked.data?.find((one) => one.rects)?.page;
  return (
    <>
      {sizes.data.map((size) => {
        const rects = marked.data?.find((one) => one.page === size.page)?.rects ?? null;
        const ratio = size.width && size.height ? `${size.width} / ${size.height}` : "210 / 297";
        return (
          <div
            key={size.page}
            ref={watch}
            data-page={size.page}
            class="page-slot"
            style={{ aspectRatio: ratio }}
          >
            {(near.has(size.page) || rects) && size.image ? (
              <PageImage
                documentId={document.id}
                version={document.version}
                page={{ ...size, rects }}
                follow={size.page === first}
              />
            ) : (
              <p class="quiet">{size.image ? `Page ${size.page}` : `Page ${size.page} has no picture.`}</p>
            )}
          </div>
        );
      })}
    </>
  );
}
