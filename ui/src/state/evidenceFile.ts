import { raw } from "../api/client";

/** What has an evidence file. */
export type Evidenced = "answers" | "objects";

export function evidencePath(of: Evidenced, id: string): string {
  return `/api/v1/${of}/${id}/evidence.html`;
}

/** Fetches an evidence file with the key and lets the browser save it. */
export async function saveEvidence(of: Evidenced, id: string): Promise<void> {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await (await raw(evidencePath(of, id))).blob());
  link.download = `evidence-${id}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
