/** Offsets of the API count code points; those of JavaScript count UTF-16 units. */
export class Points {
  private readonly units: Uint32Array | null;

  constructor(readonly text: string) {
    this.units = /[\ud800-\udbff]/.test(text) ? unitsOf(text) : null;
  }

  /** The number of code points. */
  get length(): number {
    return this.units === null ? this.text.length : this.units.length - 1;
  }

  /** The UTF-16 index of a code point. */
  unit(point: number): number {
    if (this.units === null) return Math.min(point, this.text.length);
    return this.units[Math.min(point, this.units.length - 1)] ?? this.text.length;
  }

  slice(start: number, end?: number): string {
    return this.text.slice(this.unit(start), end === undefined ? undefined : this.unit(end));
  }
}

function unitsOf(text: string): Uint32Array {
  const units: number[] = [];
  let unit = 0;
  for (const point of text) {
    units.push(unit);
    unit += point.length;
  }
  units.push(unit);
  return Uint32Array.from(units);
}
