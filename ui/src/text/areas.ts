/** A part of a picture, in pixels. */
export interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export function overlap(a: Area, b: Area): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
