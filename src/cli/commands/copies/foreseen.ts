import { SecretsKeyError } from '../../../keys/secrets-key.js';
import { CopyError } from '../../../store/copies/copy-error.js';
import { StoreError } from '../../../store/store-error.js';
import { StartupError } from '../../startup-error.js';
import { Unfinished } from '../unfinished.js';

/** Maps errors of the store and of the keys to errors that end a command with a message and an exit code. */
export async function foreseen<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreError || error instanceof SecretsKeyError) {
      throw new StartupError(error.message, { cause: error });
    }
    throw error instanceof CopyError ? new Unfinished(error.message) : error;
  }
}
