import type { Schemas } from "../../api/client";
import { Show } from "../../components/States";
import { query, setQuery } from "../../state/router";
import { useChanges } from "../../state/schema";

const KINDS = ["added", "removed", "renamed", "changed", "remerged"] as const;

/** What differs between two versions. */
export function Changes({ versions }: { versions: string[] }) {
  const to = query.value.get("to") ?? versions[0] ?? "";
  const from = query.value.get("from") ?? versions[1] ?? "";
  const found = useChanges(from, to);
  return (
    <section class="panel">
      <h2>Changes</h2>
      {versions.length < 2 ? (
        <p class="quiet">There is one version at most; a second one can be compared with it.</p>
      ) : (
        <>
          <div class="row">
            <Choice name="From" all={versions} value={from} choose={(one) => setQuery({ from: one })} />
            <Choice name="to" all={versions} value={to} choose={(one) => setQuery({ to: one })} />
          </div>
          <Show of={found}>{(diff) => diff && <Diff of={diff} />}</Show>
        </>
      )}
    </section>
  );
}

function Choice({
  name,
  all,
  value,
  choose,
}: {
  name: string;
  all: string[];
  value: string;
  choose: (one: string) => void;
}) {
  return (
    <label class="check">
      {name}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {all.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

function Diff({ of }: { of: Schemas["SchemaDiff"] }) {
  const lines = KINDS.flatMap((kind) => of[kind].map((one) => ({ kind, one })));
  if (lines.length === 0) return <p class="quiet">Nothing differs.</p>;
  return (
    <>
      <ul class="diff">
        {lines.map(({ kind, one }, i) => (
          <li key={i} class={kind}>
            {kind} {one.kind.replace("_", " ")}{" "}
            <strong>{one.type ? `${one.type}.${one.name}` : one.name}</strong>
            {one.was && <> (was {one.was})</>}
          </li>
        ))}
      </ul>
      <p class="quiet">{of.needs_model ? "Chunks must be read again." : "No chunk must be read again."}</p>
    </>
  );
}
