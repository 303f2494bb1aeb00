import type { Document } from "../../api/client";
import { Cut, Empty, Show } from "../../components/States";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { useVersions } from "../../state/document";
import { useJobsOf } from "../../state/jobs";
import { href, query, withQuery } from "../../state/router";
import { count, exact } from "../../text/format";

const REASONS = { added: "added", new_content: "new content", read_again: "the same file read again" };

/** The numbered versions of a document, and the jobs that worked on it. */
export function Versions({ document }: { document: Document }) {
  const found = useVersions(document);
  const open = Number(query.value.get("version") ?? document.version);
  return (
    <>
      {document.valid_from && <p class="quiet">Dated {exact(document.valid_from)}</p>}
      <Show of={found} empty={(page) => page.items.length === 0 && <Empty title="Not read yet" />}>
        {(page) => (
          <>
            <ol class="chunk-list versions">
              {page.items.map((one) => (
                <li key={one.version} class={one.version === open ? "on" : ""}>
                  <a
                    class="plain"
                    href={withQuery({ version: one.is_current ? null : one.version, span: null, v: null })}
                    aria-current={one.version === open ? "true" : undefined}
                  >
                    <span>
                      Version {one.version} {one.is_current && <span class="badge good">current</span>}
                    </span>
                    <span class="quiet">
                      {one.reason ? `${REASONS[one.reason]} · ` : ""}
                      <Time at={one.version_at} /> · {count(one.chunk_count, "chunk")}
                    </span>
                  </a>
                </li>
              ))}
            </ol>
            <Cut of={page} />
          </>
        )}
      </Show>
      <Work document={document} />
    </>
  );
}

function Work({ document }: { document: Document }) {
  const jobs = useJobsOf(document);
  return (
    <section class="claim-group">
      <h2>Jobs</h2>
      <Show of={jobs} empty={(page) => page.items.length === 0 && <p class="quiet">No job is kept.</p>}>
        {(page) => (
          <>
            <ul class="chunk-list">
              {page.items.map((job) => (
                <li key={job.id}>
                  <a class="plain" href={href("/jobs", { job: job.id })}>
                    <span>
                      {job.job_type === "extraction" ? "Extraction" : "Ingest"}{" "}
                      <Status status={job.status} jobId={job.id} />
                    </span>
                    <span class="quiet">
                      <Time at={job.created_at} />
                      {job.extraction?.schema_version && ` · schema ${job.extraction.schema_version}`}
                    </span>
                  </a>
                </li>
              ))}
            </ul>
            <Cut of={page} />
          </>
        )}
      </Show>
    </section>
  );
}
