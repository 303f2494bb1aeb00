import { refusal } from "whence-client";
import { api, raw, send, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import { projectId } from "./session";

/** What the server says about itself; also a refusal (503) says what is missing. */
async function readiness(signal: AbortSignal): Promise<Schemas["Readiness"]> {
  const answer = await send(new Request("/readyz", { signal }));
  const said: unknown = await answer.json();
  if (!answer.ok && answer.status !== 503) throw refusal(answer, said);
  return said as Schemas["Readiness"];
}

async function version(signal: AbortSignal): Promise<string> {
  const health = (await (await raw("/healthz", { signal })).json()) as Schemas["Health"];
  return health.version;
}

/** Whether the server can work, asked every ten seconds. */
export function useReadiness(): Resource<Schemas["Readiness"]> {
  return useResource(readiness, [], { every: 10_000 });
}

export function useVersion(): Resource<string> {
  return useResource(version, []);
}

/** What `whence doctor` finds. The models are asked, so it may take seconds. */
export function useFindings(): Resource<Schemas["ServerStatus"]> {
  return useResource((signal) => take(api.GET("/api/v1/status", { signal })), []);
}

interface Counts {
  documents: number;
  jobs: number;
  /** Objects of each type. */
  types: Record<string, number>;
}

/** How much the project has. */
export function useCounts(): Resource<Counts> {
  const params = { query: { project_id: projectId.value, limit: 1 } };
  return useResource(
    async (signal) => {
      const [documents, jobs, graph] = await Promise.all([
        take(api.GET("/api/v1/documents", { params, signal })),
        take(api.GET("/api/v1/jobs", { params, signal })),
        take(api.GET("/api/v1/graph", { params, signal })),
      ]);
      return { documents: documents.pagination.total, jobs: jobs.pagination.total, types: graph.types };
    },
    [projectId.value],
  );
}
