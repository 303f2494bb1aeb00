import { Needs } from "../../components/Needs";
import { Cut, Failed, Show } from "../../components/States";
import { Time } from "../../components/Time";
import {
  undo,
  undoMerge,
  useCorrectionsOf,
  useMerged,
  useSimilar,
  type Curation,
} from "../../state/curation";
import { useRelationships } from "../../state/graph";
import { useAction, type Resource } from "../../state/resource";
import { go, withQuery } from "../../state/router";
import { value } from "../../text/format";
import { Pair } from "./Issues";

interface Of {
  id: string;
  changed: () => void;
}

/** A list of the panel in its four states. */
function Part<T>(props: {
  title: string;
  of: Resource<{ items: T[] }>;
  none: string;
  children: (items: T[]) => preact.ComponentChildren;
}) {
  return (
    <section class="property">
      <h3>{props.title}</h3>
      <Show
        of={props.of}
        lines={1}
        empty={(page) => page.items.length === 0 && <p class="quiet">{props.none}</p>}
      >
        {(page) => props.children(page.items)}
      </Show>
    </section>
  );
}

export function Relations({ id }: { id: string }) {
  const found = useRelationships(id);
  return (
    <Part title="Relationships" of={found} none="No relationship is known.">
      {(items) => (
        <>
          <ul class="relations">
            {items.map((one) => (
              <li key={one.id}>
                <a href={withQuery({ at: null }, `/o/${one.source_id}`)}>{one.source_name}</a> {one.type}{" "}
                <a href={withQuery({ at: null }, `/o/${one.target_id}`)}>{one.target_name}</a>
              </li>
            ))}
          </ul>
          {found.data && <Cut of={found.data} />}
        </>
      )}
    </Part>
  );
}

/** Objects that may be this one. */
export function Similar({ id, changed }: Of) {
  const found = useSimilar(id);
  return (
    <Part title="May be the same" of={found} none="No other object looks like this one.">
      {(items) =>
        items.map((one) => (
          <Pair
            key={one.id}
            one={one}
            changed={(verdict) => {
              changed();
              if (verdict === "accept" && one.drop.id === id)
                go(withQuery({ at: null }, `/o/${one.keep.id}`));
            }}
          />
        ))
      }
    </Part>
  );
}

/** Objects that became part of this one. */
export function Merged({ id, changed }: Of) {
  const found = useMerged(id);
  const back = useAction(async (merge: string) => {
    await undoMerge(merge);
    changed();
  });
  return (
    <Part title="Merged" of={found} none="No other object became part of it.">
      {(items) => (
        <>
          {items.map((one) => (
            <Undoable key={one.id} busy={back.busy} undo={() => void back.run(one.id)}>
              {one.dropped_name}
              <span class="quiet">
                {" "}
                · <Time at={one.merged_at} />
              </span>
            </Undoable>
          ))}
          {back.error && <Failed error={back.error} />}
        </>
      )}
    </Part>
  );
}

/** What people said about this object. */
export function Corrections({ id, changed }: Of) {
  const found = useCorrectionsOf(id);
  return (
    <Part title="Corrections" of={found} none="Nobody has corrected it.">
      {(items) => <Undoing all={items} changed={changed} />}
    </Part>
  );
}

/** What a correction says, such as `expiration set to 1 hour`. */
function said(one: Curation): string {
  const what = one.relationship_type
    ? `${one.relationship_type} ${one.target_name ?? ""}`
    : (one.property_name ?? one.subject);
  return one.action === "set" ? `${what} set to ${value(one.value)}` : `${what} rejected`;
}

export function Undoing(props: { all: readonly Curation[]; changed: () => void; named?: boolean }) {
  const { all, changed, named } = props;
  const back = useAction(async (curation: string) => {
    await undo(curation);
    changed();
  });
  return (
    <>
      {all.map((one) => (
        <Undoable key={one.id} busy={back.busy} undo={() => void back.run(one.id)}>
          {named && <strong>{one.object_name}: </strong>}
          {said(one)}
          <span class="quiet">
            {" "}
            · {one.author} · <Time at={one.created_at} />
          </span>
        </Undoable>
      ))}
      {back.error && <Failed error={back.error} />}
    </>
  );
}

function Undoable(props: { busy: boolean; undo: () => void; children: preact.ComponentChildren }) {
  return (
    <div class="claim">
      <span>{props.children}</span>
      <Needs>
        <button type="button" class="ghost" disabled={props.busy} onClick={props.undo}>
          Undo
        </button>
      </Needs>
    </div>
  );
}
