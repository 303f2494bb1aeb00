import { useState } from "preact/hooks";
import type { Schemas } from "../../api/client";
import { Copy } from "../../components/Copy";
import { NameForm } from "../../components/NameForm";
import { createKey } from "../../state/keys";
import { may, projects, type Scope } from "../../state/session";

type Made = Schemas["KeyCreated"];
const SCOPES: [Scope, string][] = [
  ["read", "read: ask and search"],
  ["write", "write: add and change documents, too"],
  ["admin", "admin: manage projects and keys, too"],
];

/** Creates a key and shows it once. */
export function NewKey({ made }: { made: () => void }) {
  const [scope, setScope] = useState<Scope>("read");
  const [project, setProject] = useState("");
  const [shown, setShown] = useState<Made | null>(null);
  const create = async (name: string): Promise<void> => {
    setShown(await createKey({ name, scope, projectId: project || null }));
    made();
  };
  return (
    <div class="new-key">
      <NameForm label="What the new key is for" verb="Create a key" primary optional make={create}>
        <select
          aria-label="Scope"
          value={scope}
          onChange={(event) => setScope(event.currentTarget.value as Scope)}
        >
          {SCOPES.map(([one, what]) => (
            <option key={one} value={one}>
              {what}
            </option>
          ))}
        </select>
        {may("server") && (
          <select
            aria-label="Project of the key"
            value={project}
            onChange={(event) => setProject(event.currentTarget.value)}
          >
            <option value="">all projects</option>
            {projects.value?.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        )}
      </NameForm>
      {shown && <Secret made={shown} />}
    </div>
  );
}

function Secret({ made }: { made: Made }) {
  return (
    <div class="note" role="status">
      <p>Keep the key{made.name && ` ${made.name}`}. It is not shown again.</p>
      <p class="row">
        <code class="secret">{made.key}</code>
        <Copy verb="Copy" text={() => made.key} />
      </p>
    </div>
  );
}
