import type { Command } from 'commander';
import type {
  SigningAlgorithm,
  SigningKey,
} from '../../../../../generated/proto/integration/operator/v1/signing_keys.js';
import { confirmation } from '../../confirm.js';
import { collectedOf } from '../../options.js';
import { asEnum, asTime, asWord } from '../../output/table.js';
import { addGroup, addVerb } from '../group.js';
import type { Action, Shown } from '../session.js';
import { shownList } from '../showing.js';

export const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];

export function addSigningKeyCommands(program: Command): void {
  const group = addGroup(
    program,
    'signing-key',
    'Keys that sign tokens',
    'signing-key list',
    'signing-key rotate --algorithm RS256',
    'signing-key rotate --compromised --yes',
  );
  addVerb(group, 'list', list, { about: 'List signing keys, newest first' });
  addVerb(group, 'rotate', rotate, {
    about:
      'Publish successors, which sign as soon as every client knows them (needs a key custodian’s token)',
    example: '--algorithm RS256',
    demoToken: 'key_custodian',
  })
    .option(
      '--algorithm <name>',
      'RS256, ES256 or EdDSA; may be repeated, all unless given',
      collectedOf(ALGORITHMS),
    )
    .option(
      '--compromised',
      'after a leak: successors sign at once, and what the present keys signed is refused',
    )
    .option('--yes', 'do not ask for confirmation of --compromised');
}

const list: Action = async ({ operator }) => shownKeys(await operator.listSigningKeys({}));

const rotate: Action<{ algorithm?: readonly string[]; compromised?: boolean }> = async (
  { operator },
  _,
  { algorithm = [], compromised = false, yes },
) => {
  if (compromised) {
    const which = algorithm.length > 0 ? algorithm.join(', ') : 'every algorithm';
    const confirm = confirmation({ yes });
    await confirm(`Withdraw the keys of ${which}? Every token that they signed is refused at once.`);
  }
  const algorithms = algorithm.map((name) => asEnum<SigningAlgorithm>(name, 'SIGNING_ALGORITHM_'));
  return shownKeys(await operator.rotateSigningKeys({ algorithms, compromised }));
};

function shownKeys({ signingKeys }: { signingKeys: readonly SigningKey[] }): Shown {
  return shownList(signingKeys, {
    key: ({ kid }) => kid,
    algorithm: ({ algorithm }) => algorithmName(algorithm),
    status: ({ status }) => asWord(status, 'SIGNING_KEY_STATUS_'),
    'signs from': ({ activatesAt }) => asTime(activatesAt),
    'signed until': ({ supersededAt }) => asTime(supersededAt),
    'published until': ({ retiresAt }) => asTime(retiresAt),
  });
}

export function algorithmName(algorithm: SigningAlgorithm): string {
  return ALGORITHMS.find((name) => asEnum(name, 'SIGNING_ALGORITHM_') === algorithm) ?? '-';
}
