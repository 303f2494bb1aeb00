import { useState } from "preact/hooks";
import type { ObjectType, Schema } from "../../state/schema";

const KINDS = ["string", "number", "integer", "boolean", "array"];

/** Types and their properties as a form. */
export function Form({ schema, change }: { schema: Schema; change: (next: Schema) => void }) {
  const set = (name: string, type: ObjectType | null): void => {
    const { [name]: _, ...others } = schema.object_types;
    const object_types = type ? { ...schema.object_types, [name]: type } : others;
    change({ ...schema, object_types });
  };
  return (
    <div class="types-form">
      {Object.entries(schema.object_types).map(([name, type]) => (
        <TypeForm key={name} name={name} type={type} set={(next) => set(name, next)} />
      ))}
      <Adder label="New type" add={(name) => set(name, { description: "", properties: {} })} />
      {Object.entries(schema.relationship_types ?? {}).map(([name, one]) => (
        <p key={name} class="relation-type">
          <strong>{name}</strong>{" "}
          <span class="quiet">
            {(one.from ?? ["any"]).join(", ")} → {(one.to ?? ["any"]).join(", ")}
          </span>
        </p>
      ))}
    </div>
  );
}

function TypeForm({
  name,
  type,
  set,
}: {
  name: string;
  type: ObjectType;
  set: (next: ObjectType | null) => void;
}) {
  const properties = type.properties ?? {};
  return (
    <fieldset>
      <legend>{name}</legend>
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
            value={typeof given.type === "string" ? given.type : ""}
            onChange={(event) =>
              set({
                ...type,
                properties: { ...properties, [key]: { ...given, type: event.currentTarget.value } },
              })
            }
          >
            {!KINDS.includes(given.type ?? "") && <option value="">other</option>}
            {KINDS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <label class="check">
            <input
              type="checkbox"
              checked={type.required?.includes(key) ?? false}
              onChange={(event) => {
                const others = (type.required ?? []).filter((one) => one !== key);
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
              set({ ...type, properties: others, required: type.required?.filter((one) => one !== key) });
            }}
          >
            ✕
          </button>
        </div>
      ))}
      <Adder
        label={`New property of ${name}`}
        add={(key) => set({ ...type, properties: { ...properties, [key]: { type: "string" } } })}
      />
      <button type="button" class="ghost" onClick={() => set(null)}>
        Remove {name}
      </button>
    </fieldset>
  );
}

function Adder({ label, add }: { label: string; add: (name: string) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) add(text.trim());
        setText("");
      }}
    >
      <input
        class="grow"
        aria-label={label}
        placeholder={label}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={!text.trim()}>
        Add
      </button>
    </form>
  );
}
