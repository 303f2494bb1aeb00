import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Opens a dialog while it is mounted. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return ref;
}
