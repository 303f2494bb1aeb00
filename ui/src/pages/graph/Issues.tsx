import type { Claim, Schemas } from "../../api/client";
import { Needs } from "../../components/Needs";
import { Failed, Show } from "../../components/States";
import { settle, useConflicts, useCorrections, useSuggestions } from "../../state/curation";
import { ofClaim, show } from "../../state/evidence";
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
        {(page) =>
          page.items.map((one) => (
            <section key={`${one.object_id}${one.property_name}`} class="property">
              <h3>
                <span>
                  <a href={withQuery({ at: null }, `/o/${one.object_id}`)}>{one.object_name}</a>:{" "}
                  {one.property_name}
                </span>
              </h3>
              {one.claims.map((claim) => (
                <Side
                  key={claim.id}
                  claim={claim}
                  all={one.claims}
                  says={`${one.object_name}: ${one.property_name}`}
                />
              ))}
            </section>
          ))
        }
      </Show>
      <h2>Objects that may be one</h2>
      <Show
        of={suggestions}
        empty={(page) => page.items.length === 0 && <p class="quiet">No two objects look like one.</p>}
      >
        {(page) => page.items.map((one) => <Pair key={one.id} one={one} changed={suggestions.reload} />)}
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

function Side({ claim, all, says }: { claim: Claim; all: Claim[]; says: string }) {
  const place = ofClaim(claim, says);
  return (
    <div class="claim">
      <button
        type="button"
        class="plain"
        disabled={!place}
        onClick={() =>
          place &&
          show(
            place,
            all.flatMap((one) => ofClaim(one, says) ?? []),
          )
        }
      >
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
