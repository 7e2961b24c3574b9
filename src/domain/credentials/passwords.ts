import { createRequire } from 'node:module';
import type { AccountId } from '../../../generated/ids.js';
import { charactersOf } from '../characters.js';

export interface PasswordRows {
  find(accountId: AccountId): Promise<{ hash: string; setAt: number } | undefined>;
  set(accountId: AccountId, hash: string, at: number): Promise<void>;
}

/** Slow by design, and run in separate threads. Networks take turns; calls without one count as a network. */
export interface PasswordHasher {
  /** Throws UNAVAILABLE with a time to retry when the queue is too long. */
  hash(password: string, network?: string): Promise<string>;
  /**
   * Without a hash, the check takes as long and returns false, so that unknown accounts look like known ones.
   * A check from a known browser gets a place in a full queue too.
   */
  verify(
    hash: string | undefined,
    password: string,
    network?: string,
    isKnownBrowser?: boolean,
  ): Promise<boolean>;
}

/**
 * Matches no password, and has the usual parameters, so that a check takes as long for unknown accounts, and
 * for people whose password a restore removed, as for others.
 */
export const UNMATCHED_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlzLg$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';

export type PasswordFault = 'too_short' | 'too_long' | 'too_common' | 'too_personal';

/** NIST SP 800-63B-4, 3.1.1.2, for a password as the only factor. No rules about character classes. */
const MIN_CHARACTERS = 15;
const MAX_CHARACTERS = 256;
/** Fewer indicate a held key or a pattern. */
const MIN_DIFFERENT = 5;
/** Shorter names and words occur in too many others. */
const MIN_WORD_LENGTH = 4;
/** A common word with at most this many characters around it is still common. */
const MAX_DECORATIONS = 10;

const SERVICE_WORDS = ['integration', 'service', 'password', 'signin', 'login'];

/** Rows of keyboards, and counting. */
const RUNS = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnmqwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnmqwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbnazertyuiopqsdfghjklmwxcvbn',
  '1234567890qwertyuiopasdfghjklzxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
].flatMap((run) => [run, [...run].reverse().join('')]);

const SEPARATORS = /[\s._-]+/g;

/** Signs that stand for letters; 1 stands for two. */
const LETTERS_OF: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '8': 'b',
  '3': 'e',
  '6': 'g',
  '9': 'g',
  '0': 'o',
  '5': 's',
  $: 's',
  '7': 't',
  '+': 't',
  '2': 'z',
  '!': 'i',
  '|': 'i',
};

/** Too long in every form. To normalize such a text can take seconds, in which the domain answers no call. */
const MAX_UNITS = 4_096;

/** The form that is judged, hashed and checked (NFKC): keyboards encode the same characters differently. */
export function normalizedPassword(password: string): string {
  return password.length > MAX_UNITS ? password : password.normalize('NFKC');
}

/** Why the password is refused, if it is. `names`: the person's names, address, clients, instances. */
export function faultOf(password: string, names: readonly string[]): PasswordFault | undefined {
  const normalized = normalizedPassword(password);
  const characters = charactersOf(normalized, MAX_CHARACTERS);
  if (characters > MAX_CHARACTERS) {
    return 'too_long';
  }
  const forms = formsOf(normalized);
  if (forms.some(isCommon)) {
    return 'too_common';
  }
  const words = [...new Set([...names, ...SERVICE_WORDS].flatMap(wordsOf))].sort(
    (a, b) => b.length - a.length,
  );
  if (forms.some((form) => isMadeOf(words, form))) {
    return 'too_personal';
  }
  return characters < MIN_CHARACTERS ? 'too_short' : undefined;
}

/** In lower case without separators; as typed, and with signs replaced by letters. */
function formsOf(password: string): string[] {
  const folded = password.toLowerCase();
  const read = (one: string) =>
    folded.replace(/[^a-z]/g, (sign) => (sign === '1' ? one : (LETTERS_OF[sign] ?? sign)));
  return [...new Set([folded, read('i'), read('l')].map((form) => form.replace(SEPARATORS, '')))];
}

function isCommon(form: string): boolean {
  if (form === '' || (form.length >= MIN_DIFFERENT && new Set(form).size < MIN_DIFFERENT)) {
    return true;
  }
  const unit = repeatedPartOf(form);
  const core = coreOf(unit);
  const decorations = unit.length - core.length;
  const isOneWord =
    core.length >= MIN_WORD_LENGTH && decorations <= MAX_DECORATIONS && commonPasswords().has(core);
  return (
    isOneWord ||
    commonPasswords().has(unit) ||
    RUNS.some((run) => unit.length >= MIN_WORD_LENGTH && run.includes(unit))
  );
}

/** `abcabc` is as easy to guess as `abc`. */
function repeatedPartOf(text: string): string {
  const length = (text + text).indexOf(text, 1);
  return text.slice(0, length);
}

/** Without digits and signs at both ends. */
function coreOf(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
}

/** Whether the words make up almost all of it. */
function isMadeOf(words: readonly string[], form: string): boolean {
  const left = words.reduce((text, word) => text.replaceAll(word, ' '), form);
  if (left === form) {
    return false;
  }
  const letters = left.replace(/[^\p{L}]+/gu, '');
  return letters.length < MIN_WORD_LENGTH || commonPasswords().has(letters);
}

/** A whole name and its parts. */
function wordsOf(name: string): string[] {
  const folded = normalizedPassword(name).toLowerCase();
  const parts = folded.split(/[^\p{L}\p{N}]+/u);
  return [...parts, parts.join(''), folded.replace(SEPARATORS, '')].filter(
    (word) => word.length >= MIN_WORD_LENGTH,
  );
}

interface CommonLanguage {
  dictionary: { 'passwords-common': readonly string[] };
}

let known: ReadonlySet<string> | undefined;

/** The 49,000 most leaked passwords, in lower case. Unpacked on first use, in a tenth of a second. */
function commonPasswords(): ReadonlySet<string> {
  known ??= new Set(
    (createRequire(import.meta.url)('@zxcvbn-ts/language-common') as CommonLanguage).dictionary[
      'passwords-common'
    ],
  );
  return known;
}
