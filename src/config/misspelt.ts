import { retiredSettings, settings } from './settings.js';

export interface Misspelt {
  name: string;
  /** The setting that was probably meant. */
  nearest?: string;
  /**
   * The start refuses it: it is the name of an unset setting in another case or with one wrong letter, or two
   * in a very long name.
   */
  isCertain: boolean;
  problem: string;
}

/** Variables of the command line. They are not settings of the service. */
const COMMAND_VARIABLES = [
  'INTEGRATION_ADDRESS',
  'INTEGRATION_API_KEY',
  'INTEGRATION_API_KEY_FILE',
  'INTEGRATION_CA',
  'INTEGRATION_GATEWAY',
  'INTEGRATION_TOKEN',
  'INTEGRATION_TOKEN_FILE',
];
/** Names with these prefixes are reported even if they resemble no setting. */
const OWN_PREFIX = /^(INTEGRATION|WEBHOOK|SIGN_ON|SIGNING_KEY|GRPC_TLS)_/;
/** Kubernetes and Docker describe the services of a cluster in variables named after them. */
const SERVICE_OF_CLUSTER = /_SERVICE_(HOST|PORT)|_PORT_\d+_(TCP|UDP|SCTP)/;
const ADDRESS_OF_CLUSTER = /^(tcp|udp|sctp):\/\//;
/** A name of this length may have two wrong letters; shorter names with two resemble other words. */
const LONG_NAME = 12;
/** In a name of this length, a start also refuses two wrong letters if they are in different words. */
const VERY_LONG_NAME = 16;
const MOST_EDITS = 2;

/** Variables that look like settings but are not. */
export function misspeltIn(
  environment: Readonly<Record<string, string | undefined>>,
  foreign: readonly string[],
): Misspelt[] {
  const candidates = [...Object.keys(settings), ...COMMAND_VARIABLES];
  const known = new Set([...candidates, ...Object.keys(retiredSettings), ...foreign]);
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const isOfCluster = SERVICE_OF_CLUSTER.test(name) || ADDRESS_OF_CLUSTER.test(value);
    if (known.has(name) || isOfCluster) {
      return [];
    }
    const nearest = nearestOf(name, candidates);
    if (nearest === undefined && !OWN_PREFIX.test(name)) {
      return [];
    }
    const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    const remedy = 'Rename or remove it, or name it in FOREIGN_VARIABLES if another program reads it';
    const isUnset = nearest !== undefined && !environment[nearest] && !environment[`${nearest}_FILE`];
    const isCertain = isUnset && nearest in settings && isOneSlip(name, nearest);
    return [{ name, nearest, isCertain, problem: `${name} is not a setting${meant || '.'} ${remedy}` }];
  });
}

function nearestOf(name: string, candidates: readonly string[]): string | undefined {
  const written = plain(name.replace(/^INTEGRATION_/i, ''));
  const bare = [...new Set([plain(name), written, written.replace(/FILE$/, '')])];
  const near = candidates.flatMap((candidate) => {
    // A setting's name with a further word is another name, not a misspelling.
    if (name.startsWith(`${candidate}_`) && !name.endsWith('_FILE')) {
      return [];
    }
    const target = plain(candidate);
    const apart = Math.min(...bare.map((each) => distance(each, target)));
    return apart <= (candidate.length < LONG_NAME ? 1 : 2) ? [{ candidate, apart }] : [];
  });
  return near.sort((one, other) => one.apart - other.apart)[0]?.candidate;
}

/**
 * The same words with at most one wrong letter; in a very long name, up to two in different words. Names that
 * differ more may belong to another program.
 */
function isOneSlip(name: string, setting: string): boolean {
  const [written, meant] = [name.toUpperCase().split('_'), setting.split('_')];
  if (written.length !== meant.length) {
    return false;
  }
  const apart = written.map((word, index) => distance(word, meant[index] as string));
  const slips = apart.reduce((sum, each) => sum + each, 0);
  return slips <= 1 || (slips === 2 && Math.max(...apart) === 1 && setting.length >= VERY_LONG_NAME);
}

function plain(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, '');
}

/** The edit distance, where a swap of two neighbouring letters is one edit; infinite above `most`. */
export function distance(one: string, other: string, most = MOST_EDITS): number {
  if (one === other) {
    return 0;
  }
  if (most === 0) {
    return Number.POSITIVE_INFINITY;
  }
  if (one[0] === other[0]) {
    return distance(one.slice(1), other.slice(1), most);
  }
  const after = (skip: number, otherSkip: number) =>
    distance(one.slice(skip), other.slice(otherSkip), most - 1);
  const isSwap = one[0] === other[1] && one[1] === other[0];
  const afterSwap = isSwap ? after(2, 2) : Number.POSITIVE_INFINITY;
  return 1 + Math.min(after(1, 0), after(0, 1), after(1, 1), afterSwap);
}
