import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';

const LIMIT_MS = 280_000;

/** A folder that is made once in a run of tests: by the first test that asks, while others wait. */
export async function onceARun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const place = join(process.env.TEST_RUN_FOLDER ?? mkdtempSync(join(tmpdir(), 'it-')), name);
  const [folder, making, failure] = ['made', 'making', 'failed'].map((each) => join(place, each)) as [
    string,
    string,
    string,
  ];
  if (mkdirSync(place, { recursive: true }) === undefined) {
    await eventually(name, () => existsSync(folder) || existsSync(failure), LIMIT_MS);
    if (existsSync(failure)) {
      throw new Error(`Another test could not make this: ${name}.`);
    }
    return folder;
  }
  try {
    mkdirSync(making);
    await make(making);
    renameSync(making, folder);
    return folder;
  } catch (error) {
    writeFileSync(failure, String(error));
    throw error;
  }
}
