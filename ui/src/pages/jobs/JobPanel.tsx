import type { Job } from "../../api/client";
import { Show } from "../../components/States";
import { kindOf, useJob, useRejected } from "../../state/jobs";
import { href, withQuery } from "../../state/router";
import { duration } from "../../text/format";

/** A job that has ended keeps its last stage; the reader wants to know that it ended. */
const ENDED: Partial<Record<Job["status"], string>> = { completed: "finished", cancelled: "cancelled" };

/** One job: its stages with their times, and what was rejected. */
export function JobPanel({ id }: { id: string }) {
  const job = useJob(id);
  return (
    <aside class="object-panel" aria-label="Job">
      <header>
        <h2>Job</h2>
        <a class="ghost" aria-label="Close the job" href={withQuery({ job: null })}>
          ✕
        </a>
      </header>
      <Show of={job} lines={10} away={{ to: withQuery({ job: null }), name: "See all jobs" }}>
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
  const found = useRejected(id);
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
