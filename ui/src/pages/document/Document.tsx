import { useState } from "preact/hooks";
import { Needs } from "../../components/Needs";
import { Failed, Loading, Show } from "../../components/States";
import { Status } from "../../components/Status";
import { Zoom } from "../../components/Zoom";
import {
  endOf,
  sideOpen,
  startOf,
  useDocument,
  useLinked,
  useOldVersion,
  type Whole,
} from "../../state/document";
import { newVersion } from "../../state/documents";
import { useAction } from "../../state/resource";
import { go, href, query, setQuery, withQuery } from "../../state/router";
import { useSubject } from "../../state/shell";
import { zoom } from "../../state/zoom";
import { bytes, count, fileType } from "../../text/format";
import { DeleteDialog } from "../documents/DeleteDialog";
import { OldLink } from "./OldLink";
import { OldVersion } from "./OldVersion";
import { Pages } from "./Pages";
import { Side } from "./Side";
import { Text } from "./Text";

/** A document: its text or pages at the left, its chunks and claims at the right. */
export default function Document({ id }: { id?: string }) {
  const found = useDocument(id ?? "");
  useSubject(found.data?.document.name);
  return (
    <>
      {!found.data && <h1 class="visually-hidden">Document</h1>}
      <Show
        of={found}
        skeleton={<Skeleton />}
        away={{ what: "document", to: href("/documents"), name: "See all documents" }}
      >
        {(whole) => <Shown whole={whole} reload={found.reload} />}
      </Show>
    </>
  );
}

/** The parts of the page before the document is there. */
function Skeleton() {
  return (
    <div class={`document-page${sideOpen.value ? "" : " alone"}`}>
      <div class="document-head page-head">
        <Loading lines={2} />
      </div>
      <div class="document-left">
        <Loading lines={14} />
      </div>
      <div class="document-side side-body">
        <Loading lines={sideOpen.value ? 10 : 1} />
      </div>
    </div>
  );
}

function Shown({ whole, reload }: { whole: Whole; reload: () => void }) {
  const { document, text, chunks } = whole;
  const [dying, setDying] = useState(false);
  const update = useAction(async (file: File) => {
    await newVersion(document.id, file);
    reload();
  });
  const { span, wrong, old, error } = useLinked(whole);
  const past = useOldVersion(document);
  const selected = span
    ? (chunks.find((one) => span.start >= startOf(one) && span.start < endOf(one)) ?? null)
    : null;
  const hasPages = document.file_type === "application/pdf" && (document.page_count ?? 0) > 0;
  const view = query.value.get("view") ?? (hasPages ? "pages" : "text");
  return (
    <div class={`document-page${sideOpen.value ? "" : " alone"}`}>
      <div class="document-head page-head">
        <div class="document-name">
          <h1 title={document.name}>{document.name}</h1>
          <p class="quiet">
            {fileType(document.file_type, document.name)} · {bytes(document.file_size)} ·{" "}
            {document.page_count ? `${count(document.page_count, "page")} · ` : ""}
            {document.version > 0 ? `version ${document.version}` : "not read yet"}{" "}
            <Status status={document.status} jobId={document.job_id} />
          </p>
        </div>
        {hasPages && (
          <span class="row tabs" role="group" aria-label="View">
            {["pages", "text"].map((one) => (
              <button
                key={one}
                type="button"
                class="ghost"
                aria-pressed={view === one}
                onClick={() => setQuery({ view: one })}
              >
                {one === "pages" ? "Pages" : "Text"}
              </button>
            ))}
          </span>
        )}
        {hasPages && view === "pages" && <Zoom />}
        <Needs>
          <label class="button">
            New version
            <input
              class="visually-hidden"
              type="file"
              disabled={update.busy}
              onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file) void update.run(file);
              }}
            />
          </label>
        </Needs>
        <Needs>
          <button type="button" class="danger" onClick={() => setDying(true)}>
            Delete
          </button>
        </Needs>
        {update.error && <Failed error={update.error} />}
        {document.error && (
          <p class="failed">
            {document.error.message} <span class="quiet">{document.error.code}</span>
          </p>
        )}
        {error && (
          <Failed
            error={error}
            away={{ to: withQuery({ span: null, v: null }), name: "See the present text" }}
          />
        )}
        {wrong && (
          <p class="note" role="status">
            {wrong}
          </p>
        )}
        {old && <OldLink link={old} />}
      </div>
      <div
        class="document-left"
        tabIndex={0}
        role="region"
        aria-label="The document"
        style={{ "--zoom": zoom.value }}
      >
        {past.error ? (
          <Failed
            error={past.error}
            retry={past.reload}
            away={{ to: withQuery({ version: null }), name: "Open the current version" }}
          />
        ) : past.isWanted && !past.data ? (
          <Loading lines={8} />
        ) : past.data ? (
          <OldVersion of={past.data} present={new Set(chunks.map((one) => one.id))} />
        ) : view === "pages" && hasPages ? (
          <Pages document={document} chunks={chunks} span={span} selected={selected?.id ?? null} />
        ) : (
          <Text
            document={document}
            text={text?.text ?? ""}
            chunks={chunks}
            span={span}
            selected={selected?.id ?? null}
            reload={reload}
          />
        )}
      </div>
      <Side whole={whole} selected={selected?.id ?? null} reload={reload} />
      {dying && (
        <DeleteDialog
          document={document}
          onClose={() => setDying(false)}
          gone={() => go(href("/documents"))}
        />
      )}
    </div>
  );
}
