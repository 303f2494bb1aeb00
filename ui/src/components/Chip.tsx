import { same, show, shown, type Place } from "../state/evidence";

const LEVELS = {
  verbatim: "the source says it in these words",
  close: "the source says it",
  loose: "the source says something like it",
  none: "the source does not say it",
} as const;

/** A numbered citation. Hovering shows the quote, a click opens the evidence. */
export function Chip({ n, place, list }: { n: number; place: Place | null; list: readonly Place[] }) {
  if (!place) return <span class="chip dead">{n}</span>;
  const on = shown.value !== null && same(shown.value, place);
  const level = place.level ?? "none";
  return (
    <button
      type="button"
      class={`chip ${level}${on ? " on" : ""}`}
      aria-pressed={on}
      aria-label={`Source ${n}: ${LEVELS[level]}`}
      title={place.quote ? `“${place.quote}”\n${LEVELS[level]}` : LEVELS[level]}
      onClick={(event) => {
        event.stopPropagation();
        show(place, list);
      }}
    >
      {n}
    </button>
  );
}
