import { useState } from "preact/hooks";
import { copyText } from "../state/clipboard";
import { useAction } from "../state/resource";
import { Failed } from "./States";

/** Copies a text and says so. */
export function Copy({ verb, text, class: name }: { verb: string; text: () => string; class?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = useAction(async () => {
    await copyText(text());
    setCopied(true);
  });
  return (
    <>
      <button type="button" class={name} onClick={() => void copy.run()}>
        {copied ? "Copied" : verb}
      </button>
      {copy.error && <Failed error={copy.error} />}
    </>
  );
}
