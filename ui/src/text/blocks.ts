/** In parts of a page's width and height. */
export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** The boxes around lines in reading order: lines below each other are one box, another column begins another. */
export function blocks(lines: readonly Box[]): Box[] {
  const found: Box[] = [];
  for (const line of lines) {
    const last = found.at(-1);
    const beside = last && (line.x0 > last.x1 || line.x1 < last.x0);
    if (!last || beside || line.y1 < last.y0) found.push({ ...line });
    else
      found[found.length - 1] = {
        x0: Math.min(last.x0, line.x0),
        y0: Math.min(last.y0, line.y0),
        x1: Math.max(last.x1, line.x1),
        y1: Math.max(last.y1, line.y1),
      };
  }
  return found;
}
