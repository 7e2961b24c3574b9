import { type IssuerClaim, issuerProblem } from '../issuer.js';
import { schemaDrift } from '../migrate.js';
import { recordedIn } from '../recorded.js';
import { type Check, foundIn } from './check.js';

export const migrationsAreOurs: Check<unknown> = {
  name: 'migrations',
  about: 'The database has the migrations of this version, and none that this version cannot serve.',
  severity: 'error',
  remedy:
    'Missing: start this version, which applies them. Newer: update this node or, to go back to this version, restore a backup that was made before the upgrade.',
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
