import { encryptionKeyRows } from '../adapters/operator/encryption-keys.js';
import { type Check, foundIn } from './check.js';

export interface KeySettings {
  /** The ids of the keys in the key file. */
  keyIds: readonly string[];
  /** SIGN_ON_URL. */
  ownIssuer: string;
}

export const keyFileFits: Check<KeySettings> = {
  name: 'encryption-key',
  about: 'The key file holds the encryption keys that the database needs.',
  severity: 'error',
  remedy:
    'Set SECRETS_KEY_FILE to the key file of this database, or copy that file here from another node or from its stored copy.',
  find: async (reader, { keyIds }) => {
    const rows = encryptionKeyRows(reader);
    const [used, seals] = await Promise.all([rows.all(), rows.sealCounts()]);
    const needed = used.filter(({ id }, index) => index === 0 || (seals.get(id) ?? 0) > 0);
    return foundIn(
      needed.flatMap(({ id }) => (keyIds.includes(id) ? [] : [`the key file lacks ${id}`])),
      used[0] && `In use: ${used[0].id}.`,
    );
  },
};

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
