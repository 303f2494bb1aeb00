import { useLayoutEffect, useState } from "preact/hooks";

const WIDTH = 320;
const ROOM = 180;

type Spot = { left: string; top: string } | { left: string; bottom: string };

/** A small box beside an element: below it, or above it near the end of the page. Esc and scrolling close it. */
export function usePopover(): { at: Spot | null; open: (by: Element) => void; close: () => void } {
  const [at, setAt] = useState<Spot | null>(null);
  const close = (): void => setAt(null);
  const open = (by: Element): void => {
    const box = by.getBoundingClientRect();
    const left = `${Math.max(8, Math.min(box.left, innerWidth - WIDTH - 8))}px`;
    const below = box.bottom + ROOM < innerHeight;
    setAt(below ? { left, top: `${box.bottom}px` } : { left, bottom: `${innerHeight - box.top}px` });
  };
  useLayoutEffect(() => {
    if (!at) return;
    const stop = new AbortController();
    const options = { capture: true, signal: stop.signal };
    const escape = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // the evidence pane stays
      close();
    };
    addEventListener("keydown", escape, options);
    addEventListener("scroll", close, options);
    return () => stop.abort();
  }, [at !== null]);
  return { at, open, close };
}
