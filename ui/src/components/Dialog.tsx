import type { ComponentChildren } from "preact";
import { useModal } from "../state/dialog";

/** A modal dialog; Esc and a click beside it close it. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ComponentChildren;
}) {
  const ref = useModal();
  return (
    <dialog
      ref={ref}
      class={props.wide ? "wide" : ""}
      aria-labelledby="dialog-title"
      onClose={props.onClose}
      onClick={(event) => event.target === ref.current && ref.current?.close()}
    >
      <div class="dialog-body">
        <header>
          <h2 id="dialog-title">{props.title}</h2>
          <button type="button" class="ghost" aria-label="Close" onClick={() => ref.current?.close()}>
            ✕
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
