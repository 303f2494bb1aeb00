import { useMainFocus } from "../../state/keyboard";
import { setQuery } from "../../state/router";
import type { Mode, Wanted } from "../../state/search";
import { useTyped } from "../../state/typed";

const MODES: Record<Mode, string> = { hybrid: "Words and meaning", text: "Words", vector: "Meaning" };

/** The question, and how to search for it. */
export function SearchForm({ of }: { of: Wanted }) {
  const [text, setText] = useTyped(of.q);
  useMainFocus(of.q === "");
  return (
    <form
      class="search-form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ q: text.trim(), at: null, n: null });
      }}
    >
      <div class="row">
        <input
          class="grow"
          type="search"
          data-main-input
          aria-label="Search"
          placeholder="Search"
          maxLength={10000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Search
        </button>
      </div>
      <div class="row">
        <select
          aria-label="Search by"
          value={of.mode}
          onChange={(event) => setQuery({ mode: event.currentTarget.value })}
        >
          {(Object.keys(MODES) as Mode[]).map((one) => (
            <option key={one} value={one}>
              {MODES[one]}
            </option>
          ))}
        </select>
        <input
          class="short"
          aria-label="Type, such as pdf"
          placeholder="Type: pdf"
          value={of.type}
          onChange={(event) => setQuery({ type: event.currentTarget.value })}
        />
        <label class="check">
          Added since
          <input
            type="date"
            value={of.since}
            onChange={(event) => setQuery({ since: event.currentTarget.value })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={of.floor}
            aria-describedby="floor-hint"
            onChange={(event) => setQuery({ floor: event.currentTarget.checked ? null : "off" })}
          />{" "}
          Relevance threshold
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={of.around}
            onChange={(event) => setQuery({ context: event.currentTarget.checked ? "on" : null })}
          />{" "}
          With context
        </label>
      </div>
      <p id="floor-hint" class="quiet">
        {of.floor
          ? "With the threshold nothing is shown if none of the ten best hits fits the question. If one does, the others are shown too."
          : "Without the threshold the nearest chunks are shown, however far they are."}
      </p>
    </form>
  );
}
