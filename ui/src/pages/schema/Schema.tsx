import { Failed, Show } from "../../components/States";
import { Needs } from "../../components/Needs";
import { edit, edited, problem, put, useSchema, type Schema } from "../../state/schema";
import { useAction } from "../../state/resource";
import { projectId } from "../../state/session";
import { Changes } from "./Changes";
import { Form } from "./Form";
import { Reextract } from "./Reextract";

/** The extraction schema: as a form and as JSON, its versions, and what a new one would cost. */
export default function SchemaPage() {
  const found = useSchema();
  return (
    <div class="page-body wide-body">
      <Show of={found} lines={12}>
        {({ now, versions }) => (
          <Editor
            stored={JSON.stringify(now.schema, null, 2)}
            version={now.version}
            versions={versions.flatMap((one) => one.version ?? [])}
            saved={found.reload}
          />
        )}
      </Show>
    </div>
  );
}

function Editor({
  stored,
  version,
  versions,
  saved,
}: {
  stored: string;
  version: string | null;
  versions: string[];
  saved: () => void;
}) {
  const text = edited.value[projectId.value] ?? stored;
  const wrong = problem(text);
  const schema = wrong === null ? (JSON.parse(text) as Schema) : null;
  const dirty = text !== stored;
  const save = useAction(async () => {
    if (schema) await put(schema);
    edit(null);
    saved();
  });
  return (
    <>
      <div class="page-head">
        <h1>Schema</h1>
        <span class="quiet">{version ? `version ${version}` : "the default schema, not used yet"}</span>
        {dirty && (
          <button type="button" class="ghost" onClick={() => edit(null)}>
            Discard changes
          </button>
        )}
        <Needs>
          <button
            type="button"
            class="primary"
            disabled={!dirty || wrong !== null || save.busy}
            onClick={() => void save.run()}
          >
            Save as a new version
          </button>
        </Needs>
      </div>
      {save.error && <Failed error={save.error} />}
      <div class="schema-columns">
        <section aria-label="Form">
          {schema ? (
            <Form schema={schema} change={(next) => edit(JSON.stringify(next, null, 2))} />
          ) : (
            <p class="quiet">The form comes back when the JSON is valid.</p>
          )}
        </section>
        <section class="field">
          <label for="schema-json">JSON</label>
          <textarea
            id="schema-json"
            class="code"
            rows={24}
            spellcheck={false}
            aria-invalid={wrong !== null}
            value={text}
            onInput={(event) => edit(event.currentTarget.value)}
          />
          <p class={wrong ? "reason" : "quiet"} role="status">
            {wrong ?? "Valid."}
          </p>
        </section>
      </div>
      <div class="schema-columns">
        <Changes versions={versions} />
        <Reextract version={version} dirty={dirty} />
      </div>
    </>
  );
}
