/** Writes demo.json, and is killed before the staged file gets its name. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type DemoFile, writeDemoFile } from '../../../src/cli/demo/demo-file.js';

fs.renameSync = () => {
  process.kill(process.pid, 'SIGKILL');
};
syncBuiltinESMExports();
const [, , path = ''] = process.argv;
writeDemoFile(path, { operatorToken: 'a secret' } as DemoFile);
