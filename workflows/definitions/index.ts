/** Everything exported here is a workflow type. Bundled by bundle.ts. */
export { purge } from './purge.js';
