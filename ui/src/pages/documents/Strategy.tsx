import { cutting, LENGTHS, wrongLengths, type Cutting } from "../../state/adding";

const STRATEGIES: [Cutting["chunkingStrategy"], string][] = [
  ["", "the project's own, else paragraphs"],
  ["character", "fixed length"],
  ["sentence", "whole sentences"],
  ["paragraph", "paragraphs and sections"],
];

/** How the new documents are cut. */
export function Strategy() {
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
          <Length name="maxChunkSize" label="At most (characters)" now={now} set={set} />
          <Length name="minChunkSize" label="At least (characters)" now={now} set={set} />
        </>
      )}
    </div>
  );
}

/** A length of chunks, and what is wrong with it. */
function Length(props: {
  name: keyof typeof LENGTHS;
  label: string;
  now: Cutting;
  set: (part: Partial<Cutting>) => void;
}) {
  const { name, now, set } = props;
  const [least, most] = LENGTHS[name];
  const wrong = wrongLengths(now)[name];
  return (
    <label class="field length">
      <span>{props.label}</span>
      <input
        type="number"
        min={least}
        max={most}
        aria-invalid={wrong !== undefined}
        value={now[name]}
        onChange={(event) => set({ [name]: event.currentTarget.valueAsNumber })}
      />
      <span class="reason" role="status">
        {wrong}
      </span>
    </label>
  );
}
