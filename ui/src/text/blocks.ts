/** In parts of a page's width and height. */
export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/**
 * The boxes around lines in reading order. Another column begins another box, and so does a line with which the box
 * would cover one that is not in it: of this list or of `others`.
 */
export function blocks(lines: readonly Box[], others: readonly Box[] = []): Box[] {
  const found: Box[] = [];
  let inside: Box[] = [];
  for (const line of lines) {
    const last = found.at(-1);
    const beside = last && (line.x0 > last.x1 || line.x1 < last.x0);
    const grown = last && !beside && line.y1 >= last.y0 ? around(last, line) : null;
    const outside = (one: Box): boolean => one !== line && !inside.includes(one);
    if (grown && ![...lines, ...others].some((one) => outside(one) && covers(grown, one))) {
      found[found.length - 1] = grown;
      inside.push(line);
    } else {
      found.push({ ...line });
      inside = [line];
    }
  }
  return found;
}

function around(a: Box, b: Box): Box {
  return {
    x0: Math.min(a.x0, b.x0),
    y0: Math.min(a.y0, b.y0),
    x1: Math.max(a.x1, b.x1),
    y1: Math.max(a.y1, b.y1),
  };
}

/** Whether a box has a part of a line that can be seen: lines below each other may touch. */
function covers(box: Box, line: Box): boolean {
  const wide = Math.min(box.x1, line.x1) - Math.max(box.x0, line.x0);
  const high = Math.min(box.y1, line.y1) - Math.max(box.y0, line.y0);
  return wide > 0.002 && high > (line.y1 - line.y0) / 2;
}
