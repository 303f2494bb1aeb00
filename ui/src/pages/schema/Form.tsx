import { useState } from "preact/hooks";
import { NameForm } from "../../components/NameForm";
import { problemAt, type ObjectType, type Problem, type RelationType, type Schema } from "../../text/schema";
import { may } from "../../state/session";

const KINDS = ["string", "number", "integer", "boolean", "array"];

/** Types and their properties as a form. */
export function Form(props: { schema: Schema; problem: Problem | null; change: (next: Schema) => void }) {
  const { schema, problem, change } = props;
  const set = (name: string, type: ObjectType | null): void => {
    const { [name]: _, ...others } = schema.object_types;
    const object_types = type ? { ...schema.object_types, [name]: type } : others;
    change({ ...schema, object_types });
  };
  const relations = isRecord(schema.relationship_types) ? schema.relationship_types : {};
  const relate = (name: string, type: RelationType | null): void => {
    const { [name]: _, ...others } = relations;
    change({ ...schema, relationship_types: type ? { ...relations, [name]: type } : others });
  };
  return (
    <fieldset class="types-form" disabled={!may("write")}>
      <legend class="visually-hidden">Types</legend>
      {Object.keys(schema.object_types).length === 0 && (
        <p class="quiet">No types yet. A type names what is looked for, such as Requirement.</p>
      )}
      {Object.entries(schema.object_types).map(([name, type]) => (
        <TypeForm key={name} name={name} type={type} problem={problem} set={(next) => set(name, next)} />
      ))}
      <NameForm
        label="New type"
        verb="Add"
        make={async (name) => set(name, { description: "", properties: {} })}
      />
      {Object.entries(relations).map(([name, one]) => (
        <Relation key={name} name={name} one={one} problem={problem} set={(next) => relate(name, next)} />
      ))}
      <NameForm label="New relationship type" verb="Add" make={async (name) => relate(name, {})} />
    </fieldset>
  );
}

function isRecord<T>(given: Record<string, T> | undefined): given is Record<string, T> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** A relationship type: from which object types to which. */
function Relation(props: {
  name: string;
  one: RelationType;
  problem: Problem | null;
  set: (next: RelationType | null) => void;
}) {
  const { name, one, set } = props;
  return (
    <div class="row relation-type">
      <strong>{name}</strong>
      {(["from", "to"] as const).map((end) => (
        <label key={end} class="check">
          {end}
          <Names
            label={`${name}: types it goes ${end}`}
            names={Array.isArray(one?.[end]) ? one[end] : []}
            set={(names) => {
              const { [end]: _, ...others } = one ?? {};
              set(names.length ? { ...others, [end]: names } : others);
            }}
          />
        </label>
      ))}
      <button type="button" class="ghost" aria-label={`Remove ${name}`} onClick={() => set(null)}>
        Remove
      </button>
      <Wrong says={problemAt(props.problem, `relationship_types.${name}`)} />
    </div>
  );
}

function namesIn(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** Names with commas between them, as they are typed. */
function Names(props: { label: string; names: string[]; set: (names: string[]) => void }) {
  const { names, set } = props;
  const [text, setText] = useState(names.join(", "));
  const isOwn = namesIn(text).join() === names.join();
  return (
    <input
      aria-label={props.label}
      placeholder="any type"
      value={isOwn ? text : names.join(", ")}
      onInput={(event) => {
        setText(event.currentTarget.value);
        set(namesIn(event.currentTarget.value));
      }}
    />
  );
}

/** What the check says about a field, at the field. */
function Wrong({ says }: { says: string | null }) {
  return says ? <span class="reason field-wrong">{says}</span> : null;
}

function TypeForm({
  name,
  type,
  problem,
  set,
}: {
  name: string;
  type: ObjectType;
  problem: Problem | null;
  set: (next: ObjectType | null) => void;
}) {
  const path = `object_types.${name}`;
  const properties = isRecord(type.properties) ? type.properties : {};
  const required = Array.isArray(type.required) ? type.required : [];
  const inner = Object.keys(properties).find((key) => problemAt(problem, `${path}.properties.${key}`));
  return (
    <fieldset>
      <legend>{name}</legend>
      {inner === undefined && <Wrong says={problemAt(problem, path)} />}
      <label class="field">
        <span>Description</span>
        <input
          value={type.description ?? ""}
          onInput={(event) => set({ ...type, description: event.currentTarget.value })}
        />
      </label>
      {Object.entries(properties).map(([key, given]) => (
        <div key={key} class="row">
          <span class="grow">{key}</span>
          <select
            aria-label={`Type of ${name}.${key}`}
            aria-invalid={inner === key}
            value={typeof given?.type === "string" ? given.type : ""}
            onChange={(event) =>
              set({
                ...type,
                properties: { ...properties, [key]: { ...given, type: event.currentTarget.value } },
              })
            }
          >
            {!KINDS.includes(String(given?.type)) && (
              <option value={typeof given?.type === "string" ? given.type : ""}>
                {typeof given?.type === "string" ? given.type : "other"}
              </option>
            )}
            {KINDS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <label class="check">
            <input
              type="checkbox"
              checked={required.includes(key)}
              onChange={(event) => {
                const others = required.filter((one) => one !== key);
                set({ ...type, required: event.currentTarget.checked ? [...others, key] : others });
              }}
            />
            required
          </label>
          <button
            type="button"
            class="ghost"
            aria-label={`Remove ${name}.${key}`}
            onClick={() => {
              const { [key]: _, ...others } = properties;
              set({ ...type, properties: others, required: required.filter((one) => one !== key) });
            }}
          >
            Remove
          </button>
          {inner === key && <Wrong says={problem?.message ?? null} />}
        </div>
      ))}
      <NameForm
        label={`New property of ${name}`}
        verb="Add"
        make={async (key) => set({ ...type, properties: { ...properties, [key]: { type: "string" } } })}
      />
      <button type="button" class="ghost" onClick={() => set(null)}>
        Remove {name}
      </button>
    </fieldset>
  );
}
