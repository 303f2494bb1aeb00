import type { ComponentChildren } from "preact";
import { allowed, type Scope } from "../state/session";

/** Shows something only to keys that may do it. */
export function Needs({ scope = "write", children }: { scope?: Scope; children: ComponentChildren }) {
  return allowed.value[scope] ? <>{children}</> : null;
}
