import { useState } from "preact/hooks";
import type { Project } from "../../api/client";
import { Failed } from "../../components/States";
import { configure } from "../../state/projects";
import { useAction } from "../../state/resource";
import { loadProjects } from "../../state/session";

/** The LightRAG server that chat asks beside the search. Its key is never shown. */
export function Lightrag({ one }: { one: Project }) {
  const { lightragUrl, lightragKey } = one.config;
  const [url, setUrl] = useState(lightragUrl ?? "");
  const [key, setKey] = useState("");
  const save = useAction(async () => {
    const config = { lightragUrl: url.trim() || null, ...(key ? { lightragKey: key } : {}) };
    await configure(one.id, config);
    setKey("");
    await loadProjects();
  });
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <h2>LightRAG server of {one.name}</h2>
      <p class="quiet">
        Chat asks it, too. Empty: as the server's settings say; <code>off</code>: none.
      </p>
      <div class="row">
        <input
          class="grow"
          aria-label="Address of the LightRAG server"
          placeholder="https://lightrag.example.com"
          maxLength={2000}
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
        <input
          type="password"
          autocomplete="off"
          aria-label="Key of the LightRAG server"
          placeholder={lightragKey ? "Key (set)" : "Key"}
          maxLength={500}
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <button
          type="submit"
          class="primary"
          disabled={save.busy || (url.trim() === (lightragUrl ?? "") && !key)}
        >
          Save
        </button>
      </div>
      {save.error && <Failed error={save.error} />}
    </form>
  );
}
