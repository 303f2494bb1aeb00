import { api, take, type Schemas } from "../../api/client";
import { Empty, Show } from "../../components/States";
import type { Whole } from "../../state/document";
import { useResource } from "../../state/resource";
import { href, query, setQuery } from "../../state/router";
import { count, value } from "../../text/format";
import { Chunks } from "./Chunks";
import { Versions } from "./Versions";

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
        {tab === "versions" && <Versions document={whole.document} />}
        {tab === "metadata" && <pre>{JSON.stringify({ ...whole.document }, null, 2)}</pre>}
      </div>
    </aside>
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
      onClick={() => setQuery({ span, v: null, version: null }, { replace: true })}
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
