import { cutting, type Cutting } from "../../state/adding";

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
          <label class="field">
            <span>At most (characters)</span>
            <input
              type="number"
              min={100}
              max={10000}
              value={now.maxChunkSize}
              onChange={(event) => set({ maxChunkSize: event.currentTarget.valueAsNumber })}
            />
          </label>
          <label class="field">
            <span>At least</span>
            <input
              type="number"
              min={10}
              max={1000}
              value={now.minChunkSize}
              onChange={(event) => set({ minChunkSize: event.currentTarget.valueAsNumber })}
            />
          </label>
        </>
      )}
    </div>
  );
}
