/** Changes a key file as a user whom permissions bind, and prints the refusal or the number of keys. */
import { newKey, readSecretsKeys, replaceSecretsKeys } from '../../src/keys/secrets-key.js';

const [, , path = '', user] = process.argv;
if (user !== undefined) {
  process.setuid?.(Number(user));
}
try {
  replaceSecretsKeys(path, [newKey(), newKey()]);
  process.stdout.write(`${readSecretsKeys(path).length} keys`);
} catch (error) {
  process.stdout.write((error as Error).message);
}
