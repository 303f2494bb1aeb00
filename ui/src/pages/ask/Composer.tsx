import { useRef } from "preact/hooks";
import { ask, draft, stop } from "../../state/ask";
import { useQuestionFocus } from "../../state/asking";
import { asked } from "../../state/conversation";
import { isRunning } from "../../state/unfinished";

/** The box for the next question. It keeps the keyboard, so that one can go on typing while an answer comes. */
export function Composer() {
  const box = useRef<HTMLTextAreaElement>(null);
  useQuestionFocus();
  const running = asked.value.find(isRunning);
  const send = (): void => {
    const question = draft.value.trim();
    if (!question || running) return;
    if (matchMedia("(pointer: fine)").matches) box.current?.focus(); // a screen's keyboard would hide the answer
    void ask(question);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="visually-hidden" for="question">
        Your question
      </label>
      <textarea
        ref={box}
        id="question"
        data-main-input
        rows={1}
        maxLength={10000}
        placeholder="Ask a question"
        value={draft.value}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {running ? (
        <button type="button" onClick={() => stop(running)}>
          Stop
        </button>
      ) : (
        <button type="submit" class="primary" disabled={!draft.value.trim()}>
          Ask
        </button>
      )}
    </form>
  );
}
