import { useEffect } from "preact/hooks";
import { api, take, type Job } from "../api/client";
import { usePaged, type Paged } from "./paged";
import { watch } from "./progress";
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
