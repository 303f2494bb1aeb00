import { refusal } from "whence-client";
import { raw, send, type Schemas } from "../api/client";

/** What the server says about itself; also a refusal (503) says what is missing. */
export async function readiness(signal: AbortSignal): Promise<Schemas["Readiness"]> {
  const answer = await send(new Request("/readyz", { signal }));
  const said: unknown = await answer.json();
  if (!answer.ok && answer.status !== 503) throw refusal(answer, said);
  return said as Schemas["Readiness"];
}

export async function version(signal: AbortSignal): Promise<string> {
  const health = (await (await raw("/healthz", { signal })).json()) as Schemas["Health"];
  return health.version;
}
