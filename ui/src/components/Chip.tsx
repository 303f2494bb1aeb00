import { useId } from "preact/hooks";
import { isShown, show, type Place } from "../state/evidence";
import { usePopover } from "../state/popover";
import { unwrapped } from "../text/matches";

const LEVELS = {
  verbatim: "the source says it in these words",
  close: "the source says it",
  loose: "the source shares words with it, no more",
  none: "the source does not say it",
} as const;

/** A numbered citation. Hovering or focusing it shows the quote, a click opens the evidence. */
export function Chip({ n, place, list }: { n: number; place: Place | null; list: readonly Place[] }) {
  const { at, open, close } = usePopover();
  const id = useId();
  if (!place) return <span class="chip dead">{n}</span>;
  const on = isShown(place);
  const { level } = place;
  const says = level ? LEVELS[level] : "open it";
  return (
    <span class="chip-place" onMouseEnter={(event) => open(event.currentTarget)} onMouseLeave={close}>
      <button
        type="button"
        class={`chip ${level ?? ""}${on ? " on" : ""}`}
        aria-pressed={on}
        aria-label={`Source ${n}: ${says}`}
        aria-describedby={at ? id : undefined}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && open(event.currentTarget)}
        onBlur={close}
        onClick={(event) => {
          event.stopPropagation();
          close();
          show(place, list);
        }}
      >
        {n}
      </button>
      {at && (
        <span role="tooltip" id={id} class="popover" style={at}>
          {place.quote && <q>{unwrapped(place.quote)}</q>}
          <span class="quiet">{says}</span>
        </span>
      )}
    </span>
  );
}
