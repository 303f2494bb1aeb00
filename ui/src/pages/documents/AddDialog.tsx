import { useState } from "preact/hooks";
import { Dialog } from "../../components/Dialog";
import { Failed } from "../../components/States";
import { addText, addUrl, canCut, cutting, upload, USUAL } from "../../state/adding";
import { useDropsFor } from "../../state/drop";
import { useAction } from "../../state/resource";
import { count } from "../../text/format";
import { CutPreview, FilePreview } from "./CutPreview";
import { Strategy } from "./Strategy";

const KINDS = { files: "Files", url: "Web page", text: "Text" } as const;
type Kind = keyof typeof KINDS;

/** Files, a URL or a text; before anything is stored, the cuts are shown on it. */
export function AddDialog(props: { onClose: () => void }) {
  const onClose = (): void => {
    if (!canCut.value) cutting.value = USUAL; // they are not seen any more
    props.onClose();
  };
  const [kind, setKind] = useState<Kind>("files");
  const [chosen, setFiles] = useState<File[]>([]);
  const [dropped, setDropped] = useState<File[]>([]);
  useDropsFor((more) => setDropped([...dropped, ...more]));
  const files = [...chosen, ...dropped];
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const add = useAction(async () => {
    if (kind === "files") void upload(files);
    else if (kind === "url") await addUrl(url);
    else await addText(name, text);
    onClose();
  });
  const ready = { files: files.length > 0, url: url !== "", text: text.trim() !== "" }[kind];
  return (
    <Dialog title="Add documents" wide onClose={onClose}>
      <div class="row tabs" role="group" aria-label="What to add">
        {(Object.keys(KINDS) as Kind[]).map((one) => (
          <button
            key={one}
            type="button"
            class="ghost"
            aria-pressed={kind === one}
            onClick={() => setKind(one)}
          >
            {KINDS[one]}
          </button>
        ))}
      </div>
      {kind === "files" && <Files files={files} choose={setFiles} />}
      {kind === "url" && (
        <label class="field">
          <span>Address</span>
          <input
            type="url"
            placeholder="https://"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </label>
      )}
      {kind === "text" && (
        <>
          <label class="field">
            <span>Name</span>
            <input
              placeholder="notes.md"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <label class="field">
            <span>Text</span>
            <textarea rows={6} value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
        </>
      )}
      <Strategy />
      {kind === "files" && canCut.value && files.length > 0 && <FilePreview files={files} />}
      {kind === "text" && canCut.value && ready && <CutPreview text={text} />}
      {add.error && <Failed error={add.error} />}
      <div class="row">
        <button
          type="button"
          class="primary"
          disabled={!ready || !canCut.value || add.busy}
          onClick={() => void add.run()}
        >
          {add.busy ? "Adding …" : files.length > 1 && kind === "files" ? `Add ${files.length} files` : "Add"}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

function Files({ files, choose }: { files: File[]; choose: (files: File[]) => void }) {
  return (
    <div class="row">
      {(["Files", "Or a folder"] as const).map((name, i) => (
        <label key={name} class="field">
          <span>{name}</span>
          <input
            type="file"
            multiple
            {...(i === 1 ? { webkitdirectory: true } : {})}
            onChange={(event) => choose([...(event.currentTarget.files ?? [])])}
          />
        </label>
      ))}
      {files.length > 1 && <p class="quiet">{count(files.length, "file")}</p>}
    </div>
  );
}
