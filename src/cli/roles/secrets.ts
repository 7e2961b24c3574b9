import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../../config/config.js';
import { LONGEST_TOKEN_MS } from '../../domain/sign-on/keys/due-key-changes.js';
import { ensureSigningKeys, type KeyRotation } from '../../domain/sign-on/keys/key-rotation.js';
import { removeLeft } from '../../files/staged.js';
import { KeyKeeper } from '../../keys/key-keeper.js';
import { KeyRing, signingKeyMaker } from '../../keys/key-ring.js';
import { makeSecretsKeys, readSecretsKeys } from '../../keys/secrets-key.js';
import { type DerivedKeys, derivedKeys } from '../../keys/subkeys.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../../telemetry/log.js';
import { secretsKeyFile } from '../from-config.js';
import { newNodeName } from './keeping-keys.js';

/** What signs and seals; all of it derives from the key file. */
export interface Secrets {
  derived: DerivedKeys;
  keyRing: KeyRing;
  rotation: KeyRotation;
  keeper: KeyKeeper;
}

/** Opens the keys; makes them if there are none. */
export async function openSecrets(config: Config, store: Store, log: Log): Promise<Secrets> {
  const { path, warning } = secretsKeyFile(config);
  if (warning !== undefined) {
    log.warn(warning);
  }
  const keeper = new KeyKeeper({
    seals: store.seals,
    // A demo makes its own; on live `integration init` did.
    keys: config.ENVIRONMENT === 'demo' ? makeSecretsKeys(path) : readSecretsKeys(path),
    // The file is absent while an operator moves it; no new one may be made.
    readKeys: () => readSecretsKeys(secretsKeyFile(config).path),
    node: newNodeName(),
    issuer: config.SIGN_ON_URL,
    clock: store.clock,
    log,
  });
  // What a killed change of the key file left there, which holds keys.
  removeLeft('files', dirname(realpathSync(path)));
  const derived = derivedKeys(keeper.ring, await keeper.adopt());
  store.startAuditChains(derived.audit, {
    onBroken: (chain) => log.warn('an audit chain ends: its newest record is missing', { chain }),
    onSpoiled: (chain, seq) =>
      log.error('audit records past their retention stay: one was changed; run `integration audit verify`', {
        chain,
        seq,
      }),
  });
  const keyRing = new KeyRing({
    issuer: config.SIGN_ON_URL,
    box: derived.signingKeys,
    clock: store.clock,
    load: () => store.signOn.rows.signingKeys.all(),
    onError: (error) => log.warn('the signing keys could not be read', { reason: (error as Error).message }),
  });
  const rotation: KeyRotation = {
    unitOfWork: store.signOn,
    maker: signingKeyMaker(derived.signingKeys),
    policy: {
      lifetimeMs: config.SIGNING_KEY_LIFETIME,
      publishLeadMs: config.SIGNING_KEY_LEAD,
      tokenLifetimeMs: LONGEST_TOKEN_MS,
    },
    clock: store.clock,
    changed: () => keyRing.reload(),
  };
  // Before any key is made: a key sealed with a wrong key file could not be opened on other nodes.
  await keyRing.ready();
  await ensureSigningKeys(rotation);
  await keyRing.ready();
  return { derived, keyRing, rotation, keeper };
}
