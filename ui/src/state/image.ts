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
): { url: string | null; error: ApiError | null } {
  const [state, setState] = useState<{ url: string | null; error: ApiError | null }>({
    url: null,
    error: null,
  });
  useEffect(() => {
    let gone = false;
    setState({ url: null, error: null });
    fetched(`/api/v1/documents/${documentId}/pages/${page}/image?width=${width}#${version}`).then(
      (url) => !gone && setState({ url, error: null }),
      (error: unknown) => !gone && setState({ url: null, error: asError(error) }),
    );
    return () => {
      gone = true;
    };
  }, [documentId, page, version, width]);
  return state;
}

/** Scrolls to an element when `what` changes and the element is there. */
export function useScrollTo<T extends HTMLElement>(what: unknown): (element: T | null) => void {
  const done = useRef<unknown>(null);
  return (element) => {
    if (!element || done.current === what) return;
    done.current = what;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  };
}
