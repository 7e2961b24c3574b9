import type { Command } from 'commander';
import { seconds } from '../../options.js';
import { addGroup, addVerb } from '../group.js';

export function addEncryptionKeyCommands(program: Command): void {
  const group = addGroup(
    program,
    'encryption-key',
    'Keys that encrypt secrets in the database',
    'encryption-key list',
    'encryption-key rotate',
    'encryption-key retire ek_…',
  );
  const load = () => import('./encryption-key-actions.js');
  addVerb(group, 'list', async (...given) => (await load()).list(...given), {
    about: 'List encryption keys with the number of secrets that each encrypts',
  });
  addVerb(group, 'rotate', async (...given) => (await load()).rotate(...given), {
    about: 'Add a key to SECRETS_KEY_FILE, and encrypt with it as soon as every domain node has it',
    example: '--wait 10m',
    demoToken: 'key_custodian',
  }).option('--wait <duration>', 'how long to wait for the other nodes; 2m unless given', seconds);
  addVerb(group, 'retire <encryption-key>', async (...given) => (await load()).retire(...given), {
    about: 'Remove a key from SECRETS_KEY_FILE once no secret is encrypted with it',
    demoToken: 'key_custodian',
  });
}
