import type { ComponentChildren } from "preact";
import type { PageRects } from "../state/spans";
import type { Box } from "../text/blocks";
import { usePageImage, useScrollTo } from "../state/image";
import { zoom } from "../state/zoom";
import { PageText, type OnText } from "./PageText";
import { Failed } from "./States";

const WIDTH = 1200;
/** The widest picture that the server draws. */
const LARGE = 2000;

/** Where a box is on the picture of its page. */
export function boxStyle(box: Box): Record<string, string> {
  return {
    left: `${box.x0 * 100}%`,
    top: `${box.y0 * 100}%`,
    width: `${(box.x1 - box.x0) * 100}%`,
    height: `${(box.y1 - box.y0) * 100}%`,
  };
}

/** The picture of a page with its text and rectangles over it. Its size is known before it comes, so nothing jumps. */
export function PageImage({
  documentId,
  version,
  page,
  follow,
  on,
  children,
}: {
  documentId: string;
  version: number;
  page: Pick<PageRects, "page" | "width" | "height" | "rects">;
  /** Scroll to the first rectangle. */
  follow: boolean;
  on?: OnText;
  /** Drawn over the picture, below the text. */
  children?: ComponentChildren;
}) {
  const { width, height } = page;
  const picture = usePageImage(documentId, page.page, version, zoom.value > 1 ? LARGE : WIDTH);
  const { url, error } = picture;
  const first = page.rects?.[0];
  const scroll = useScrollTo<HTMLDivElement>(
    `${documentId} ${page.page} ${first?.x0} ${first?.y0} ${zoom.value}`,
  );
  if (error)
    return (
      <div>
        <p class="quiet">The picture of page {page.page} cannot be shown.</p>
        <Failed error={error} retry={picture.reload} />
      </div>
    );
  return (
    <figure class="page" style={{ aspectRatio: width && height ? `${width} / ${height}` : "210 / 297" }}>
      {url ? (
        <img src={url} alt={`Page ${page.page}`} />
      ) : (
        <div class="bone fill" role="status" aria-label="Loading the page" />
      )}
      {children}
      {page.rects?.map((rect, i) => (
        <div key={i} ref={i === 0 && follow ? scroll : undefined} class="rect" style={boxStyle(rect)} />
      ))}
      {url && width && height && (
        <PageText
          documentId={documentId}
          version={version}
          page={{ page: page.page, width, height }}
          on={on}
        />
      )}
    </figure>
  );
}
