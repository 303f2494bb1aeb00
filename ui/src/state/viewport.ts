import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Which rows of a list of equal rows are in view of its scrolling ancestor, with some around them. */
export function useRows(
  total: number,
  height: number,
): { ref: RefObject<HTMLDivElement | null>; from: number; to: number } {
  const ref = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ from: 0, to: 40 });
  useEffect(() => {
    const scroller = ref.current?.closest("main") ?? document.documentElement;
    const look = (): void => {
      if (!ref.current) return;
      const above = scroller.getBoundingClientRect().top - ref.current.getBoundingClientRect().top;
      const from = Math.max(0, Math.floor(above / height) - 12);
      const to = from + Math.ceil(scroller.clientHeight / height) + 24;
      setRange((was) => (was.from === from && was.to === to ? was : { from, to }));
    };
    look();
    scroller.addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      scroller.removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [total, height]);
  return { ref, from: Math.min(range.from, total), to: Math.min(range.to, total) };
}
