/** Every export is a workflow type. Bundled by bundle.ts. */
export { authorizationCodeExpiry } from './code-expiry.js';
export { purge } from './purge.js';
export { signingKeyRotation } from './signing-key-rotation.js';
export { webhookRetry } from './webhook-retry.js';
