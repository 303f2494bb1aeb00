import { useState } from "preact/hooks";
import { Status } from "../../components/Status";
import { Failed, Show } from "../../components/States";
import { reextract } from "../../state/schema";
import { useFollowedJob } from "../../state/jobs";
import { useAction, useResource } from "../../state/resource";
import { href, query, setQuery } from "../../state/router";
import { projectId } from "../../state/session";
import { count, price } from "../../text/format";

/** What extracting again would cost, and the button that starts it. */
export function Reextract({ version, dirty }: { version: string | null; dirty: boolean }) {
  const [scope, setScope] = useState<"stale" | "all">("stale");
  const dry = useResource(() => reextract(scope, true), [projectId.value, scope, version]);
  const start = useAction(async () => {
    const { jobId, jobs } = await reextract(scope, false);
    setQuery({ job: jobId ?? jobs[0]?.jobId }, { replace: true });
  });
  const id = query.value.get("job");
  const job = useFollowedJob(id, dry.reload);
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
      <Show
        of={dry}
        empty={(cost) => cost.documents === 0 && <p>This version has read every chunk: nothing is left.</p>}
      >
        {(cost) => (
          <p>
            {count(cost.chunks, "chunk")} of {count(cost.documents, "document")} by {cost.extractor};{" "}
            {count(cost.promptTokens + cost.completionTokens, "token")}
            {cost.cost ? `, ${price(cost.cost)}` : ""}
            {cost.carriedOver > 0 && <>; {count(cost.carriedOver, "chunk")} need no reading</>}
          </p>
        )}
      </Show>
      {dirty && <p class="note">The changes above are not saved; the saved version is used.</p>}
      <div class="row">
        <button
          type="button"
          class="primary"
          disabled={start.busy || !dry.data || dry.data.documents === 0}
          onClick={() => void start.run()}
        >
          Start
        </button>
        {id && (
          <span class="row" role="status">
            <Status status={job?.status ?? "pending"} jobId={id} />
            {typeof job?.total === "number" && `${job.done} of ${job.total}`}
            <a href={href("/jobs", { type: "extraction" })}>See the jobs</a>
          </span>
        )}
      </div>
      {start.error && <Failed error={start.error} />}
    </section>
  );
}
