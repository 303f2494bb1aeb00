import type { ComponentChildren } from "preact";
import { may, type Needed } from "../state/session";

/** Shows something only to keys that may do it. */
export function Needs({ scope = "write", children }: { scope?: Needed; children: ComponentChildren }) {
  return may(scope) ? <>{children}</> : null;
}

/** Says why something is missing or cannot be changed, to keys that may not do it. */
export function ReadOnly({ what }: { what: string }) {
  return may("write") ? null : (
    <p class="note">Your key may only read: {what} needs a key with the scope write.</p>
  );
}
