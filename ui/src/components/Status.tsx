import type { Job } from "../api/client";
import { live } from "../state/progress";

/** The status of a job, with its live progress while it runs. */
export function Status({ status, jobId }: { status: Job["status"] | null; jobId: string | null }) {
  const job = jobId ? live.value.get(jobId) : undefined;
  const now = job?.status ?? status;
  if (now === null) return <span class="badge">none</span>;
  const open = now === "pending" || now === "processing";
  if (!open)
    return <span class={`badge ${now === "failed" ? "bad" : now === "completed" ? "good" : ""}`}>{now}</span>;
  const share = job?.total ? job.done / job.total : undefined;
  return (
    <span class="progress">
      <span>{job?.stage ?? now}</span>
      <progress aria-label="Progress" max={1} value={share} />
    </span>
  );
}
