import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { CertificateFiles } from '../../src/rpc/certificate-files.js';
import { eventually } from '../support/eventually.js';
import { recordedLog } from '../support/recorded-log.js';
import { type Issued, newAuthority } from '../support/self-signed-certificate.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const DAY_MS = 86_400_000;
const IN_USE = 'certificate files have changed and are in use';
const REFUSED = 'certificate files have changed and cannot be used; those read before stay in use';

const newDirectory = temporaryDirectories();
const authority = newAuthority('the authority');
const other = newAuthority('the other authority');

let ending = new AbortController();
afterEach(() => {
  ending.abort();
  ending = new AbortController();
});

/** Files as Kubernetes mounts them: links into a folder that is itself a link, swapped in one step. */
function mounted(first: Record<string, string>) {
  const mount = newDirectory();
  let version = 0;
  const swap = (contents: Record<string, string>) => {
    const folder = join(mount, `..version-${version++}`);
    mkdirSync(folder);
    for (const [name, text] of Object.entries(contents)) {
      writeFileSync(join(folder, name), text);
    }
    symlinkSync(folder, join(mount, '..new'));
    renameSync(join(mount, '..new'), join(mount, '..data'));
  };
  swap(first);
  for (const name of Object.keys(first)) {
    symlinkSync(join('..data', name), join(mount, name));
  }
  const files = {
    certFile: join(mount, 'tls.crt'),
    keyFile: join(mount, 'tls.key'),
    caFile: join(mount, 'ca.crt'),
  };
  return { mount, files, swap };
}

function contentsOf({ certificate, key }: Issued, ca = authority.certificate): Record<string, string> {
  return { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca };
}

/** Watched with a look every millisecond, and with a clock that counts the looks. */
function watching(first = authority.issue(), clock = Date.now) {
  const mount = mounted(contentsOf(first));
  const files = new CertificateFiles(mount.files);
  const { log, lines, nextLine } = recordedLog();
  let looks = 0;
  const counting = () => {
    looks += 1;
    return clock();
  };
  void files.watch({ log, ending: ending.signal, lookEveryMs: 1, clock: counting });
  const updates: (string | undefined)[] = [];
  files.addIdentityCertificateListener((update) => updates.push(update?.certificate.toString()));
  return {
    ...mount,
    updates,
    lines,
    nextLine: (message: string) => nextLine(({ msg }) => msg === message),
    looksAgain: () => {
      const enough = looks + 20;
      return eventually('twenty more looks', () => looks > enough);
    },
  };
}

describe('certificate files that change', () => {
  test('are in use after the link to their folder was swapped', async () => {
    const { swap, updates, nextLine, files } = watching();
    const next = authority.issue();
    swap(contentsOf(next));
    expect(await nextLine(IN_USE)).toMatchObject({ level: 'info', files: Object.values(files) });
    expect(updates.at(-1)).toBe(next.certificate);
  });

  test('are left alone while they say the same', async () => {
    const first = authority.issue();
    const { swap, looksAgain, updates, lines } = watching(first);
    swap(contentsOf(first));
    await looksAgain();
    expect([updates, lines()]).toEqual([[first.certificate], []]);
  });

  test('are taken once two looks in a row have seen the same, and not while they are being written', async () => {
    const first = authority.issue();
    let steps: (() => void)[] = [];
    const rig = watching(first, () => {
      steps.shift()?.();
      return Date.now();
    });
    const versions = Array.from({ length: 6 }, () => authority.issue());
    steps = versions.map((version) => () => rig.swap(contentsOf(version)));
    await rig.nextLine(IN_USE);
    expect(rig.updates).toEqual([first.certificate, versions.at(-1)?.certificate]);
  });

  const good = authority.issue();
  const bundle = `${authority.certificate}${other.certificate}`;
  test.each<[string, Record<string, string>, string]>([
    [
      'a key of another certificate',
      { ...contentsOf(good), 'tls.key': authority.issue().key },
      'tls.key does not hold the key of the certificate in',
    ],
    [
      'a certificate that is half written',
      { ...contentsOf(good), 'tls.crt': good.certificate.slice(0, 300) },
      'tls.crt does not hold whole certificates in PEM',
    ],
    [
      'a key that is half written',
      { ...contentsOf(good), 'tls.key': good.key.slice(0, 100) },
      'tls.key holds no private key that can be read without a password',
    ],
    [
      'a bundle of authorities that is half written',
      contentsOf(good, bundle.slice(0, -300)),
      'ca.crt does not hold whole certificates in PEM',
    ],
    ['no authority', contentsOf(good, ''), 'ca.crt does not hold whole certificates in PEM'],
    [
      'something else between the lines of PEM',
      contentsOf(good, '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n'),
      'ca.crt holds a certificate that cannot be read',
    ],
    [
      'a certificate that has expired',
      contentsOf(authority.issue({ notAfter: Date.now() - 60_000 })),
      'tls.crt holds no certificate that is valid now',
    ],
    [
      'a certificate that begins tomorrow',
      contentsOf(authority.issue({ notBefore: Date.now() + DAY_MS, notAfter: Date.now() + 2 * DAY_MS })),
      'tls.crt holds no certificate that is valid now',
    ],
    [
      'an authority that has expired',
      contentsOf(good, authority.issue({ notAfter: Date.now() - 60_000 }).certificate),
      'ca.crt holds no certificate that is valid now',
    ],
  ])('to %s stay unchanged, which is told once, until they are whole', async (_, contents, reason) => {
    const first = authority.issue();
    const { swap, updates, nextLine, looksAgain, lines } = watching(first);
    swap(contents);
    expect(await nextLine(REFUSED)).toMatchObject({ level: 'warn', reason: expect.stringContaining(reason) });
    await looksAgain();
    expect([updates, lines().length]).toEqual([[first.certificate], 1]);
    swap(contentsOf(good));
    await nextLine(IN_USE);
    expect([updates, lines().length]).toEqual([[first.certificate, good.certificate], 2]);
  });

  test('and are gone stay unchanged, which is told once, until they are back', async () => {
    const first = authority.issue();
    const { mount, swap, updates, nextLine, looksAgain, lines } = watching(first);
    rmSync(join(mount, '..data'));
    expect(await nextLine(REFUSED)).toMatchObject({ reason: expect.stringContaining('ENOENT') });
    await looksAgain();
    expect([updates, lines().length]).toEqual([[first.certificate], 1]);
    swap(contentsOf(good));
    await nextLine(IN_USE);
    expect(updates).toEqual([first.certificate, good.certificate]);
  });

  test('are used once the time of a certificate has come that was there before it', async () => {
    let now = Date.now();
    const { swap, updates, nextLine } = watching(authority.issue(), () => now);
    const next = authority.issue({ notBefore: now + DAY_MS / 2, notAfter: now + 9 * DAY_MS });
    swap(contentsOf(next));
    await nextLine(REFUSED);
    now += DAY_MS / 2 + 1_000;
    await nextLine(IN_USE);
    expect(updates.at(-1)).toBe(next.certificate);
  });
});

describe('the end of a certificate', () => {
  test('is told when a fifth of its time is left, and when it has come, each once', async () => {
    let now = Date.now();
    const soon = 'a certificate expires soon and was not renewed';
    const { files, lines, nextLine, looksAgain } = watching(
      authority.issue({ notBefore: now, notAfter: now + DAY_MS / 2 }),
      () => now,
    );
    await looksAgain();
    expect(lines()).toEqual([]);
    now += DAY_MS * 0.4 + 60_000;
    expect(await nextLine(soon)).toMatchObject({ level: 'warn', file: files.certFile });
    await looksAgain();
    now += DAY_MS * 0.1;
    expect(await nextLine('a certificate has expired')).toMatchObject({ file: files.certFile });
    await looksAgain();
    expect(lines().map(({ file }) => file)).toEqual([files.certFile, files.certFile]);
  });

  test('is that of the chain which ends first, and of the authority which ends last', () => {
    const [early, late] = [Date.now() + DAY_MS, Date.now() + 5 * DAY_MS].map((at) => at - (at % 1_000));
    const own = authority.issue({ notAfter: late });
    const contents = {
      ...contentsOf(own),
      'tls.crt': own.certificate + authority.issue({ notAfter: early }).certificate,
      'ca.crt': other.issue({ notAfter: early }).certificate + other.issue({ notAfter: late }).certificate,
    };
    expect(new CertificateFiles(mounted(contents).files).ends()).toMatchObject([
      { certificate: 'own', notAfter: early },
      { certificate: 'authority', notAfter: late },
    ]);
  });
});
