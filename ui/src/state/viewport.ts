import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Which rows of a list of equal rows are in view, with some around them, whatever scrolls it. */
export function useRows<E extends HTMLElement = HTMLDivElement>(
  total: number,
  height: number,
): { ref: RefObject<E | null>; from: number; to: number } {
  const ref = useRef<E>(null);
  const [range, setRange] = useState({ from: 0, to: 40 });
  useEffect(() => {
    const look = (): void => {
      if (!ref.current) return;
      const above = -ref.current.getBoundingClientRect().top;
      const from = Math.max(0, Math.floor(above / height) - 12);
      const to = from + Math.ceil(innerHeight / height) + 24;
      setRange((was) => (was.from === from && was.to === to ? was : { from, to }));
    };
    look();
    document.addEventListener("scroll", look, { capture: true, passive: true });
    addEventListener("resize", look);
    return () => {
      document.removeEventListener("scroll", look, { capture: true });
      removeEventListener("resize", look);
    };
  }, [total, height]);
  return { ref, from: Math.min(range.from, total), to: Math.min(range.to, total) };
}
