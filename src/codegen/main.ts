import { release } from './breaking.js';
import { generate } from './generate.js';
import { verify } from './verify.js';

const commands: Record<string, () => Promise<void>> = { generate, verify, release };

const command = commands[process.argv[2] ?? ''];
if (!command) {
  process.stderr.write(`Usage: codegen ${Object.keys(commands).join('|')}\n`);
  process.exit(2);
}
try {
  await command();
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`);
  process.exit(1);
}
