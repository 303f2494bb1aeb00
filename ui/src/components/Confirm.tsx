import type { ComponentChildren } from "preact";
import { useAction } from "../state/resource";
import { Dialog } from "./Dialog";
import { Failed } from "./States";

/** Asks before something that cannot be undone; `children` say what goes with it. */
export function Confirm(props: {
  title: string;
  verb: string;
  act: () => Promise<unknown>;
  onClose: () => void;
  ready?: boolean;
  children: ComponentChildren;
}) {
  const { onClose, ready = true } = props;
  const go = useAction(async () => {
    await props.act();
    onClose();
  });
  return (
    <Dialog title={props.title} onClose={onClose}>
      {props.children}
      {go.error && <Failed error={go.error} />}
      <div class="row">
        <button type="button" class="danger" disabled={go.busy || !ready} onClick={() => void go.run()}>
          {props.verb}
        </button>
        <button type="button" onClick={onClose}>
          Keep
        </button>
      </div>
    </Dialog>
  );
}
