import type { Schemas } from "../../api/client";
import { Failed, Loading, Show, type Away } from "../../components/States";
import { query, setQuery, withQuery } from "../../state/router";
import { DRAFT, useChanges, type Checked } from "../../state/schema";

const KINDS = ["added", "removed", "renamed", "changed", "remerged"] as const;

/** What differs between two versions, or between one and the draft. */
export function Changes(props: { versions: string[]; draft: Checked | null; from: string; to: string }) {
  const { versions, draft, from, to } = props;
  const found = useChanges(from, to);
  const last = draft ? [DRAFT, ...versions] : versions;
  const isAsked = from !== "" && to !== "" && (query.value.has("from") || query.value.has("to"));
  const away = { to: withQuery({ from: null, to: null }), name: "Compare the newest" };
  return (
    <section class="panel">
      <h2>Changes</h2>
      {versions.length > 0 && last.length > 1 && (
        <div class="row">
          <Choice name="From" all={versions} value={from} choose={(one) => setQuery({ from: one })} />
          <Choice name="to" all={last} value={to} choose={(one) => setQuery({ to: one })} />
        </div>
      )}
      {versions.length < 2 && !draft && !isAsked ? (
        <p class="quiet">There is one version at most; a second one can be compared with it.</p>
      ) : draft && to === DRAFT ? (
        <OfDraft draft={draft} away={away} />
      ) : (
        <Show of={found} away={away}>
          {(diff) => diff && <Diff of={diff} />}
        </Show>
      )}
    </section>
  );
}

/** What the draft changes, once it is valid. */
function OfDraft({ draft, away }: { draft: Checked; away: Away }) {
  if (draft.error) return <Failed error={draft.error} away={away} />;
  if (draft.problem) return <p class="quiet">The draft is not valid yet.</p>;
  return draft.changes ? <Diff of={draft.changes} /> : <Loading />;
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
