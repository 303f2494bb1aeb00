import type { ComponentChildren } from "preact";
import { may, type Scope } from "../state/session";

/** Shows something only to keys that may do it. */
export function Needs({ scope = "write", children }: { scope?: Scope; children: ComponentChildren }) {
  return may(scope) ? <>{children}</> : null;
}
