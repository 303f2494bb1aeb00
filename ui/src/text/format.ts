const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const EXACT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** A time relative to now: `3 minutes ago`. */
export function relative(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit);
  }
  return "just now";
}

/** A time in the reader's zone. */
export function exact(iso: string): string {
  return EXACT.format(new Date(iso));
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = count / 1000;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size.toFixed(size < 10 ? 1 : 0)} ${units[unit] ?? ""}`;
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  return seconds < 90 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`;
}

/** `1 chunk`, `1,204 chunks`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** An estimated cost. The settings name prices without a currency. */
export function price(cost: number): string {
  const sum = cost < 0.01 ? "less than 0.01" : `about ${cost.toFixed(2)}`;
  return `${sum} in the currency of WHENCE_LLM_PROMPT_PRICE`;
}

/** The parts of a title, the first one cut to the length of a line. */
export function titled([first = "", ...others]: readonly string[]): string {
  const points = [...first.replace(/\s+/g, " ").trim()];
  const start = points.length > 80 ? `${points.slice(0, 79).join("")}…` : points.join("");
  return [start, ...others].filter((part) => part).join(" · ");
}

/** A JSON value as a person would write it. */
export function value(given: unknown): string {
  if (given === null || given === undefined) return "–";
  if (Array.isArray(given)) return given.map(value).join(", ");
  return typeof given === "object" ? JSON.stringify(given) : String(given);
}

/** `application/pdf` as `PDF`. */
export function fileType(mime: string, name: string): string {
  const ending = /\.([A-Za-z0-9]{1,5})$/.exec(name)?.[1];
  return (ending ?? mime.split("/")[1] ?? mime).toUpperCase();
}

/** A text of which white space and case do not count. */
function folded(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

/** Whether two texts have the same words. */
export function sameWords(a: string, b: string): boolean {
  return folded(a) === folded(b);
}

/** Whether a text has these words. */
export function hasWords(text: string, words: string): boolean {
  return folded(text).includes(folded(words));
}

/** A note of the server with its stressed words in quotes. */
export function unstarred(note: string): string {
  return note.replace(/\*([^*]+)\*/g, "“$1”");
}
