import { useState } from "preact/hooks";
import { Needs } from "../../components/Needs";
import type { Claim, Schemas } from "../../api/client";
import { EvidenceFile } from "../../components/EvidenceFile";
import { Panel } from "../../components/Panel";
import { Failed, Show } from "../../components/States";
import { correct, rejectObject } from "../../state/curation";
import { ofClaim, useNeighbours } from "../../state/evidence";
import { typed, useObject } from "../../state/graph";
import { useAction } from "../../state/resource";
import { href, go, withQuery } from "../../state/router";
import { may } from "../../state/session";
import { useSubject } from "../../state/shell";
import { count, value } from "../../text/format";
import { Corrections, Merged, Relations, Similar } from "./Around";
import { ClaimRow } from "./ClaimRow";

type Detail = Schemas["ObjectAnswer"];

/** An object: each property with its value and the claim behind it. */
export function ObjectPanel({ id, changed }: { id: string; changed: () => void }) {
  const found = useObject(id);
  const object = found.data;
  useSubject(object?.name);
  const under = object && (
    <p class="quiet">
      {object.type} · {count(object.claim_count, "claim")}
      {object.aliases.length > 0 && <> · also {object.aliases.join(", ")}</>}
    </p>
  );
  return (
    <Panel kind="Object" name={object?.name} closed={withQuery({ at: null }, "/graph")} under={under}>
      <Show of={found} lines={8} away={{ what: "object", to: href("/graph"), name: "See the whole graph" }}>
        {(one) => <Shown object={one} changed={changed} />}
      </Show>
    </Panel>
  );
}

function Shown({ object, changed }: { object: Detail; changed: () => void }) {
  const reject = useAction(async () => {
    await rejectObject(object.id);
    changed();
    go(href("/graph"));
  });
  const names = Object.keys(object.sources).sort((a, b) => Number(b === "name") - Number(a === "name"));
  return (
    <>
      {names.map((name) => (
        <Property
          key={name}
          object={object}
          name={name}
          claims={object.sources[name] ?? []}
          changed={changed}
        />
      ))}
      <Relations id={object.id} />
      <Similar id={object.id} changed={changed} />
      <Merged id={object.id} changed={changed} />
      <Corrections id={object.id} changed={changed} />
      <p>
        <EvidenceFile of="objects" id={object.id} />
      </p>
      {reject.error && <Failed error={reject.error} />}
      <Needs>
        <p>
          <button type="button" class="danger" disabled={reject.busy} onClick={() => void reject.run()}>
            Reject the object
          </button>
        </p>
      </Needs>
    </>
  );
}

function Property(props: { object: Detail; name: string; claims: Claim[]; changed: () => void }) {
  const { object, name, claims, changed } = props;
  const [editing, setEditing] = useState(false);
  const current = claims.filter((one) => one.current);
  const older = claims.filter((one) => !one.current);
  const distinct = new Set(
    claims.filter((one) => !one.rejected).map((one) => value(one.value).toLowerCase()),
  );
  useNeighbours(claims.flatMap((one) => ofClaim(one, `${object.name}: ${name}`) ?? []));
  const shownValue = name === "name" ? object.name : object.properties[name];
  return (
    <section class="property">
      <h3>
        {name}
        {distinct.size > 1 && !Array.isArray(shownValue) && (
          <span class="badge bad">{distinct.size} values</span>
        )}
        {object.ungrounded.includes(name) && <span class="badge bad">not stated</span>}
      </h3>
      <p class="property-value">{value(shownValue)}</p>
      {current.map((one) => (
        <ClaimRow key={one.id} object={object} claim={one} all={claims} changed={changed} />
      ))}
      {older.length > 0 && (
        <details>
          <summary class="quiet">{count(older.length, "older claim")}</summary>
          {older.map((one) => (
            <ClaimRow key={one.id} object={object} claim={one} all={claims} changed={changed} />
          ))}
        </details>
      )}
      {name !== "name" && !editing && may("write") && (
        <button type="button" class="ghost" onClick={() => setEditing(true)}>
          Correct
        </button>
      )}
      {editing && (
        <Edit id={object.id} name={name} now={shownValue} done={changed} close={() => setEditing(false)} />
      )}
    </section>
  );
}

function Edit(props: { id: string; name: string; now: unknown; done: () => void; close: () => void }) {
  const { id, name, now, done, close } = props;
  const [text, setText] = useState(value(now));
  const [reason, setReason] = useState("");
  const save = useAction(async () => {
    await correct(id, name, typeof now === "string" ? text : typed(text), reason);
    close();
    done();
  });
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <input
        aria-label={`New value of ${name}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <input
        aria-label="Reason"
        placeholder="Reason"
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <div class="row">
        <button type="submit" class="primary" disabled={save.busy}>
          Save
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
      {save.error && <Failed error={save.error} />}
    </form>
  );
}
