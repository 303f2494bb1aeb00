import type { Document } from "../../api/client";
import { Needs } from "../../components/Needs";
import { Cell, Under } from "../../components/Rows";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { retry } from "../../state/jobs";
import { useAction } from "../../state/resource";
import { href } from "../../state/router";
import { bytes, fileType } from "../../text/format";

/** A document in the table, with what can be done to it. */
export function DocumentRow(props: {
  one: Document;
  reload: () => void;
  remove: () => void;
  preview: () => void;
}) {
  const { one, reload, remove, preview } = props;
  const again = useAction(async () => {
    if (one.job_id) await retry(one.job_id);
    reload();
  });
  const failed = one.status === "failed";
  const type = fileType(one.file_type, one.name);
  const reason = again.error?.message ?? one.error?.message;
  return (
    <>
      <Cell class="name">
        <a href={href(`/d/${one.id}`)} title={one.name}>
          {one.name}
        </a>
        <Under kind={failed ? type : `${type} · ${bytes(one.file_size)}`} reason={failed ? reason : null} />
      </Cell>
      <Cell class="wide type">{type}</Cell>
      <Cell class="wide number">{bytes(one.file_size)}</Cell>
      <Cell>
        <Status status={one.status} jobId={one.job_id} />
      </Cell>
      <Cell class="wide number">{one.chunk_count.toLocaleString("en")}</Cell>
      <Cell class="wide">
        <Time at={one.updated_at} />
      </Cell>
      <Cell class="number">
        {!failed && (
          <button type="button" class="ghost preview" aria-label={`Preview ${one.name}`} onClick={preview}>
            Preview
          </button>
        )}
        <Needs>
          {failed && (
            <button type="button" class="ghost" disabled={again.busy} onClick={() => void again.run()}>
              Retry
            </button>
          )}
          <button type="button" class="ghost" aria-label={`Delete ${one.name}`} onClick={remove}>
            Delete
          </button>
        </Needs>
      </Cell>
    </>
  );
}
