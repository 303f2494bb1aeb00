import type { ComponentChildren } from "preact";
import { index, places, step } from "../state/evidence";

/** Steps through what was selected, beside a link. */
export function Stepper({ children }: { children: ComponentChildren }) {
  const total = places.value.length;
  return (
    <nav aria-label="Evidence of the selected">
      {total > 1 && (
        <span class="stepper">
          <button type="button" class="ghost" aria-label="Previous" onClick={() => step(-1)}>
            ‹
          </button>
          {index.value + 1} of {total}
          <button type="button" class="ghost" aria-label="Next" onClick={() => step(1)}>
            ›
          </button>
        </span>
      )}
      {children}
    </nav>
  );
}
