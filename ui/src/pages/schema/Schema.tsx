import { useRef } from "preact/hooks";
import { Failed, Show } from "../../components/States";
import { Needs, ReadOnly } from "../../components/Needs";
import { compared, DRAFT, edit, edited, put, useChecked, useSchema, type Checked } from "../../state/schema";
import { useAction } from "../../state/resource";
import { may, projectId } from "../../state/session";
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
  const dirty = text !== stored;
  const { from, to } = compared(versions, dirty);
  const now = useChecked(text, to === DRAFT ? from : "");
  const { schema, problem, checked } = now;
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
            disabled={!dirty || !checked || problem !== null || save.busy}
            onClick={() => void save.run()}
          >
            Save as a new version
          </button>
        </Needs>
      </div>
      {save.error && <Failed error={save.error} />}
      <ReadOnly what="changing the schema" />
      <div class="schema-columns">
        <section aria-label="Form">
          {schema ? (
            <Form schema={schema} problem={problem} change={(next) => edit(JSON.stringify(next, null, 2))} />
          ) : (
            <p class="quiet">The form comes back when the JSON has object types.</p>
          )}
        </section>
        <Source text={text} now={now} />
      </div>
      <div class="schema-columns">
        <Changes versions={versions} draft={dirty ? now : null} from={from} to={to} />
        <Needs>
          <Reextract version={version} dirty={dirty} />
        </Needs>
      </div>
    </>
  );
}

/** The schema as JSON, with what is wrong and where. */
function Source({ text, now }: { text: string; now: Checked }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const { problem, checked } = now;
  const place = problem?.place;
  const go = (): void => {
    if (!place || !box.current) return;
    box.current.focus();
    box.current.setSelectionRange(place.start, place.end);
    const lines = text.split("\n").length;
    box.current.scrollTop = ((place.line - 4) / lines) * box.current.scrollHeight;
  };
  return (
    <section class="field">
      <label for="schema-json">JSON</label>
      <textarea
        id="schema-json"
        ref={box}
        class="code"
        rows={24}
        spellcheck={false}
        readOnly={!may("write")}
        aria-invalid={problem !== null}
        aria-describedby="schema-said"
        value={text}
        onInput={(event) => edit(event.currentTarget.value)}
      />
      <div id="schema-said" class={`row ${problem ? "reason" : "quiet"}`} role="status">
        <span>
          {problem && place && <>Line {place.line}: </>}
          {problem ? problem.message : checked ? "Valid." : "Checking …"}
        </span>
        {place && (
          <button type="button" class="ghost" onClick={go}>
            Show line {place.line}
          </button>
        )}
      </div>
    </section>
  );
}
