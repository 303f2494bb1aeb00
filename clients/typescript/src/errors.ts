/** A refusal of the server, or its silence. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly requestId: string | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

interface ErrorBody {
  error?: { code?: string; message?: string; details?: Record<string, unknown> };
}

/** The error that an answer other than 2xx stands for. */
export function refusal(response: Response, body: unknown): ApiError {
  const error = (body as ErrorBody | null)?.error;
  return new ApiError(
    response.status,
    error?.code ?? "HTTP_ERROR",
    error?.message ?? `The server answered ${response.status}.`,
    error?.details,
    response.headers.get("x-request-id"),
  );
}
