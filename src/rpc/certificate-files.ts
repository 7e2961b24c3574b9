import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { experimental } from '@grpc/grpc-js';
import type { Log } from '../telemetry/log.js';

export interface TlsFiles {
  certFile?: string;
  keyFile?: string;
  caFile?: string;
}

/** A certificate that this end presents or trusts. */
export interface CertificateEnd {
  certificate: 'own' | 'authority';
  file: string;
  notBefore: number;
  notAfter: number;
  /** If it is in use after this time, it was not renewed as it should have been. */
  renewalDue: number;
}

interface WatchOptions {
  log: Log;
  ending: AbortSignal;
  lookEveryMs?: number;
  clock?: () => number;
}

type Material = { [Name in keyof TlsFiles]?: Buffer };

/** Polled, because symbolic links that are swapped in a mount may raise no event. */
const LOOK_EVERY_MS = 2_000;
/** Automatic renewals happen earlier: so close to its end, the renewal of a certificate has failed. */
const WARN_AT_LIFETIME_LEFT = 1 / 5;
const WARN_AT_MOST_BEFORE_MS = 30 * 86_400_000;

/**
 * Certificate, key and authority of one end of gRPC, reloaded together when the files change. Open
 * connections stay; the watcher of grpc-js would drop them while a file is missing or mismatched.
 */
export class CertificateFiles implements experimental.CertificateProvider {
  readonly #files: TlsFiles;
  /** By listener of grpc-js, what tells it the present material. */
  readonly #tellers = new Map<unknown, () => void>();
  #material: Material;
  #ends: CertificateEnd[];
  /** Of the material in use, of the last look, and of the last refusal. */
  #usedMark: string;
  #seenMark: string;
  #refused: string | undefined;
  readonly #warned = new Map<string, string>();

  /** Throws a sentence if the files are unusable. */
  constructor(files: TlsFiles) {
    this.#files = files;
    this.#material = Object.fromEntries(entriesOf(files).map(([name, file]) => [name, readFileSync(file)]));
    this.#ends = checked(files, this.#material);
    this.#usedMark = markOf(this.#material);
    this.#seenMark = this.#usedMark;
  }

  get hasIdentity(): boolean {
    return this.#material.certFile !== undefined;
  }

  ends(): readonly CertificateEnd[] {
    return this.#ends;
  }

  /** Runs until `ending`. */
  async watch({ log, ending, lookEveryMs = LOOK_EVERY_MS, clock = Date.now }: WatchOptions): Promise<void> {
    const passed = () => sleep(lookEveryMs, true, { ref: false, signal: ending }).catch(() => false);
    this.#warnOfEnds(log, clock());
    while (await passed()) {
      await this.#look(log, clock());
      this.#warnOfEnds(log, clock());
    }
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#add(listener, () => {
      const { certFile: certificate, keyFile: privateKey } = this.#material;
      listener(certificate && privateKey ? { certificate, privateKey } : null);
    });
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#tellers.delete(listener);
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#add(listener, () => {
      const { caFile: caCertificate } = this.#material;
      listener(caCertificate ? { caCertificate } : null);
    });
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#tellers.delete(listener);
  }

  #add(listener: unknown, tell: () => void): void {
    this.#tellers.set(listener, tell);
    // Deferred: grpc-js registers its listener only after this call.
    process.nextTick(tell);
  }

  /** Takes material that two looks in a row have found: files may be seen half-written. */
  async #look(log: Log, now: number): Promise<void> {
    const { mark, material, problem } = await lookAt(this.#files);
    const isSettled = mark === this.#seenMark;
    this.#seenMark = mark;
    if (mark === this.#usedMark) {
      this.#refused = undefined;
    } else if (isSettled) {
      const reason = problem ?? this.#take(mark, material, now);
      if (reason === undefined) {
        log.info('certificate files have changed and are in use', {
          files: entriesOf(this.#files).map(([, file]) => file),
        });
      } else if (reason !== this.#refused) {
        log.warn('certificate files have changed and cannot be used; those read before stay in use', {
          reason,
        });
      }
      this.#refused = reason;
    }
  }

  /** Returns the reason if the material is refused. */
  #take(mark: string, material: Material, now: number): string | undefined {
    try {
      const ends = checked(this.#files, material);
      const invalid = ends.find(({ notBefore, notAfter }) => now < notBefore || now > notAfter);
      if (invalid) {
        return `${invalid.file} holds no certificate that is valid now`;
      }
      this.#ends = ends;
    } catch (error) {
      return (error as Error).message;
    }
    this.#material = material;
    this.#usedMark = mark;
    for (const tell of this.#tellers.values()) {
      tell();
    }
    return undefined;
  }

  /** Warns once before the end, and once after it. */
  #warnOfEnds(log: Log, now: number): void {
    for (const { certificate, file, notAfter, renewalDue } of this.#ends) {
      const message =
        now > notAfter
          ? 'a certificate has expired'
          : now > renewalDue
            ? 'a certificate expires soon and was not renewed'
            : undefined;
      const state = `${message} ${notAfter}`;
      if (message !== undefined && this.#warned.get(certificate) !== state) {
        log.warn(message, { file, notAfter: new Date(notAfter).toISOString() });
      }
      this.#warned.set(certificate, state);
    }
  }
}

/** The contents of the files at one time, or why there are none. Equal marks mean equal contents. */
async function lookAt(files: TlsFiles) {
  try {
    // One after another, so that of several missing files always the same one is reported.
    const material: Material = {};
    for (const [name, file] of entriesOf(files)) {
      material[name] = await readFile(file);
    }
    return { mark: markOf(material), material };
  } catch (error) {
    const problem = (error as Error).message;
    return { mark: problem, problem };
  }
}

function entriesOf(files: TlsFiles): [name: keyof TlsFiles, file: string][] {
  return Object.entries(files).filter(([, file]) => file !== undefined) as [keyof TlsFiles, string][];
}

function markOf(material: Material): string {
  return Object.values(material)
    .map((bytes) => createHash('sha256').update(bytes).digest('hex'))
    .join();
}

/** Refuses what TLS accepts silently: a truncated or empty bundle trusts fewer authorities than meant. */
function checked(
  { certFile = '', keyFile = '', caFile = '' }: TlsFiles,
  material: Material,
): CertificateEnd[] {
  const { certFile: cert, keyFile: key, caFile: ca } = material;
  const ends: CertificateEnd[] = [];
  if (cert && key) {
    const chain = certificatesIn(cert, certFile);
    if (!chain[0]?.checkPrivateKey(privateKeyIn(key, keyFile))) {
      throw new Error(`${keyFile} does not hold the key of the certificate in ${certFile}`);
    }
    // The first to expire ends the chain.
    ends.push(endOf('own', certFile, byEnd(chain)[0] as X509Certificate));
  }
  if (ca) {
    // The last to expire: a bundle keeps replaced authorities for a while.
    ends.push(endOf('authority', caFile, byEnd(certificatesIn(ca, caFile)).at(-1) as X509Certificate));
  }
  createSecureContext({ cert, key, ca });
  return ends;
}

function certificatesIn(bytes: Buffer, file: string): X509Certificate[] {
  const text = bytes.toString('latin1');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0 || blocks.length !== text.split('-----BEGIN CERTIFICATE-----').length - 1) {
    throw new Error(`${file} does not hold whole certificates in PEM`);
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new Error(`${file} holds a certificate that cannot be read`);
  }
}

function privateKeyIn(bytes: Buffer, file: string) {
  try {
    return createPrivateKey(bytes);
  } catch {
    throw new Error(`${file} holds no private key that can be read without a password`);
  }
}

function endOf(
  certificate: CertificateEnd['certificate'],
  file: string,
  { validFrom, validTo }: X509Certificate,
): CertificateEnd {
  const [notBefore, notAfter] = [Date.parse(validFrom), Date.parse(validTo)];
  const warnedMs = Math.min((notAfter - notBefore) * WARN_AT_LIFETIME_LEFT, WARN_AT_MOST_BEFORE_MS);
  return { certificate, file, notBefore, notAfter, renewalDue: notAfter - warnedMs };
}

function byEnd(certificates: X509Certificate[]): X509Certificate[] {
  return certificates.toSorted((one, other) => Date.parse(one.validTo) - Date.parse(other.validTo));
}
