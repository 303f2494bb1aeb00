import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { api, take, type Document, type Job, type Schemas } from "../api/client";
import { usePaged, type Page, type Paged } from "./paged";
import { live, watch } from "./progress";
import { useResource, type Resource } from "./resource";
import { query } from "./router";
import { projectId } from "./session";

/** How often the reader cancelled or retried a job: a short job ends again before any list shows it at work. */
const acted = signal(0);

/** The jobs that the address asks for; those at work are followed. */
export function useJobs(): Paged<Job> {
  const status = (query.value.get("status") ?? undefined) as Job["status"] | undefined;
  const type = (query.value.get("type") ?? undefined) as Job["job_type"] | undefined;
  const list = usePaged(
    (offset, limit, signal) =>
      take(
        api.GET("/api/v1/jobs", {
          params: { query: { project_id: projectId.value, status, job_type: type, limit, offset } },
          signal,
        }),
      ),
    [projectId.value, status, type],
  );
  const open = list.loaded().filter(isOpen);
  useEffect(() => {
    if (open.length)
      watch(
        open.map((one) => one.id),
        list.reload,
      );
    const timer = setTimeout(list.reload, open.length ? 2500 : 15_000);
    return () => clearTimeout(timer);
  });
  return list;
}

export async function cancel(id: string): Promise<void> {
  await take(api.POST("/api/v1/jobs/{job_id}/cancel", { params: { path: { job_id: id } } }));
  acted.value += 1;
}

export async function retry(id: string): Promise<void> {
  await take(api.POST("/api/v1/jobs/{job_id}/retry", { params: { path: { job_id: id } } }));
  acted.value += 1;
}

/** Whether a job has not ended. */
export function isOpen({ status }: Job): boolean {
  return status === "pending" || status === "processing";
}

/** What a job does, in the reader's words. */
export function kindOf(job: Job): "extraction" | "ingest" {
  return job.job_type === "extraction" ? "extraction" : "ingest";
}

/** A job, read again while it is open, after the reader acted, and when its stream tells of another status. */
export function useJob(id: string): Resource<Job> {
  const [open, setOpen] = useState(false);
  const params = { path: { job_id: id } };
  return useResource(
    async (signal) => {
      const job = await take(api.GET("/api/v1/jobs/{job_id}", { params, signal }));
      setOpen(isOpen(job));
      return job;
    },
    [id, live.value.get(id)?.status, acted.value],
    { every: open ? 1000 : 0 },
  );
}

/** The chunks of an extraction whose claims were rejected, with the reasons. */
export function useRejected(id: string): Resource<Page<Schemas["ReadingModel"]>> {
  const params = { path: { job_id: id }, query: { rejected: true, limit: 50 } };
  return useResource((signal) => take(api.GET("/api/v1/jobs/{job_id}/readings", { params, signal })), [id]);
}

/** The jobs that worked on a document. */
export function useJobsOf(document: Document): Resource<Page<Job>> {
  const params = { query: { document_id: document.id, project_id: document.project_id, limit: 50 } };
  return useResource(
    (signal) => take(api.GET("/api/v1/jobs", { params, signal })),
    [document.id, document.job_id],
  );
}

/** Follows a job, or the parent of a project's jobs, which has no stream; `ended` is called when it ends. */
export function useFollowedJob(id: string | null, ended: () => void): Job | null {
  const [open, setOpen] = useState(true);
  const found = useResource(
    async (signal) => {
      if (!id) return null;
      const job = await take(api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: id } }, signal }));
      live.value = new Map(live.value).set(id, job);
      setOpen(isOpen(job));
      return job;
    },
    [id],
    { every: id && open ? 1000 : 0 },
  );
  useEffect(() => {
    if (found.data && !isOpen(found.data)) ended();
  }, [found.data?.status]);
  return found.data;
}
