import { useState } from "preact/hooks";
import { Dialog } from "../../components/Dialog";
import { Failed, Loading } from "../../components/States";
import { addText, addUrl, cutting, preview, upload, type Cutting } from "../../state/documents";
import { useAction, useResource } from "../../state/resource";
import { count } from "../../text/format";
import { Cuts } from "./Cuts";

const STRATEGIES: [Cutting["chunkingStrategy"], string][] = [
  ["", "the project's own, else paragraphs"],
  ["character", "fixed length"],
  ["sentence", "whole sentences"],
  ["paragraph", "paragraphs and sections"],
];
const KINDS = { files: "Files", url: "Web page", text: "Text" } as const;
type Kind = keyof typeof KINDS;

/** Files, a URL or a text; before anything is stored, the cuts are shown on it. */
export function AddDialog(props: { onClose: () => void; added: () => void; dropped: File[] }) {
  const { onClose, added } = props;
  const [kind, setKind] = useState<Kind>("files");
  const [chosen, setFiles] = useState<File[]>([]);
  const files = [...chosen, ...props.dropped];
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
      {kind === "files" && files.length > 0 && <FilePreview files={files} />}
      {kind === "text" && ready && <Preview text={text} />}
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

/** The cuts of one of the files; with several the reader chooses which. */
function FilePreview({ files }: { files: File[] }) {
  const [chosen, setChosen] = useState(0);
  const file = files[chosen] ?? files[0];
  return (
    <>
      {files.length > 1 && (
        <label class="field">
          <span>Preview of</span>
          <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {files.slice(0, 200).map((one, i) => (
              <option key={i} value={i}>
                {one.webkitRelativePath || one.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <Preview file={file} text="" />
    </>
  );
}

function Preview({ file, text }: { file?: File; text: string }) {
  const made = useResource(
    () => preview({ file, text }),
    [file?.name, file?.size, file?.lastModified, text, cutting.value],
    { fresh: true },
  );
  if (made.error)
    return (
      <div>
        {file && (
          <p>
            <strong>{file.name}</strong> cannot be read:
          </p>
        )}
        <Failed error={made.error} retry={made.reload} />
      </div>
    );
  if (!made.data) return <Loading lines={6} />;
  return <Cuts of={made.data} name={file?.name} />;
}
