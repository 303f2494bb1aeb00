import type { Job } from "../../api/client";
import { Needs } from "../../components/Needs";
import { Cell, Rows, Under } from "../../components/Rows";
import { Empty, NoMatch, unfiltered } from "../../components/States";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { cancel, isOpen, kindOf, retry, useJobs } from "../../state/jobs";
import { useAction } from "../../state/resource";
import { href, query, setQuery, withQuery } from "../../state/router";
import { count } from "../../text/format";
import { JobPanel } from "./JobPanel";

const HEADS = [
  { name: "Job" },
  { name: "Kind", class: "wide" },
  { name: "Status" },
  { name: "Started", class: "wide" },
  { name: "Actions", class: "number" },
];
const FILTERS = ["status", "type"];
const STATUSES = ["pending", "processing", "completed", "failed", "cancelled"];

function Nothing() {
  return (
    <Empty title="No jobs">
      <p>Adding a document or extracting from it makes one.</p>
      <Needs>
        <p>
          <a class="button" href={href("/documents")}>
            Add documents
          </a>
        </p>
      </Needs>
    </Empty>
  );
}

/** The work on documents, live; the selected job at the right. */
export default function Jobs() {
  const list = useJobs();
  const id = query.value.get("job");
  return (
    <div class={`jobs-page${id ? " with-job" : ""}`}>
      <div class="page-body">
        <div class="page-head">
          <h1>Jobs</h1>
          {list.total !== null && <span class="quiet">{count(list.total, "job")}</span>}
          <select
            aria-label="Status"
            value={query.value.get("status") ?? ""}
            onChange={(event) => setQuery({ status: event.currentTarget.value })}
          >
            <option value="">Any status</option>
            {STATUSES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <select
            aria-label="Kind"
            value={query.value.get("type") ?? ""}
            onChange={(event) => setQuery({ type: event.currentTarget.value })}
          >
            <option value="">Any kind</option>
            <option value="document_processing">ingest</option>
            <option value="extraction">extraction</option>
          </select>
        </div>
        <Rows
          of={list}
          label="Jobs"
          heads={HEADS}
          columns="minmax(0, 1fr) 6rem 10.5rem 8.5rem 6rem"
          keyOf={(one) => one.id}
          isShown={(one) => one.id === id}
          away={unfiltered(FILTERS)}
          empty={
            FILTERS.some((one) => query.value.get(one)) ? <NoMatch what="job" names={FILTERS} /> : <Nothing />
          }
          row={(one) => <Row one={one} reload={list.reload} />}
        />
      </div>
      {id && <JobPanel key={id} id={id} />}
    </div>
  );
}

function Row({ one, reload }: { one: Job; reload: () => void }) {
  const act = useAction(async (what: "cancel" | "retry") => {
    await (what === "cancel" ? cancel(one.id) : retry(one.id));
    reload();
  });
  return (
    <>
      <Cell class="name">
        <a href={withQuery({ job: one.id })} title={one.file_name}>
          {one.file_name}
        </a>
        <Under kind={kindOf(one)} reason={(act.error ?? one.error)?.message} />
      </Cell>
      <Cell class="wide">{kindOf(one)}</Cell>
      <Cell>
        <Status status={one.status} jobId={one.id} />
      </Cell>
      <Cell class="wide">
        <Time at={one.started_at ?? one.created_at} />
      </Cell>
      <Cell class="number">
        <Needs>
          {isOpen(one) && (
            <button type="button" class="ghost" disabled={act.busy} onClick={() => void act.run("cancel")}>
              Cancel
            </button>
          )}
          {(one.status === "failed" || one.status === "cancelled") && (
            <button type="button" class="ghost" disabled={act.busy} onClick={() => void act.run("retry")}>
              Retry
            </button>
          )}
        </Needs>
      </Cell>
    </>
  );
}
