import { api, take, type Chunk, type Schemas } from "../../api/client";
import { Empty, Show } from "../../components/States";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { endOf, startOf, type Whole } from "../../state/document";
import { useScrollTo } from "../../state/image";
import { useResource } from "../../state/resource";
import { href, query, setQuery } from "../../state/router";
import { count, exact, value } from "../../text/format";

const TABS = { chunks: "Chunks", claims: "Claims", versions: "Versions", metadata: "Metadata" } as const;
type Tab = keyof typeof TABS;

/** What was made of the document. A click finds its place at the left. */
export function Side({ whole, selected }: { whole: Whole; selected: string | null }) {
  const tab = (query.value.get("tab") ?? "chunks") as Tab;
  return (
    <aside class="document-side" aria-label="Made of this document">
      <div class="row tabs" role="group" aria-label="Show">
        {(Object.keys(TABS) as Tab[]).map((one) => (
          <button
            key={one}
            type="button"
            class="ghost"
            aria-pressed={tab === one}
            onClick={() => setQuery({ tab: one }, { replace: true })}
          >
            {TABS[one]}
          </button>
        ))}
      </div>
      <div class="side-body" tabIndex={0} role="region" aria-label={TABS[tab]}>
        {tab === "chunks" && (
          <Chunks chunks={whole.chunks} selected={selected} total={whole.document.chunk_count} />
        )}
        {tab === "claims" && <Claims id={whole.document.id} />}
        {tab === "versions" && <Versions whole={whole} />}
        {tab === "metadata" && <pre>{JSON.stringify({ ...whole.document }, null, 2)}</pre>}
      </div>
    </aside>
  );
}

function Chunks({ chunks, selected, total }: { chunks: Chunk[]; selected: string | null; total: number }) {
  const scroll = useScrollTo<HTMLLIElement>(selected);
  if (chunks.length === 0) return <Empty title="No chunks" />;
  return (
    <>
      <ol class="chunk-list">
        {chunks.map((chunk) => (
          <li
            key={chunk.id}
            ref={chunk.id === selected ? scroll : undefined}
            class={chunk.id === selected ? "on" : ""}
          >
            <button
              type="button"
              class="plain"
              onClick={() =>
                setQuery({ span: `${startOf(chunk)}-${endOf(chunk)}`, v: null }, { replace: true })
              }
            >
              <span class="quiet">
                {chunk.chunk_index + 1}
                {chunk.metadata?.source_page ? ` · page ${String(chunk.metadata.source_page)}` : ""} ·{" "}
                {endOf(chunk) - startOf(chunk)} characters
              </span>
              <span class="excerpt">{chunk.content.slice(0, 160)}</span>
            </button>
          </li>
        ))}
      </ol>
      {chunks.length < total && (
        <p class="quiet">
          The first {chunks.length} of {count(total, "chunk")}.
        </p>
      )}
    </>
  );
}

type Stated = Schemas["StatedClaim"];

function Claims({ id }: { id: string }) {
  const params = { path: { document_id: id }, query: { limit: 100 } };
  const found = useResource(
    (signal) => take(api.GET("/api/v1/documents/{document_id}/claims", { params, signal })),
    [id],
  );
  return (
    <Show
      of={found}
      empty={(page) =>
        page.items.length === 0 && (
          <Empty title="No claims">
            Nothing was extracted from this document yet. Start it on the Schema page.
          </Empty>
        )
      }
    >
      {(page) => (
        <>
          {[...grouped(page.items)].map(([name, claims]) => (
            <section key={name} class="claim-group">
              <h2>{claims[0]?.object ? <a href={href(`/o/${claims[0].object.id}`)}>{name}</a> : name}</h2>
              <ul>
                {claims.map((one) => (
                  <li key={one.id}>
                    <ClaimLine one={one} />
                  </li>
                ))}
              </ul>
            </section>
          ))}
          {page.pagination.has_more && (
            <p class="quiet">The first 100 of {count(page.pagination.total, "claim")}.</p>
          )}
        </>
      )}
    </Show>
  );
}

function grouped(claims: Stated[]): Map<string, Stated[]> {
  const groups = new Map<string, Stated[]>();
  for (const one of claims) {
    const name = one.object?.name ?? "Relationships";
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return groups;
}

function ClaimLine({ one }: { one: Stated }) {
  const says = one.relationship
    ? `${one.relationship.source.name} ${one.relationship.type} ${one.relationship.target.name}`
    : `${one.property_name ?? ""}: ${value(one.value)}`;
  const span =
    one.document_start !== null && one.document_end !== null
      ? `${one.document_start}-${one.document_end}`
      : null;
  return (
    <button
      type="button"
      class="plain"
      disabled={!span}
      onClick={() => setQuery({ span, v: null }, { replace: true })}
    >
      <span>{says}</span>
      <span class="quiet">
        schema {one.schema_version}
        {one.current ? "" : " · older"}
        {span ? "" : " · no quote"}
      </span>
    </button>
  );
}

function Versions({ whole }: { whole: Whole }) {
  const { document } = whole;
  const params = { query: { document_id: document.id, project_id: document.project_id, limit: 50 } };
  const jobs = useResource(
    (signal) => take(api.GET("/api/v1/jobs", { params, signal })),
    [document.id, document.job_id],
  );
  return (
    <>
      <p>
        {document.version > 0 ? `Version ${document.version}` : "Not read yet"}
        {document.version_at && <>, came in {exact(document.version_at)}</>}
        {document.valid_from && <>; dated {exact(document.valid_from)}</>}
      </p>
      <Show of={jobs}>
        {(page) => (
          <ul class="chunk-list">
            {page.items.map((job) => (
              <li key={job.id}>
                <a class="plain" href={href("/jobs", { job: job.id })}>
                  <span>
                    {job.job_type === "extraction" ? "Extraction" : "Ingest"}{" "}
                    <Status status={job.status} jobId={job.id} />
                  </span>
                  <span class="quiet">
                    <Time at={job.created_at} />
                    {job.extraction?.schema_version && ` · schema ${job.extraction.schema_version}`}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        )}
      </Show>
    </>
  );
}
