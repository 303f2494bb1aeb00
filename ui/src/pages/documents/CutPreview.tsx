import { useState } from "preact/hooks";
import { Failed, Loading } from "../../components/States";
import { useCuts } from "../../state/adding";
import { Cuts } from "./Cuts";

/** The cuts of one of the files; with several the reader chooses which. */
export function FilePreview({ files }: { files: File[] }) {
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
      <CutPreview file={file} text="" />
    </>
  );
}

/** The cuts of a file or a text, or why it cannot be read. */
export function CutPreview({ file, text }: { file?: File; text: string }) {
  const made = useCuts(file, text);
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
