import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Opens a dialog while it is mounted. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const ref = useRef<HTMLDialogElement>(null);
  // With the first rendering: Esc closes the dialog as soon as it is there.
  useLayoutEffect(() => {
    ref.current?.showModal();
  }, []);
  return ref;
}
