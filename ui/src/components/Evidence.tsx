import { api, ApiError, ifThere, take, type Chunk, type Schemas } from "../api/client";
import { spanOf, type Span } from "../state/spans";
import { close, isWhole, shown, type Place } from "../state/evidence";
import { useScrollTo } from "../state/image";
import { useResource } from "../state/resource";
import { href } from "../state/router";
import { zoom } from "../state/zoom";
import { fileType, sameWords } from "../text/format";
import { unwrapped } from "../text/matches";
import { Marked } from "./Marked";
import { PageImage } from "./PageImage";
import { Preview } from "./Preview";
import { Show } from "./States";
import { Stepper } from "./Stepper";
import { Zoom } from "./Zoom";

interface Found {
  place: Place;
  /** Null if the document, or that part of it, is gone. */
  span: Span | null;
  deleted: boolean;
  chunk: Chunk | null;
  claims: Schemas["StatedClaim"][];
}

/** What stands at the place; with a quote at hand, a document that is gone is an answer and no failure. */
async function look(place: Place, signal: AbortSignal): Promise<Pick<Found, "span" | "deleted">> {
  try {
    return { span: await spanOf(place, signal), deleted: false };
  } catch (error) {
    const gone = error instanceof ApiError && [400, 404, 422].includes(error.status);
    if (!gone || !place.quote) throw error;
    return { span: null, deleted: error.status === 404 };
  }
}

async function find(place: Place, signal: AbortSignal): Promise<Found> {
  const params = { path: { chunk_id: place.chunkId ?? "" } };
  const [there, chunk, claims] = await Promise.all([
    look(place, signal),
    place.chunkId ? ifThere(take(api.GET("/api/v1/chunks/{chunk_id}", { params, signal }))) : null,
    place.chunkId
      ? ifThere(
          take(
            api.GET("/api/v1/chunks/{chunk_id}/claims", {
              params: { ...params, query: { limit: 20 } },
              signal,
            }),
          ),
        )
      : null,
  ]);
  return { place, ...there, chunk, claims: claims?.items ?? [] };
}

/** The right pane: where something came from. It is closed by Esc and stepped through by the arrow keys. */
export function Evidence() {
  const place = shown.value;
  if (!place) return null;
  return isWhole(place) ? <Preview id={place.documentId} /> : <Pane place={place} />;
}

function Pane({ place }: { place: Place }) {
  const found = useResource(
    (abort) => find(place, abort),
    [place.documentId, place.start, place.end, place.chunkId, place.quote, place.level],
  );
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
        <Show of={found} lines={12}>
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
        {found.data && holds && <Facts place={found.data.place} span={span} found={found.data} />}
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

/** The quote as it was, where the document no longer has it. */
function Gone({ place, deleted }: { place: Place; deleted: boolean }) {
  const { newText, url } = place.stale ?? {};
  return (
    <div class="document-text">
      <p class="note" role="status">
        {deleted ? "The document was deleted. It said:" : "The document has changed since. It said:"}
      </p>
      <blockquote class="quote" tabIndex={0}>
        {place.quote}
      </blockquote>
      {newText && (
        <>
          <p class="note">It says now:</p>
          <blockquote class="quote" tabIndex={0}>
            {newText}
          </blockquote>
        </>
      )}
      {url && <a href={url}>See it in the document</a>}
    </div>
  );
}

function hasPicture(span: Span): boolean {
  return span.pages.some((page) => page.rects !== null);
}

function Source({ span, chunk }: { span: Span; chunk: Chunk | null }) {
  const pages = span.pages.filter((page) => page.rects !== null);
  if (hasPicture(span)) {
    return (
      <>
        {pages.map((page, i) => (
          <PageImage
            key={page.page}
            documentId={span.document_id}
            version={span.version}
            page={page}
            follow={i === 0}
          />
        ))}
      </>
    );
  }
  return <TextSource span={span} chunk={chunk} />;
}

/** The words in their chunk, or with a little text around them. */
function TextSource({ span, chunk }: { span: Span; chunk: Chunk | null }) {
  const scroll = useScrollTo<HTMLElement>(`${span.document_id} ${span.start} ${span.end}`);
  const from = Number(chunk?.metadata?.startOffset ?? NaN);
  const inside = chunk !== null && span.start >= from && span.end <= from + [...chunk.content].length;
  return (
    <div class="document-text">
      {span.headings.length > 0 && <p class="headings">{span.headings.join(" › ")}</p>}
      {inside && chunk ? (
        <Marked
          text={chunk.content}
          spans={[{ start: span.start - from, end: span.end - from }]}
          first={scroll}
        />
      ) : (
        <>
          {span.before}
          <mark ref={scroll}>{span.text}</mark>
          {span.after}
        </>
      )}
    </div>
  );
}

function Facts({ place, span, found }: { place: Place; span: Span; found: Found }) {
  const { chunk, claims } = found;
  const schema = place.schemaVersion ?? claims[0]?.schema_version;
  const objects = [
    ...new Map(claims.flatMap((one) => (one.object ? [[one.object.id, one.object]] : []))).values(),
  ];
  return (
    <>
      {(place.quote ?? span.text) && (
        <blockquote class="quote" tabIndex={0}>
          {unwrapped(place.quote ?? span.text)}
        </blockquote>
      )}
      <dl class="facts">
        {place.level && (
          <Fact name="support">{<span class={`level ${place.level}`}>{place.level}</span>}</Fact>
        )}
        <Fact name="type">{fileType(span.file_type, span.document_name)}</Fact>
        {chunk && <Fact name="chunk">{chunk.chunk_index + 1}</Fact>}
        <Fact name="version">{span.version}</Fact>
        {schema && <Fact name="schema">{schema}</Fact>}
        {objects.length > 0 && (
          <Fact name="objects">
            {objects.slice(0, 4).map((one) => (
              <a key={one.id} href={href(`/o/${one.id}`)}>
                {one.name}
              </a>
            ))}
          </Fact>
        )}
      </dl>
    </>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
