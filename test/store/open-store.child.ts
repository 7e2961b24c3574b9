/** Opens the store given as JSON, in a separate process, and prints the outcome. */
import { openStore, type StoreOptions } from '../../src/store/store.js';

const options = JSON.parse(process.argv[2] ?? '') as StoreOptions;
try {
  const store = await openStore(options);
  await store.close();
  process.stdout.write('opened');
} catch (error) {
  process.stdout.write(String(error));
}
