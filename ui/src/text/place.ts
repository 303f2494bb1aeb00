/** A place in a text: UTF-16 offsets, and the line from 1. */
export interface TextPlace {
  start: number;
  end: number;
  line: number;
}

function placeAt(text: string, start: number, end: number): TextPlace {
  return { start, end, line: text.slice(0, start).split("\n").length };
}

/** Where a JSON text is broken, from the message of the parser; null if it does not say. */
export function brokenAt(text: string, message: string): TextPlace | null {
  const found = /position (\d+)/.exec(message);
  if (!found) return null;
  const start = Math.min(Number(found[1]), text.length);
  return placeAt(text, start, Math.min(start + 1, text.length));
}

/**
 * Where the value of a path such as `object_types.Thing.required[0]` is in a valid JSON text. A path that the text
 * does not have leads to the nearest value around it; of a name that is there twice, to the last.
 */
export function placeOf(text: string, path: string): TextPlace {
  let best: { path: string; start: number; end: number } = { path: "", start: 0, end: text.length };
  walk(text, (here, start, end) => {
    const fits = here === path || path.startsWith(`${here}.`) || path.startsWith(`${here}[`);
    if (fits && here.length >= best.path.length) best = { path: here, start, end };
  });
  return placeAt(text, best.start, best.end);
}

/** Calls `see` for each value but the outermost, with its path and its span. */
function walk(text: string, see: (path: string, start: number, end: number) => void): void {
  const token = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/gy;
  const next = (): { text: string; start: number } => {
    while (/\s/.test(text[token.lastIndex] ?? "")) token.lastIndex += 1;
    const start = token.lastIndex;
    return { text: token.exec(text)?.[0] ?? "", start };
  };
  const value = (path: string, first = next()): void => {
    if (first.text === "{") members((key) => `${path}.${key}`.replace(/^\./, ""), "}");
    else if (first.text === "[") members((_, i) => `${path}[${i}]`, "]");
    if (path) see(path, first.start, token.lastIndex);
  };
  const members = (name: (key: string, i: number) => string, close: string): void => {
    for (let i = 0, at = next(); at.text && at.text !== close; at = next()) {
      if (at.text === ",") continue;
      if (close === "}") {
        next(); // the colon
        value(name(JSON.parse(at.text) as string, i));
      } else value(name("", i), at);
      i += 1;
    }
  };
  value("");
}
