import { send, type Schemas } from "../api/client";

/** What the server says about itself; also a refusal (503) says what is missing. */
export async function readiness(signal: AbortSignal): Promise<Schemas["Readiness"]> {
  return (await (await send(new Request("/readyz", { signal }))).json()) as Schemas["Readiness"];
}

export async function version(signal: AbortSignal): Promise<string> {
  const health = (await (await send(new Request("/healthz", { signal }))).json()) as Schemas["Health"];
  return health.version;
}
