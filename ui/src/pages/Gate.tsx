import { useState } from "preact/hooks";
import { Failed } from "../components/States";
import { key, lockedOut } from "../state/key";
import { useMainFocus } from "../state/keyboard";
import { useAction } from "../state/resource";
import { loadProjects } from "../state/session";

/** Asks for an API key, which is kept for this tab only. */
export function Gate() {
  const [given, setGiven] = useState("");
  useMainFocus(true);
  const enter = useAction(async () => {
    key.value = given.trim();
    lockedOut.value = false;
    await loadProjects();
  });
  return (
    <main class="gate">
      <h1>Whence</h1>
      <p>This server wants an API key. It is kept for this tab only.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter.run();
        }}
      >
        <label for="key">API key</label>
        <input
          id="key"
          data-main-input
          type="password"
          autocomplete="off"
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={!given.trim() || enter.busy}>
          Open
        </button>
      </form>
      {key.value !== null && !enter.busy && lockedOut.value && (
        <p class="failed">The server does not accept this key.</p>
      )}
      {enter.error && enter.error.status !== 401 && <Failed error={enter.error} />}
      <p class="quiet">
        The first one is made on the server with <code>whence keys create --scope admin</code>; more on the
        page Projects and keys.
      </p>
    </main>
  );
}
