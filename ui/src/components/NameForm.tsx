import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../state/resource";
import { Failed } from "./States";

/** A name, perhaps further fields, and the button that makes something of that name. */
export function NameForm(props: {
  label: string;
  placeholder?: string;
  verb: string;
  class?: string;
  primary?: boolean;
  optional?: boolean;
  make: (name: string) => Promise<unknown>;
  children?: ComponentChildren;
}) {
  const [name, setName] = useState("");
  const make = useAction(async () => {
    await props.make(name.trim());
    setName("");
  });
  return (
    <form
      class={props.class ?? "row"}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() || props.optional) void make.run();
      }}
    >
      <input
        class="grow"
        aria-label={props.label}
        placeholder={props.placeholder ?? props.label}
        maxLength={200}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      {props.children}
      <button
        type="submit"
        class={props.primary ? "primary" : ""}
        disabled={make.busy || !(name.trim() || props.optional)}
      >
        {props.verb}
      </button>
      {make.error && <Failed error={make.error} />}
    </form>
  );
}
