import type { Claim, Schemas } from "../../api/client";
import { Needs } from "../../components/Needs";
import { Cut, Failed, Show } from "../../components/States";
import { settle, useConflicts, useCorrections, useSuggestions } from "../../state/curation";
import { isShown, ofClaim, show, useNeighbours, type Place } from "../../state/evidence";
import { useAction } from "../../state/resource";
import { withQuery } from "../../state/router";
import { value } from "../../text/format";
import { Undoing } from "./Around";

/** What a person should look at: claims that differ, objects that may be one; and what people have corrected. */
export function Issues() {
  const conflicts = useConflicts();
  const suggestions = useSuggestions();
  const corrections = useCorrections();
  return (
    <div class="page-body">
      <h2>Claims that differ</h2>
      <Show
        of={conflicts}
        empty={(page) =>
          page.items.length === 0 && <p class="quiet">No two sources contradict each other.</p>
        }
      >
        {(page) => (
          <>
            {page.items.map((one) => (
              <Conflict key={`${one.object_id}${one.property_name}`} of={one} />
            ))}
            <Cut of={page} />
          </>
        )}
      </Show>
      <h2>Objects that may be one</h2>
      <Show
        of={suggestions}
        empty={(page) => page.items.length === 0 && <p class="quiet">No two objects look like one.</p>}
      >
        {(page) => (
          <>
            {page.items.map((one) => (
              <Pair key={one.id} one={one} changed={suggestions.reload} />
            ))}
            <Cut of={page} />
          </>
        )}
      </Show>
      <h2>Corrections</h2>
      <Show
        of={corrections}
        empty={(all) => all.length === 0 && <p class="quiet">Nobody has corrected anything.</p>}
      >
        {(all) => (
          <section class="property">
            <Undoing all={all} named changed={() => (corrections.reload(), conflicts.reload())} />
          </section>
        )}
      </Show>
    </div>
  );
}

function Conflict({ of }: { of: Schemas["ConflictModel"] }) {
  const says = `${of.object_name}: ${of.property_name}`;
  const list = of.claims.flatMap((one) => ofClaim(one, says) ?? []);
  useNeighbours(list);
  return (
    <section class="property">
      <h3>
        <span>
          <a href={withQuery({ at: null }, `/o/${of.object_id}`)}>{of.object_name}</a>: {of.property_name}
        </span>
      </h3>
      {of.claims.map((claim) => (
        <Side key={claim.id} claim={claim} place={ofClaim(claim, says)} list={list} />
      ))}
    </section>
  );
}

function Side({ claim, place, list }: { claim: Claim; place: Place | null; list: Place[] }) {
  return (
    <div class={`claim${place && isShown(place) ? " on" : ""}`}>
      <button type="button" class="plain" disabled={!place} onClick={() => place && show(place, list)}>
        <span>
          {value(claim.value)} {claim.current && <span class="badge good">current</span>}
        </span>
        <span class="quiet">
          {claim.document_name ?? claim.author}
          {claim.page ? `, page ${claim.page}` : ""} · schema {claim.schema_version}
        </span>
      </button>
    </div>
  );
}

type Verdict = "accept" | "dismiss";

/** Two objects that may be one. */
export function Pair(props: { one: Schemas["SuggestionModel"]; changed: (verdict: Verdict) => void }) {
  const { one } = props;
  const act = useAction(async (verdict: Verdict) => {
    await settle(one.id, verdict);
    props.changed(verdict);
  });
  return (
    <div class="row pair">
      <span class="grow">
        <a href={withQuery({ at: null }, `/o/${one.keep.id}`)}>{one.keep.name}</a> and{" "}
        <a href={withQuery({ at: null }, `/o/${one.drop.id}`)}>{one.drop.name}</a>{" "}
        <span class="quiet">
          {one.type} · {Math.round(one.score * 100)} %
        </span>
      </span>
      <Needs>
        <button type="button" disabled={act.busy} onClick={() => void act.run("accept")}>
          Merge
        </button>
        <button type="button" class="ghost" disabled={act.busy} onClick={() => void act.run("dismiss")}>
          Keep apart
        </button>
      </Needs>
      {act.error && <Failed error={act.error} />}
    </div>
  );
}
