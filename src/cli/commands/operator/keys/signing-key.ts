import type { Command } from 'commander';
import { signingAlgorithms } from '../../option-parsers.js';
import { addGroup, addVerb } from '../group.js';

export function addSigningKeyCommands(program: Command): void {
  const group = addGroup(
    program,
    'signing-key',
    'Keys that sign tokens',
    'signing-key list',
    'signing-key rotate --algorithm RS256',
    'signing-key rotate --compromised --yes',
  );
  const load = () => import('./signing-key-actions.js');
  addVerb(group, load, 'list', { about: 'List signing keys, newest first', example: '' });
  addVerb(group, load, 'rotate', {
    about: 'With a key custodian’s token, publish successors, which sign as soon as every client knows them',
    example: '--algorithm RS256',
    demoToken: 'keyCustodianToken',
  })
    .option(
      '--algorithm <name>',
      'RS256, ES256 or EdDSA; may be repeated, all unless given',
      signingAlgorithms,
    )
    .option(
      '--compromised',
      'after a leak: successors sign at once, and what the present keys signed is refused',
    )
    .option('--yes', 'do not ask, where the keys are compromised');
}
