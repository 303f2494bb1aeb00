import type { Document, Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { Show } from "../../components/States";
import { remove, useDeletionImpact } from "../../state/documents";
import { bytes, count, value } from "../../text/format";

/** Shows what deleting a document takes along before it does. */
export function DeleteDialog(props: { document: Document; onClose: () => void; gone: () => void }) {
  const { document, onClose, gone } = props;
  const impact = useDeletionImpact(document.id);
  return (
    <Confirm
      title={`Delete ${document.name}?`}
      verb="Delete"
      act={() => remove(document.id).then(gone)}
      onClose={onClose}
      ready={impact.data !== null}
    >
      <Show of={impact}>
        {(data) => (
          <>
            <p>
              This takes along {count(data.chunks, "chunk")}, {count(data.jobs, "job")} and{" "}
              {bytes(data.original_bytes)} of original.
            </p>
            <Losses of={data} />
            {data.graph.objects.length > 0 && (
              <p class="quiet">
                Objects:{" "}
                {data.graph.objects
                  .slice(0, 12)
                  .map((one) => one.name)
                  .join(", ")}
              </p>
            )}
            {data.graph.properties.slice(0, 8).map((one) => (
              <p key={`${one.object_id}${one.property_name}`} class="quiet">
                {one.object_name}: {one.property_name}{" "}
                {one.stays ? `falls back to ${value(one.falls_back_to)}` : "goes"}
              </p>
            ))}
            <p>It cannot be undone.</p>
          </>
        )}
      </Show>
    </Confirm>
  );
}

/** What else changes, if anything does. */
function Losses({ of }: { of: Schemas["DeletionImpact"] }) {
  const lost: [number, string][] = [
    [of.objects, `${count(of.objects, "object")} that no other chunk mentions`],
    [of.relationships, `${count(of.relationships, "relationship")} that no other chunk states`],
    [of.properties, `${count(of.properties, "property", "properties")} of other objects that change or go`],
    [of.answers, `${count(of.answers, "stored answer")} that cite it and become stale`],
  ];
  const some = lost.filter(([n]) => n > 0);
  if (some.length === 0) return <p>Nothing in the graph and no stored answer rests on it.</p>;
  return (
    <ul>
      {some.map(([, what]) => (
        <li key={what}>{what}</li>
      ))}
    </ul>
  );
}
