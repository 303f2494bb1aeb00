import { canZoom, zoom, zoomBy } from "../state/zoom";

/** Draws the pages larger or smaller. */
export function Zoom() {
  return (
    <span class="zoom" role="group" aria-label="Zoom">
      <button
        type="button"
        class="ghost"
        aria-label="Smaller"
        disabled={!canZoom(-1)}
        onClick={() => zoomBy(-1)}
      >
        −
      </button>
      <span class="quiet">{zoom.value * 100} %</span>
      <button
        type="button"
        class="ghost"
        aria-label="Larger"
        disabled={!canZoom(1)}
        onClick={() => zoomBy(1)}
      >
        +
      </button>
    </span>
  );
}
