import type { Document } from "../../api/client";
import { Needs } from "../../components/Needs";
import { Empty, Failed } from "../../components/States";
import { retry } from "../../state/jobs";
import { useAction } from "../../state/resource";

/** Why there is nothing of a document yet, and the button that reads it again. */
export function NotRead({
  title,
  document,
  reload,
}: {
  title: string;
  document: Document;
  reload: () => void;
}) {
  const again = useAction(async () => {
    if (document.job_id) await retry(document.job_id);
    reload();
  });
  const { status } = document;
  const ended = status === "failed" || status === "cancelled";
  const why = ended
    ? `Reading it has ${status === "failed" ? "failed" : "been cancelled"}.`
    : "It is being read.";
  return (
    <Empty title={title}>
      <p>{status === "completed" ? "This file has no text. Another version may have some." : why}</p>
      {ended && (
        <Needs>
          <p>
            <button type="button" disabled={again.busy} onClick={() => void again.run()}>
              Read it again
            </button>
          </p>
        </Needs>
      )}
      {again.error && <Failed error={again.error} />}
    </Empty>
  );
}
