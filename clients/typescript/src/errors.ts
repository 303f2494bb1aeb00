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

/** For a request without an answer. A request that its caller ended is no error of the server. */
export function offline(error: unknown, message: string): unknown {
  const isEnded = error instanceof DOMException && error.name === "AbortError";
  return isEnded ? error : new ApiError(0, "OFFLINE", message);
}

/** For an answer that no server of Whence gives. */
export function unexpected(what: string): ApiError {
  return new ApiError(200, "UNEXPECTED_ANSWER", `${what} Check the address and the version of the server.`);
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
