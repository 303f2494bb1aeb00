import { useState } from "preact/hooks";
import { Needs } from "../../components/Needs";
import { Failed, Show } from "../../components/States";
import { reextract } from "../../state/schema";
import { useAction, useResource } from "../../state/resource";
import { href } from "../../state/router";
import { projectId } from "../../state/session";
import { count } from "../../text/format";

/** What extracting again would cost, and the button that starts it. */
export function Reextract({ version, dirty }: { version: string | null; dirty: boolean }) {
  const [scope, setScope] = useState<"stale" | "all">("stale");
  const [ordered, setOrdered] = useState<number | null>(null);
  const dry = useResource(() => reextract(scope, true), [projectId.value, scope, version]);
  const start = useAction(async () => setOrdered((await reextract(scope, false)).jobs.length));
  return (
    <section class="panel">
      <h2>Extract</h2>
      <label class="check">
        <input
          type="checkbox"
          checked={scope === "all"}
          onChange={(event) => setScope(event.currentTarget.checked ? "all" : "stale")}
        />
        also chunks that this version has read
      </label>
      <Show of={dry}>
        {(cost) => (
          <p>
            {count(cost.chunks, "chunk")} of {count(cost.documents, "document")} by {cost.extractor};{" "}
            {count(cost.promptTokens + cost.completionTokens, "token")}
            {cost.cost !== null && <>, about {cost.cost.toFixed(2)}</>}
            {cost.carriedOver > 0 && <>; {count(cost.carriedOver, "chunk")} need no reading</>}
          </p>
        )}
      </Show>
      {dirty && <p class="note">The changes above are not saved; the saved version is used.</p>}
      <div class="row">
        <Needs>
          <button
            type="button"
            class="primary"
            disabled={start.busy || !dry.data || dry.data.documents === 0}
            onClick={() => void start.run()}
          >
            Start
          </button>
        </Needs>
        {ordered !== null && (
          <a href={href("/jobs", { type: "extraction" })}>{count(ordered, "job")} started: watch</a>
        )}
      </div>
      {start.error && <Failed error={start.error} />}
    </section>
  );
}
