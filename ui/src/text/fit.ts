import type { Box } from "./blocks";

/** How a printed line fills its box. Lengths are in parts of the page's width. */
export interface Fit {
  size: number;
  /** How far the text is stretched along its direction. */
  stretch: number;
  /** Printed from top to bottom. */
  vertical: boolean;
}

/** `widthOf` gives the width of a text at a font size of 1. */
export function fit(
  line: { text: string; rect: Box },
  page: { width: number; height: number },
  widthOf: (text: string) => number,
): Fit {
  const width = line.rect.x1 - line.rect.x0;
  const height = ((line.rect.y1 - line.rect.y0) * page.height) / page.width;
  const vertical = height > width && [...line.text].length > 1;
  const [size, length] = vertical ? [width, height] : [height, width];
  const plain = widthOf(line.text) * size;
  return { size, stretch: plain > 0 ? length / plain : 1, vertical };
}
