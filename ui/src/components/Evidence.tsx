import { close, isWhole, shown, type Place } from "../state/evidence";
import { href } from "../state/router";
import { useSource } from "../state/source";
import { zoom } from "../state/zoom";
import { sameWords } from "../text/format";
import { EvidenceFacts } from "./EvidenceFacts";
import { Gone, hasPicture, Source } from "./EvidenceSource";
import { Preview } from "./Preview";
import { Show } from "./States";
import { Stepper } from "./Stepper";
import { Zoom } from "./Zoom";

/** The right pane: where something came from. It is closed by Esc and stepped through by the arrow keys. */
export function Evidence() {
  const place = shown.value;
  if (!place) return null;
  return isWhole(place) ? <Preview id={place.documentId} /> : <Pane place={place} />;
}

function Pane({ place }: { place: Place }) {
  const found = useSource(place);
  const span = found.data?.span ?? null;
  const quote = found.data?.place.quote;
  const holds = span !== null && (!quote || sameWords(quote, span.text));
  return (
    <aside class="evidence" aria-label="Evidence">
      <header>
        <h2>{span?.document_name ?? place.stale?.documentName ?? "Evidence"}</h2>
        {holds && (
          <span class="quiet" title={span.location.label}>
            {span.location.label}
          </span>
        )}
        {holds && hasPicture(span) && <Zoom />}
        <button type="button" class="ghost" aria-label="Close the evidence" onClick={close}>
          ✕
        </button>
      </header>
      <div
        class="evidence-body"
        tabIndex={0}
        role="region"
        aria-label="The source"
        style={{ "--zoom": zoom.value }}
      >
        <Show of={found} lines={12} away={{ to: href("/documents"), name: "See all documents" }}>
          {(data) =>
            holds ? (
              <Source span={span} chunk={data.chunk} />
            ) : (
              <Gone place={data.place} deleted={data.deleted} />
            )
          }
        </Show>
      </div>
      <footer>
        {found.data && holds && <EvidenceFacts span={span} found={found.data} />}
        <Stepper>
          {!found.data?.deleted && (
            <a
              href={href(
                `/d/${place.documentId}`,
                holds ? { span: `${place.start}-${place.end}`, v: span.version } : {},
              )}
            >
              Open the document
            </a>
          )}
        </Stepper>
      </footer>
    </aside>
  );
}
