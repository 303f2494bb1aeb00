export * from "./client.js";
export { Connection, type ConnectionOptions } from "./connection.js";
export { ApiError, refusal } from "./errors.js";
export { eventsOf, parse, type ServerEvent } from "./events.js";
export type { components, paths } from "./schema.js";
