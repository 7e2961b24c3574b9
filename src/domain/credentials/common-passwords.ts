import { createRequire } from 'node:module';

interface CommonLanguage {
  dictionary: { 'passwords-common': readonly string[] };
}

let known: ReadonlySet<string> | undefined;

/** The 49,000 most leaked passwords, in lower case. Unpacked on first use, in a tenth of a second. */
export function commonPasswords(): ReadonlySet<string> {
  known ??= new Set(
    (createRequire(import.meta.url)('@zxcvbn-ts/language-common') as CommonLanguage).dictionary[
      'passwords-common'
    ],
  );
  return known;
}
