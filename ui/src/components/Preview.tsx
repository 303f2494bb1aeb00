import { close } from "../state/evidence";
import { usePreview, type Beginning } from "../state/preview";
import { href } from "../state/router";
import { zoom } from "../state/zoom";
import { bytes, count, fileType } from "../text/format";
import { PageImage } from "./PageImage";
import { Show } from "./States";
import { Stepper } from "./Stepper";
import { Zoom } from "./Zoom";

/** How a document begins: its first page, and its first chunks. */
export function Preview({ id }: { id: string }) {
  const found = usePreview(id);
  const document = found.data?.document;
  return (
    <aside class="evidence" aria-label="Preview">
      <header>
        <h2>{document?.name ?? "Preview"}</h2>
        {found.data?.page?.width && <Zoom />}
        <button type="button" class="ghost" aria-label="Close the preview" onClick={close}>
          ✕
        </button>
      </header>
      <div
        class="evidence-body"
        tabIndex={0}
        role="region"
        aria-label="How it begins"
        style={{ "--zoom": zoom.value }}
      >
        <Show of={found} lines={12} away={{ to: href("/documents"), name: "See all documents" }}>
          {(data) => <Begins of={data} />}
        </Show>
      </div>
      <footer>
        {document && (
          <p class="quiet">
            {fileType(document.file_type, document.name)} · {bytes(document.file_size)} ·{" "}
            {document.page_count ? `${count(document.page_count, "page")} · ` : ""}
            {count(document.chunk_count, "chunk")}
          </p>
        )}
        <Stepper>
          <a href={href(`/d/${id}`)}>Open the document</a>
        </Stepper>
      </footer>
    </aside>
  );
}

function Begins({ of: { document, page, chunks } }: { of: Beginning }) {
  return (
    <>
      {page?.width && (
        <PageImage
          documentId={document.id}
          version={document.version}
          page={{ ...page, rects: null }}
          follow={false}
        />
      )}
      <div class="document-text">
        {chunks.length === 0 && (document.error?.message ?? "There is no text yet.")}
        {chunks.map((one) => (
          <div key={one.id} class="cut">
            {one.content}
          </div>
        ))}
      </div>
      {chunks.length < document.chunk_count && (
        <p class="quiet">
          The first {chunks.length} of {count(document.chunk_count, "chunk")}.
        </p>
      )}
    </>
  );
}
