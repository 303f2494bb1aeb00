import { useEffect, useState } from "preact/hooks";
import { api, take, type Job } from "../api/client";
import { usePaged, type Paged } from "./paged";
import { live, watch } from "./progress";
import { useResource } from "./resource";
import { query } from "./router";
import { projectId } from "./session";

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
  const open = list.loaded().filter((one) => one.status === "pending" || one.status === "processing");
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
}

/** A job, or the parent of a project's jobs, which has no stream; `ended` is called when it ends. */
export function useJob(id: string | null, ended: () => void): Job | null {
  const [isOpen, setOpen] = useState(true);
  const found = useResource(
    async (signal) => {
      if (!id) return null;
      const job = await take(api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: id } }, signal }));
      live.value = new Map(live.value).set(id, job);
      setOpen(job.status === "pending" || job.status === "processing");
      return job;
    },
    [id],
    { every: id && isOpen ? 1000 : 0 },
  );
  const status = found.data?.status;
  useEffect(() => {
    if (status && status !== "pending" && status !== "processing") ended();
  }, [status]);
  return found.data;
}
