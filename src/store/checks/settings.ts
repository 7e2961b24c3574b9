import { encryptionKeyRows } from '../adapters/operator/encryption-keys.js';
import { lacksAuditKey } from '../adapters/seals.js';
import type { Reader } from '../database.js';
import { type IssuerClaim, issuerProblem } from '../issuer.js';
import { schemaDrift } from '../migrate.js';
import { recordedIn } from '../recorded.js';
import { type Check, foundIn } from './check.js';

export const migrationsAreOurs: Check<unknown> = {
  name: 'migrations',
  about: 'The database has the migrations of this version, and none that this version cannot serve.',
  severity: 'error',
  remedy:
    'Missing: back up the database with the version that it is of, then start this version, which applies them. Newer: update this node or, to go back to this version, restore a backup that was made before the upgrade.',
  find: async (reader) => {
    const { missing, newer, required } = await schemaDrift(reader);
    return foundIn(
      [
        ...missing.map((name) => `the database lacks ${name}`),
        ...required.map((name) => `this version does not know ${name}`),
      ],
      newer.length > 0 ? `A newer version has added ${newer.join(', ')}.` : undefined,
    );
  },
};

export const issuerIsAccepted: Check<{ issuer: IssuerClaim; environment: 'live' | 'demo' }> = {
  name: 'issuer',
  about: 'ENVIRONMENT is that of the database, and SIGN_ON_URL is its issuer or may replace it.',
  severity: 'error',
  remedy:
    'Set them to the recorded values, set DATA_DIR or DATABASE_URL to the right database, or set PREVIOUS_SIGN_ON_URL to replace the issuer.',
  find: async (reader, { issuer, environment }) => {
    const recorded = await recordedIn(reader);
    const problem = issuerProblem(recorded.issuer, issuer);
    const isOther = recorded.environment !== undefined && recorded.environment !== environment;
    return foundIn(
      [
        ...(isOther
          ? [`the database belongs to ${recorded.environment}, and ENVIRONMENT is ${environment}`]
          : []),
        ...(problem ? [problem] : []),
      ],
      recordOf(recorded.issuer, problem === undefined, issuer),
    );
  },
};

function recordOf(recorded: string | null, isAccepted: boolean, { issuer }: IssuerClaim): string {
  if (recorded === null) {
    return 'No start has recorded an issuer yet.';
  }
  return isAccepted && recorded !== issuer
    ? `Recorded: ${recorded}; the next start records ${issuer} instead.`
    : `Recorded: ${recorded}.`;
}

interface KeySettings {
  /** The ids of the keys in the key file. */
  keyIds: readonly string[];
  /** SIGN_ON_URL. */
  ownIssuer: string;
}

export const keyFileFits: Check<KeySettings> = {
  name: 'encryption-key',
  about:
    'The key file holds the encryption keys that the database needs, and the database that of the audit log.',
  severity: 'error',
  remedy:
    'Set SECRETS_KEY_FILE to the key file of this database, or copy that file here from another node or from its stored copy. If the key of the audit log is missing, restore its row in token_keys, or the database, from a backup.',
  find: async (reader, { keyIds }) => {
    const needed = await neededKeys(reader);
    const lacking = needed.filter((id) => !keyIds.includes(id));
    const isAuditKeyLost = await lacksAuditKey(reader);
    return foundIn(
      [
        ...lacking.map((id) => `the key file lacks ${id}`),
        ...(isAuditKeyLost ? ['the table token_keys lacks the key of the audit log (purpose audit)'] : []),
      ],
      needed[0] && `In use: ${needed[0]}.`,
    );
  },
};

/** The first key that the database needs and the key file lacks. */
export async function lackingKey(reader: Reader, keyIds: readonly string[]): Promise<string | undefined> {
  return (await neededKeys(reader)).find((id) => !keyIds.includes(id));
}

/** The one in use first. */
async function neededKeys(reader: Reader): Promise<string[]> {
  const rows = encryptionKeyRows(reader);
  const [used, seals] = await Promise.all([rows.all(), rows.sealCounts()]);
  return used.map(({ id }) => id).filter((id, index) => index === 0 || (seals.get(id) ?? 0) > 0);
}

export const nodesAgree: Check<KeySettings> = {
  name: 'nodes',
  about: 'All running domain nodes hold the encryption key in use and have the same issuer.',
  severity: 'error',
  remedy:
    'Copy the key file to the nodes that lack the key, set the same SIGN_ON_URL on all nodes, and restart those that differ.',
  find: async (reader, { ownIssuer }) => {
    const rows = encryptionKeyRows(reader);
    const [[used], holders] = await Promise.all([rows.all(), rows.holders()]);
    const lacking = holders.filter(({ keyIds }) => used !== undefined && !keyIds.includes(used.id));
    const differing = holders.filter(({ issuer }) => issuer !== null && issuer !== ownIssuer);
    return foundIn(
      [
        ...lacking.map(({ node }) => `${node} lacks the key ${used?.id}`),
        ...differing.map(
          ({ node, issuer }) => `${node} has the issuer ${issuer}, and SIGN_ON_URL is ${ownIssuer}`,
        ),
      ],
      `${holders.length} ${holders.length === 1 ? 'node runs' : 'nodes run'}.`,
    );
  },
};
