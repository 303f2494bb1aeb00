import { api, take, type Job } from "../../api/client";
import { Needs } from "../../components/Needs";
import { Cell, Rows, Under } from "../../components/Rows";
import { Empty, NoMatch, Show } from "../../components/States";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { retry } from "../../state/documents";
import { cancel, useJobs } from "../../state/jobs";
import { useAction, useResource } from "../../state/resource";
import { href, query, setQuery, withQuery } from "../../state/router";
import { count, duration } from "../../text/format";

const HEADS = [
  { name: "Job" },
  { name: "Kind", class: "wide" },
  { name: "Status" },
  { name: "Started", class: "wide" },
  { name: "Actions", class: "number" },
];
const FILTERS = ["status", "type"];
const STATUSES = ["pending", "processing", "completed", "failed", "cancelled"];

/** A job that has ended keeps its last stage; the reader wants to know that it ended. */
const ENDED: Partial<Record<Job["status"], string>> = { completed: "finished", cancelled: "cancelled" };

function kindOf(job: Job): "extraction" | "ingest" {
  return job.job_type === "extraction" ? "extraction" : "ingest";
}

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
          empty={
            FILTERS.some((one) => query.value.get(one)) ? <NoMatch what="job" names={FILTERS} /> : <Nothing />
          }
          row={(one) => <Row one={one} reload={list.reload} />}
        />
      </div>
      {id && <Detail key={id} id={id} />}
    </div>
  );
}

function Row({ one, reload }: { one: Job; reload: () => void }) {
  const act = useAction(async (what: "cancel" | "retry") => {
    await (what === "cancel" ? cancel(one.id) : retry(one.id));
    reload();
  });
  const open = one.status === "pending" || one.status === "processing";
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
          {open && (
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

function Detail({ id }: { id: string }) {
  const params = { path: { job_id: id } };
  const job = useResource((signal) => take(api.GET("/api/v1/jobs/{job_id}", { params, signal })), [id]);
  return (
    <aside class="object-panel" aria-label="Job">
      <header>
        <h2>Job</h2>
        <a class="ghost" aria-label="Close the job" href={withQuery({ job: null })}>
          ✕
        </a>
      </header>
      <Show of={job} lines={10}>
        {(one) => (
          <>
            <Facts one={one} />
            {one.error && (
              <p class="failed">
                {one.error.message} <span class="quiet">{one.error.code}</span>
              </p>
            )}
            {one.job_type === "extraction" && <Rejected id={id} />}
          </>
        )}
      </Show>
    </aside>
  );
}

function Facts({ one }: { one: Job }) {
  const took =
    one.started_at && one.completed_at
      ? duration(Date.parse(one.completed_at) - Date.parse(one.started_at))
      : "–";
  const facts: [string, string | number][] = [
    ["kind", kindOf(one)],
    ["status", one.status],
    ["stage", ENDED[one.status] ?? one.stage ?? "–"],
    ["chunks", one.total === null ? "–" : `${one.done} of ${one.total}`],
    ["waited", one.started_at ? duration(Date.parse(one.started_at) - Date.parse(one.created_at)) : "–"],
    ["took", took],
    ...one.stages.map(({ stage, started_at, ended_at }): [string, string] => [
      `– ${stage}`,
      ended_at ? duration(Date.parse(ended_at) - Date.parse(started_at)) : "now",
    ]),
    ["attempts", one.attempts],
    [
      "chunking",
      one.chunking ? `${one.chunking.strategy}, at most ${one.chunking.max_chunk_size} characters` : "–",
    ],
    ...(one.extraction
      ? ([
          ["schema", one.extraction.schema_version ?? "–"],
          ["read by", one.extraction.model ?? one.extraction.extractor ?? "–"],
          ["chunks with objects", one.extraction.extracted],
          ["chunks without", one.extraction.empty],
          ["failed chunks", one.extraction.failed],
          ["rejected claims", one.extraction.rejected],
          ["tokens", one.extraction.prompt_tokens + one.extraction.completion_tokens],
        ] as [string, string | number][])
      : []),
  ];
  return (
    <table>
      <tbody>
        <tr>
          <th scope="row">document</th>
          <td>
            <a href={href(`/d/${one.document_id}`)}>{one.file_name}</a>
          </td>
        </tr>
        {facts.map(([name, given]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{given}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Rejected({ id }: { id: string }) {
  const params = { path: { job_id: id }, query: { rejected: true, limit: 50 } };
  const found = useResource(
    (signal) => take(api.GET("/api/v1/jobs/{job_id}/readings", { params, signal })),
    [id],
  );
  return (
    <section class="property">
      <h3>Rejected</h3>
      <Show
        of={found}
        lines={2}
        empty={(page) => page.items.length === 0 && <p class="quiet">Nothing was rejected.</p>}
      >
        {(page) =>
          page.items.map((one) => (
            <div key={one.chunk_id}>
              <p class="quiet">Chunk {one.chunk_index + 1}</p>
              <ul>
                {one.rejections.map((rejection, i) => (
                  <li key={i}>
                    {rejection.message}
                    {rejection.proposed && <pre>{rejection.proposed}</pre>}
                  </li>
                ))}
              </ul>
            </div>
          ))
        }
      </Show>
    </section>
  );
}
