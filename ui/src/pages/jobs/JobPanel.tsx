import type { Job } from "../../api/client";
import { Panel } from "../../components/Panel";
import { Cut, Show } from "../../components/States";
import { kindOf, useJob, useRejected } from "../../state/jobs";
import { href, withQuery } from "../../state/router";
import { useSubject } from "../../state/shell";
import { duration, price } from "../../text/format";

/** One job: its stages with their times, and what was rejected. */
export function JobPanel({ id }: { id: string }) {
  const job = useJob(id);
  useSubject(job.data?.file_name);
  return (
    <Panel kind="Job" closed={withQuery({ job: null })}>
      <Show of={job} lines={10} away={{ what: "job", to: withQuery({ job: null }), name: "See all jobs" }}>
        {(one) => (
          <>
            <Facts one={one} />
            {one.error && (
              <p class="failed">
                {one.error.message} <span class="quiet">{one.error.code}</span>
              </p>
            )}
            {one.job_type === "extraction" && one.document_id && <Rejected id={id} />}
          </>
        )}
      </Show>
    </Panel>
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
    ...(one.status === "completed" ? [] : [["stage", one.stage ?? "–"] as [string, string]]),
    [one.document_id ? "chunks" : "documents", one.total === null ? "–" : `${one.done} of ${one.total}`],
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
          ...(one.extraction.cost ? [["cost", price(one.extraction.cost)]] : []),
        ] as [string, string | number][])
      : []),
  ];
  return (
    <table>
      <tbody>
        <tr>
          <th scope="row">document</th>
          <td>
            {one.document_id ? <a href={href(`/d/${one.document_id}`)}>{one.file_name}</a> : one.job_name}
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
        {(page) => (
          <>
            {page.items.map((one) => (
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
            ))}
            <Cut of={page} />
          </>
        )}
      </Show>
    </section>
  );
}
