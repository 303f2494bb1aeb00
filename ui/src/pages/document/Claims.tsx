import { Needs } from "../../components/Needs";
import { Empty, Show } from "../../components/States";
import { useClaims, type Group, type Stated } from "../../state/claims";
import { href, setQuery } from "../../state/router";
import { scaled } from "../../state/screen";
import { useRows } from "../../state/viewport";
import { count, value } from "../../text/format";

const ROW = 52;

/** All claims of a document by the object they are about; only those in view exist. */
export function Claims({ id }: { id: string }) {
  const found = useClaims(id);
  return (
    <Show of={found} lines={8} empty={(groups) => groups.length === 0 && <Nothing />}>
      {(groups) => <Long groups={groups} />}
    </Show>
  );
}

function Nothing() {
  return (
    <Empty title="No claims">
      <p>A claim is what a chunk says about an object. Nothing was extracted from this document yet.</p>
      <Needs>
        <p>
          <a class="button" href={href("/schema")}>
            Extract with the schema
          </a>
        </p>
      </Needs>
    </Empty>
  );
}

function Long({ groups }: { groups: readonly Group[] }) {
  const lines = groups.flatMap((group) => [group, ...group.claims]);
  const height = scaled(ROW);
  const { ref, from, to } = useRows<HTMLUListElement>(lines.length, height);
  return (
    <>
      <p class="quiet">
        {count(lines.length - groups.length, "claim")} about {count(groups.length, "object")}
      </p>
      <ul class="claim-list" ref={ref} style={{ height: `${lines.length * height}px` }}>
        {lines.slice(from, to).map((one, i) => (
          <li
            key={one.id}
            style={{ top: `${(from + i) * height}px`, height: `${height}px` }}
            aria-posinset={from + i + 1}
            aria-setsize={lines.length}
          >
            {"claims" in one ? <Head of={one} /> : <Line one={one} />}
          </li>
        ))}
      </ul>
    </>
  );
}

function Head({ of }: { of: Group }) {
  return <h2>{of.isObject ? <a href={href(`/o/${of.id}`)}>{of.name}</a> : of.name}</h2>;
}

function Line({ one }: { one: Stated }) {
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
      title={says}
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
