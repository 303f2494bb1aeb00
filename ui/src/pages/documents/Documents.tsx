import { useEffect, useState } from "preact/hooks";
import { Needs, ReadOnly } from "../../components/Needs";
import type { Document } from "../../api/client";
import { Cell, Rows, Under } from "../../components/Rows";
import { Empty, NoMatch } from "../../components/States";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { ofDocument, places, show, shown } from "../../state/evidence";
import { refusals, retry, sending, upload, useDocuments, useDrop } from "../../state/documents";
import { useAction } from "../../state/resource";
import { href, query, setQuery } from "../../state/router";
import { may } from "../../state/session";
import { bytes, count, fileType } from "../../text/format";
import { AddDialog } from "./AddDialog";
import { DeleteDialog } from "./DeleteDialog";

const HEADS = [
  { name: "Name", sort: "name" },
  { name: "Type", class: "wide" },
  { name: "Size", class: "wide number", sort: "size" },
  { name: "Status" },
  { name: "Chunks", class: "wide number" },
  { name: "Updated", class: "wide", sort: "updated" },
  { name: "Actions", class: "number" },
];
const FILTERS = ["name", "status", "type"];
const STATUSES = ["pending", "processing", "completed", "failed", "cancelled"];

/** The project's documents. Files can be dropped anywhere on the page. */
export default function Documents() {
  const list = useDocuments();
  const [adding, setAdding] = useState(false);
  const [doomed, setDoomed] = useState<Document | null>(null);
  const [dropped, setDropped] = useState<File[]>([]);
  const over = useDrop(
    (files) => (adding ? setDropped([...dropped, ...files]) : void upload(files, list.reload)),
    may("write"),
  );
  const stopAdding = (): void => {
    setAdding(false);
    setDropped([]);
  };
  const others = list.loaded().map((one) => ofDocument(one.id));
  const preview = (one: Document): void => show(ofDocument(one.id), others);
  useEffect(() => {
    // A page that was reloaded with a preview knows its neighbours only now.
    if (shown.value && places.value.length === 0 && others.length > 0) places.value = others;
  });
  const filtered = FILTERS.some((one) => query.value.get(one));
  return (
    <div class={`page-body wide-body${over ? " dropping" : ""}`}>
      <div class="page-head">
        <h1>Documents</h1>
        {list.total !== null && <span class="quiet">{count(list.total, "document")}</span>}
        <Needs>
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add documents
          </button>
        </Needs>
      </div>
      <ReadOnly what="adding or deleting documents" />
      <Filters />
      <Sending />
      <Rows
        of={list}
        label="Documents"
        heads={HEADS}
        columns="minmax(0, 1fr) 4.5rem 5rem 8.5rem 4.5rem 8.5rem 7.5rem"
        narrow="minmax(0, 1fr) 6.5rem 5rem"
        keyOf={(one) => one.id}
        pick={preview}
        empty={
          filtered ? <NoMatch what="document" names={FILTERS} /> : <Nothing add={() => setAdding(true)} />
        }
        row={(one) => (
          <Row one={one} reload={list.reload} remove={() => setDoomed(one)} preview={() => preview(one)} />
        )}
      />
      {over && <div class="drop-hint">Drop files or folders to add them</div>}
      {adding && <AddDialog onClose={stopAdding} added={list.reload} dropped={dropped} />}
      {doomed && <DeleteDialog document={doomed} onClose={() => setDoomed(null)} gone={list.reload} />}
    </div>
  );
}

function Row(props: { one: Document; reload: () => void; remove: () => void; preview: () => void }) {
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
            ✕
          </button>
        </Needs>
      </Cell>
    </>
  );
}

function Filters() {
  const value = (name: string): string => query.value.get(name) ?? "";
  return (
    <div class="row" role="search">
      <input
        class="grow"
        type="search"
        data-main-input
        aria-label="Part of the name"
        placeholder="Part of the name"
        value={value("name")}
        onInput={(event) => setQuery({ name: event.currentTarget.value }, { replace: true })}
      />
      <select
        aria-label="Status"
        value={value("status")}
        onChange={(event) => setQuery({ status: event.currentTarget.value })}
      >
        <option value="">Any status</option>
        {STATUSES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <input
        class="short"
        aria-label="Type, such as pdf"
        placeholder="Type: pdf"
        value={value("type")}
        onChange={(event) => setQuery({ type: event.currentTarget.value })}
      />
    </div>
  );
}

function Sending() {
  return (
    <>
      {sending.value && (
        <p class="note" role="status">
          Sending {sending.value.done} of {count(sending.value.files, "file")} …
        </p>
      )}
      {refusals.value.length > 0 && (
        <div class="failed" role="alert">
          <p>{count(refusals.value.length, "file was", "files were")} not kept:</p>
          <ul>
            {refusals.value.slice(0, 10).map((one) => (
              <li key={one.name}>
                {one.name}: {one.reason}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function Nothing({ add }: { add: () => void }) {
  return (
    <Empty title="No documents yet">
      <Needs>
        <p>
          Drop files or folders here: PDF, Word, slides, tables, HTML, e-mail, Markdown, plain text. Each is
          cut into chunks, embedded and searchable within seconds.
        </p>
        <p>
          <button type="button" class="primary" onClick={add}>
            Choose files
          </button>
        </p>
      </Needs>
    </Empty>
  );
}
