import type { Claim, Schemas } from "../../api/client";
import { Failed } from "../../components/States";
import { Time } from "../../components/Time";
import { rejectClaim } from "../../state/curation";
import { isShown, levelOf, ofClaim, show } from "../../state/evidence";
import { useAction } from "../../state/resource";
import { may } from "../../state/session";
import { value } from "../../text/format";

/** One claim: its quote, where it is from, the schema version it was read under. A click shows the chunk. */
export function ClaimRow({
  object,
  claim,
  all,
  changed,
}: {
  object: Schemas["ObjectAnswer"];
  claim: Claim;
  all: Claim[];
  changed: () => void;
}) {
  const reject = useAction(async () => {
    await rejectClaim(object.id, claim.id);
    changed();
  });
  const says = `${object.name}: ${claim.property_name}`;
  const place = ofClaim(claim, says);
  const list = all.flatMap((one) => ofClaim(one, says) ?? []);
  const on = place && isShown(place);
  const level = levelOf(claim);
  return (
    <div class={`claim${on ? " on" : ""}${claim.rejected ? " rejected" : ""}`}>
      <button type="button" class="plain" disabled={!place} onClick={() => place && show(place, list)}>
        <span>{claim.quote ? `“${claim.quote}”` : value(claim.value)}</span>
        <span class="quiet">
          {level && (
            <>
              <span class={`level ${level}`}>{level}</span> ·{" "}
            </>
          )}
          {claim.author ? `${claim.author}${claim.reason ? `: ${claim.reason}` : ""}` : claim.document_name}
          {claim.page ? `, page ${claim.page}` : ""}
          {claim.chunk_index !== null && ` · chunk ${claim.chunk_index + 1}`} · schema {claim.schema_version}{" "}
          · {dated(claim)} <Time at={claim.as_of ?? claim.extracted_at} />
        </span>
      </button>
      {!claim.rejected && may("write") && (
        <button
          type="button"
          class="ghost"
          disabled={reject.busy}
          aria-label={`Reject this claim about ${claim.property_name}`}
          onClick={() => void reject.run()}
        >
          Reject
        </button>
      )}
      {reject.error && <Failed error={reject.error} />}
    </div>
  );
}

/** What the time of a claim is that of. */
function dated(claim: Claim): string {
  if (claim.author) return claim.rejected ? "rejected" : "set";
  return claim.ordered_by === "valid_from" ? "document dated" : "document added";
}
