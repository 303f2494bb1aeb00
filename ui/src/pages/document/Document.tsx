import { useState } from "preact/hooks";
import { Needs } from "../../components/Needs";
import { Failed, Show } from "../../components/States";
import { Status } from "../../components/Status";
import { Zoom } from "../../components/Zoom";
import { endOf, startOf, useDocument, useLinked, useOldVersion, type Whole } from "../../state/document";
import { newVersion } from "../../state/documents";
import { close, shown } from "../../state/evidence";
import { useAction } from "../../state/resource";
import { go, href, query, setQuery } from "../../state/router";
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
  if (shown.value) close();
  return (
    <Show of={found} lines={14}>
      {(whole) => <Shown whole={whole} reload={found.reload} />}
    </Show>
  );
}

function Shown({ whole, reload }: { whole: Whole; reload: () => void }) {
  const { document, text, chunks } = whole;
  const [dying, setDying] = useState(false);
  const update = useAction(async (file: File) => {
    await newVersion(document.id, file);
    reload();
  });
  const { span, old, error } = useLinked(document);
  const past = useOldVersion(document);
  const selected = span
    ? (chunks.find((one) => span.start >= startOf(one) && span.start < endOf(one)) ?? null)
    : null;
  const hasPages = document.file_type === "application/pdf" && (document.page_count ?? 0) > 0;
  const view = query.value.get("view") ?? (hasPages ? "pages" : "text");
  return (
    <div class="document-page">
      <div class="document-head page-head">
        <h1>{document.name}</h1>
        <span class="quiet">
          {fileType(document.file_type, document.name)} · {bytes(document.file_size)} ·{" "}
          {document.page_count ? `${count(document.page_count, "page")} · ` : ""}
          {document.version > 0 ? `version ${document.version}` : "not read yet"}
        </span>
        <Status status={document.status} jobId={document.job_id} />
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
        {error && <Failed error={error} />}
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
          <Failed error={past.error} retry={past.reload} />
        ) : past.data ? (
          <OldVersion of={past.data} present={new Set(chunks.map((one) => one.id))} />
        ) : view === "pages" && hasPages ? (
          <Pages document={document} chunks={chunks} span={span} selected={selected?.id ?? null} />
        ) : (
          <Text text={text?.text ?? ""} chunks={chunks} span={span} selected={selected?.id ?? null} />
        )}
      </div>
      <Side whole={whole} selected={selected?.id ?? null} />
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
