/** Runs the thread of the sources: Node starts a thread with JavaScript only. */
import { register } from 'tsx/esm/api';

register();
await import('../../../src/store/dialects/checkpoint-thread.ts');
