import type { ComponentChildren } from "preact";
import type { PageRects } from "../state/spans";
import type { Box } from "../text/blocks";
import { usePageImage, useScrollTo } from "../state/image";

const WIDTH = 1200;

/** Where a box is on the picture of its page. */
export function boxStyle(box: Box): Record<string, string> {
  return {
    left: `${box.x0 * 100}%`,
    top: `${box.y0 * 100}%`,
    width: `${(box.x1 - box.x0) * 100}%`,
    height: `${(box.y1 - box.y0) * 100}%`,
  };
}

/** The picture of a page with rectangles over the words. Its size is known before it comes, so nothing jumps. */
export function PageImage({
  documentId,
  version,
  page,
  follow,
  children,
}: {
  documentId: string;
  version: number;
  page: Pick<PageRects, "page" | "width" | "height" | "rects">;
  /** Scroll to the first rectangle. */
  follow: boolean;
  /** Drawn over the picture, below the rectangles. */
  children?: ComponentChildren;
}) {
  const { url, error } = usePageImage(documentId, page.page, version, WIDTH);
  const first = page.rects?.[0];
  const scroll = useScrollTo<HTMLDivElement>(`${documentId} ${page.page} ${first?.x0} ${first?.y0}`);
  if (error)
    return (
      <p class="quiet">
        The picture of page {page.page} cannot be shown: {error.message}
      </p>
    );
  const ratio = page.width && page.height ? `${page.width} / ${page.height}` : "210 / 297";
  return (
    <figure class="page" style={{ aspectRatio: ratio }}>
      {url ? (
        <img src={url} alt={`Page ${page.page}`} />
      ) : (
        <div class="bone fill" role="status" aria-label="Loading the page" />
      )}
      {children}
      {page.rects?.map((rect, i) => (
        <div key={i} ref={i === 0 && follow ? scroll : undefined} class="rect" style={boxStyle(rect)} />
      ))}
    </figure>
  );
}
