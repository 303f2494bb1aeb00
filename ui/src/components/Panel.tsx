import type { ComponentChildren } from "preact";
import { usePanel } from "../state/panel";

/** The right pane of a list: what was chosen in it. Its cross and Esc close it. */
export function Panel(props: {
  /** What it shows: "Job". */
  kind: string;
  /** Its name, once that is known. */
  name?: string;
  /** The address without it. */
  closed: string;
  under?: ComponentChildren;
  children: ComponentChildren;
}) {
  usePanel(props.closed);
  return (
    <aside class="object-panel" aria-label={props.kind} tabIndex={0}>
      <header>
        <div>
          <h2>{props.name ?? props.kind}</h2>
          {props.under}
        </div>
        <a class="ghost" aria-label={`Close the ${props.kind.toLowerCase()}`} href={props.closed}>
          ✕
        </a>
      </header>
      {props.children}
    </aside>
  );
}
