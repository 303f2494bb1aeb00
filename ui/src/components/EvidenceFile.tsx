import { evidencePath, saveEvidence, type Evidenced } from "../state/evidenceFile";
import { key } from "../state/key";
import { useAction } from "../state/resource";
import { Failed } from "./States";

/** The evidence file of an answer or an object. A link cannot send the key: with one, the file is fetched and saved. */
export function EvidenceFile({ of, id }: { of: Evidenced; id: string }) {
  const path = evidencePath(of, id);
  const save = useAction(() => saveEvidence(of, id));
  if (!key.value)
    return (
      <a class="ghost" href={path} target="_blank" rel="noreferrer">
        Evidence file
      </a>
    );
  return (
    <>
      <button type="button" class="ghost" disabled={save.busy} onClick={() => void save.run()}>
        Evidence file
      </button>
      {save.error && <Failed error={save.error} />}
    </>
  );
}
