import { useEffect, useRef, useState } from "preact/hooks";
import { asError, raw, type ApiError } from "../api/client";

const kept = new Map<string, string>();
const MOST = 40;

async function fetched(path: string): Promise<string> {
  const known = kept.get(path);
  if (known) return known;
  const url = URL.createObjectURL(await (await raw(path)).blob());
  kept.set(path, url);
  const [oldest] = kept;
  if (kept.size > MOST && oldest) {
    kept.delete(oldest[0]);
    URL.revokeObjectURL(oldest[1]);
  }
  return url;
}

/** The picture of a page as an address of this tab: an img element could not send the key. */
export function usePageImage(
  documentId: string,
  page: number,
  version: number,
  width: number,
): { url: string | null; error: ApiError | null; reload: () => void } {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ url: string | null; error: ApiError | null }>({
    url: null,
    error: null,
  });
  const of = useRef("");
  useEffect(() => {
    let gone = false;
    const other = `${documentId} ${page} ${version}`;
    setState((was) => ({ url: of.current === other ? was.url : null, error: null }));
    of.current = other;
    fetched(`/api/v1/documents/${documentId}/pages/${page}/image?width=${width}#${version}`).then(
      (url) => !gone && setState({ url, error: null }),
      (error: unknown) => !gone && setState({ url: null, error: asError(error) }),
    );
    return () => {
      gone = true;
    };
  }, [documentId, page, version, width, turn]);
  return { ...state, reload: () => setTurn(turn + 1) };
}

/** Whether the whole element is in view of the element that scrolls it. */
function inView(element: HTMLElement): boolean {
  const box = element.getBoundingClientRect();
  const frame = element.closest(".document-left, .side-body, .evidence-body")?.getBoundingClientRect();
  const top = Math.max(frame?.top ?? 0, 0);
  const beside = frame && (box.left < frame.left || box.right > frame.right);
  return !beside && box.top >= top && box.bottom <= Math.min(frame?.bottom ?? innerHeight, innerHeight);
}

/** Scrolls to an element that is out of view when `what` changes and the element is there. */
export function useScrollTo<T extends HTMLElement>(what: unknown): (element: T | null) => void {
  const done = useRef<unknown>(null);
  return (element) => {
    if (!element || done.current === what) return;
    done.current = what;
    if (inView(element)) return;
    const far = Math.abs(element.getBoundingClientRect().top) > 2 * innerHeight;
    const calm = far || matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.scrollIntoView({ block: "center", inline: "center", behavior: calm ? "auto" : "smooth" });
  };
}
