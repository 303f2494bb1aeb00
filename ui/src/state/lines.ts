import { api, take, type Schemas } from "../api/client";
import { useResource } from "./resource";

export type Line = Schemas["LineModel"];

/** The printed lines of a page. Without them the picture is still there. */
export function useLines(documentId: string, page: number, version: number): Line[] {
  const params = { path: { document_id: documentId, page_number: page } };
  const found = useResource(
    (signal) =>
      take(api.GET("/api/v1/documents/{document_id}/pages/{page_number}/lines", { params, signal })),
    [documentId, page, version],
    { fresh: true },
  );
  return found.data?.lines ?? [];
}

const AT = 100;
let context: CanvasRenderingContext2D | null = null;

/** The width of a text in the font of the text layer, at a size of 1. */
export function widthOf(text: string): number {
  context ??= document.createElement("canvas").getContext("2d");
  if (!context) return 0;
  context.font = `${AT}px sans-serif`;
  return context.measureText(text).width / AT;
}
