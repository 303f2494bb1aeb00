import { raw } from "../api/client";
import { key } from "../state/key";
import { useAction } from "../state/resource";
import { Failed } from "./States";

/** The evidence file of an answer or an object. A link cannot send the key: with one, the file is fetched and saved. */
export function EvidenceFile({ of, id }: { of: "answers" | "objects"; id: string }) {
  const path = `/api/v1/${of}/${id}/evidence.html`;
  const save = useAction(async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await (await raw(path)).blob());
    link.download = `evidence-${id}.html`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  });
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
