import { ApiError } from "../api/client";

/** Browsers copy for pages of https and of this machine only. */
export async function copyText(text: string): Promise<void> {
  if (!isSecureContext) {
    throw new ApiError(0, "NOT_COPIED", "This browser copies only where the address begins with https.");
  }
  await navigator.clipboard.writeText(text);
}
