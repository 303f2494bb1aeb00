import { api, take, type Schemas } from "../api/client";

export type Span = Schemas["SpanModel"];
export type PageRects = Schemas["PageRectsModel"];

/** What stands at a place of a document, and where that is on its pages. */
export function spanOf(
  place: { documentId: string; start: number; end: number },
  signal: AbortSignal,
): Promise<Span> {
  const params = { path: { document_id: place.documentId }, query: { start: place.start, end: place.end } };
  return take(api.GET("/api/v1/documents/{document_id}/spans", { params, signal }));
}
