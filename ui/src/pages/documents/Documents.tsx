import { useState } from "preact/hooks";
import { Needs, ReadOnly } from "../../components/Needs";
import type { Document } from "../../api/client";
import { Rows } from "../../components/Rows";
import { Empty, NoMatch, unfiltered } from "../../components/States";
import { useDocuments } from "../../state/documents";
import { ofDocument, show, shown, useNeighbours } from "../../state/evidence";
import { query, setQuery } from "../../state/router";
import { count } from "../../text/format";
import { AddDialog } from "./AddDialog";
import { DeleteDialog } from "./DeleteDialog";
import { DocumentRow } from "./DocumentRow";

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
  const others = list.loaded().map((one) => ofDocument(one.id));
  const preview = (one: Document): void => show(ofDocument(one.id), others);
  useNeighbours(others);
  const filtered = FILTERS.some((one) => query.value.get(one));
  return (
    <div class="page-body wide-body">
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
      <Rows
        of={list}
        label="Documents"
        heads={HEADS}
        columns="minmax(0, 1fr) 4.5rem 5rem 8.5rem 4.5rem 8.5rem 9.5rem"
        narrow="minmax(0, 1fr) 6.5rem 5rem"
        keyOf={(one) => one.id}
        isShown={(one) => one.id === shown.value?.documentId}
        pick={preview}
        away={unfiltered([...FILTERS, "sort"])}
        empty={
          filtered ? <NoMatch what="document" names={FILTERS} /> : <Nothing add={() => setAdding(true)} />
        }
        row={(one) => (
          <DocumentRow
            one={one}
            reload={list.reload}
            remove={() => setDoomed(one)}
            preview={() => preview(one)}
          />
        )}
      />
      {adding && <AddDialog onClose={() => setAdding(false)} />}
      {doomed && <DeleteDialog document={doomed} onClose={() => setDoomed(null)} gone={list.reload} />}
    </div>
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
