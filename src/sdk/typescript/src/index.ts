export type {
  Change,
  ChangeOf,
  Changes,
  ChangesOptions,
  EntityType,
  ResourcesByType,
  UnknownChange,
} from './changes.js';
export * from './errors.js';
export type { Fetch } from './exchange.js';
export { Gateway, type GatewayOptions } from './gateway.js';
export type { IdTokenAlgorithm, IdTokenClaims, LoginContext, UserinfoClaims } from './id-token.js';
export type { Linked } from './links.js';
export * from './models.js';
export { type Page, Paged } from './paged.js';
export type { ConditionalReadOptions, PagedOptions, Reading, ReadOptions } from './reader.js';
export type { RetryOptions } from './retries.js';
export {
  type AuthorizationOptions,
  type AuthorizationRequest,
  type CallOptions,
  type CodeExchange,
  type LogoutOptions,
  type SignIn,
  SignOn,
  type SignOnOptions,
  type Tokens,
} from './sign-on.js';
export { type SqliteDatabase, type SqliteStatement, SqliteStore } from './sqlite-store.js';
export { type Batch, MemoryStore, type Store, type StoredDigest } from './stores.js';
export type { Difference, Sync, SyncOptions } from './sync.js';
export { version } from './version.js';
export type {
  ClientCreatedData,
  ClientCreatedEvent,
  EmbeddedUnit,
  EventsByType,
  EventType,
  OrganizationLocationCreatedData,
  OrganizationLocationCreatedEvent,
  OrganizationLocationDeletedData,
  OrganizationLocationDeletedEvent,
  OrganizationUnitCreatedData,
  OrganizationUnitCreatedEvent,
  OrganizationUnitTypeCreatedData,
  OrganizationUnitTypeCreatedEvent,
  ReceivedEvent,
  UnknownEvent,
  UserCreatedEvent,
  UserEventData,
  UserUpdatedEvent,
  VerifyWebhookOptions,
  WebhookEvent,
  WebhookHeadersInit,
  WebhookVerificationReason,
  WorkerEventData,
  WorkerOnboardedEvent,
  WorkerUpdatedEvent,
} from './webhooks.js';
export { isEvent, verifyWebhook, WebhookVerificationError } from './webhooks.js';
