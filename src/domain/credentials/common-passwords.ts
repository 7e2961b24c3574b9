import { createRequire } from 'node:module';

interface CommonLanguage {
  dictionary: { 'passwords-common': readonly string[] };
}

let known: ReadonlySet<string> | undefined;

/** The 49,000 passwords that leaks hold most often, in lower case, of `@zxcvbn-ts/language-common`. Unpacking them takes a tenth of a second, so the first question does it. */
export function commonPasswords(): ReadonlySet<string> {
  known ??= new Set(
    (createRequire(import.meta.url)('@zxcvbn-ts/language-common') as CommonLanguage).dictionary[
      'passwords-common'
    ],
  );
  return known;
}
