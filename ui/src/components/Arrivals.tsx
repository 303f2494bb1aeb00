import type { Schemas } from "../api/client";
import { forgetArrivals, isAtWork, jobOf, refusals, sending, useArrivals } from "../state/arrivals";
import { goAsk } from "../state/asking";
import { useDrop } from "../state/drop";
import { href } from "../state/router";
import { may } from "../state/session";
import { count } from "../text/format";
import { Status } from "./Status";

/** So many are named. */
const NAMED = 3;

/** Takes files that are dropped on any page, and shows what becomes of them below it. */
export function Arrivals() {
  const over = useDrop();
  const all = useArrivals();
  const open = all.filter(isAtWork);
  const bad = refusals.value;
  const isEmpty = !sending.value && bad.length === 0 && all.length === 0;
  return (
    <>
      {over && (
        <div class="drop-hint">
          {may("write")
            ? "Drop files or folders to add them"
            : "Your key may only read: adding documents needs a key with the scope write"}
        </div>
      )}
      {!isEmpty && (
        <section class="arrivals" aria-label="Added documents">
          <div class="arrivals-list" role="status">
            {sending.value && (
              <p>
                Sending {sending.value.done} of {count(sending.value.files, "file")} …
              </p>
            )}
            {bad.slice(0, NAMED).map((one) => (
              <p key={one.name} class="reason">
                {one.name} was not taken: {one.reason}
              </p>
            ))}
            {bad.length > NAMED && (
              <p class="reason">{count(bad.length - NAMED, "more file was", "more files were")} not taken.</p>
            )}
            {all.length > NAMED ? (
              <Many of={all.length} open={open.length} />
            ) : (
              all.map((one) => <Arrival key={one.documentId} one={one} />)
            )}
          </div>
          {all.length > 0 && open.length === 0 && (
            <button type="button" onClick={goAsk}>
              Ask about {all.length === 1 ? "it" : "them"}
            </button>
          )}
          <button
            type="button"
            class="ghost"
            aria-label="Close the list of added documents"
            onClick={forgetArrivals}
          >
            ✕
          </button>
        </section>
      )}
    </>
  );
}

function Arrival({ one }: { one: Schemas["Ingested"] }) {
  const job = jobOf(one);
  const reason = job?.error?.message;
  return (
    <p class="row">
      <a href={href(`/d/${one.documentId}`)}>{one.fileName}</a>
      {one.alreadyExists ? (
        <span class="quiet">was there already</span>
      ) : (
        <Status status={one.status} jobId={one.jobId} />
      )}
      {reason && <span class="reason">{reason}</span>}
    </p>
  );
}

function Many({ of, open }: { of: number; open: number }) {
  return (
    <p class="row">
      <span>
        {(of - open).toLocaleString("en")} of {count(of, "document")} done
      </span>
      {open > 0 && <progress aria-label="Progress" max={of} value={of - open} />}
      <a href={href("/documents")}>See them</a>
    </p>
  );
}
