import { useState } from "preact/hooks";
import { Dialog } from "../../components/Dialog";
import { Failed } from "../../components/States";
import { addText, addUrl, cutting, preview, upload, type Cutting } from "../../state/documents";
import { useAction, useResource } from "../../state/resource";
import { Cuts } from "./Cuts";

const STRATEGIES: [Cutting["chunkingStrategy"], string][] = [
  ["", "as usual: the project's own way, else paragraphs"],
  ["character", "fixed length"],
  ["sentence", "whole sentences"],
  ["paragraph", "paragraphs and sections"],
];
const KINDS = { files: "Files", url: "Web page", text: "Text" } as const;
type Kind = keyof typeof KINDS;

/** Files, a URL or a text; before anything is stored, the cuts are shown on it. */
export function AddDialog({ onClose, added }: { onClose: () => void; added: () => void }) {
  const [kind, setKind] = useState<Kind>("files");
  const [files, setFiles] = useState<File[]>([]);
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const add = useAction(async () => {
    if (kind === "files") void upload(files, added);
    else if (kind === "url") await addUrl(url);
    else await addText(name, text);
    added();
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
      {kind === "files" && (
        <label class="field">
          <span>Files</span>
          <input
            type="file"
            multiple
            onChange={(event) => setFiles([...(event.currentTarget.files ?? [])])}
          />
        </label>
      )}
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
      {kind !== "url" && ready && <Preview file={kind === "files" ? files[0] : undefined} text={text} />}
      {add.error && <Failed error={add.error} />}
      <div class="row">
        <button type="button" class="primary" disabled={!ready || add.busy} onClick={() => void add.run()}>
          {add.busy ? "Adding …" : files.length > 1 && kind === "files" ? `Add ${files.length} files` : "Add"}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

function Strategy() {
  const now = cutting.value;
  const set = (part: Partial<typeof now>): void => {
    cutting.value = { ...now, ...part };
  };
  return (
    <div class="row">
      <label class="field">
        <span>Chunks</span>
        <select
          value={now.chunkingStrategy}
          onChange={(event) =>
            set({ chunkingStrategy: event.currentTarget.value as Cutting["chunkingStrategy"] })
          }
        >
          {STRATEGIES.map(([name, what]) => (
            <option key={name} value={name}>
              {name ? `${name}: ${what}` : what}
            </option>
          ))}
        </select>
      </label>
      {now.chunkingStrategy && (
        <>
          <label class="field">
            <span>At most (characters)</span>
            <input
              type="number"
              min={100}
              max={10000}
              value={now.maxChunkSize}
              onChange={(event) => set({ maxChunkSize: event.currentTarget.valueAsNumber })}
            />
          </label>
          <label class="field">
            <span>At least</span>
            <input
              type="number"
              min={10}
              max={1000}
              value={now.minChunkSize}
              onChange={(event) => set({ minChunkSize: event.currentTarget.valueAsNumber })}
            />
          </label>
        </>
      )}
    </div>
  );
}

function Preview({ file, text }: { file?: File; text: string }) {
  const made = useResource(() => preview({ file, text }), [file?.name, file?.size, text, cutting.value]);
  if (made.error) return <Failed error={made.error} />;
  return made.data && <Cuts of={made.data} name={file?.name} />;
}
