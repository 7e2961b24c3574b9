import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Log } from '../../telemetry/log.js';
import type { HttpAnswer, HttpRequest } from '../http/exchange.js';
import { acceptsGzip, gzipTag, isHeld, WORTH_COMPRESSING_BYTES } from '../http/representations.js';
import { OF_SITE, type SiteFile } from './site-file.js';

/** Values that differ between environments. */
interface Addresses {
  environment: 'live' | 'demo';
  gatewayUrl: string;
  signOnUrl: string;
  /** The demo to which the documentation of live refers, if set. */
  demoGatewayUrl?: string | undefined;
  /** Ids of a demo for the samples, by the name of the parameter. Elsewhere these show examples. */
  demoIds?: Readonly<Record<string, string>> | undefined;
}

interface LibraryOptions extends Addresses {
  /** Where the build writes the site and the packages. */
  distDir: string;
  log: Log;
}

/** By exact path of the request. */
export type Library = (path: string) => Resource | undefined;

/** Pages run no foreign code and connect to the two servers only. */
const pagePolicy = (signOnUrl: string) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    `connect-src 'self' ${sourceOf(signOnUrl)}`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
});

/** Pages of others may read the contracts, for example to show or to check them. */
const OPEN = { 'access-control-allow-origin': '*' };

/** An origin for CSP, which cannot express `[::1]`: then the scheme stands for it. */
function sourceOf(url: string): string {
  const { protocol, hostname } = new URL(url);
  return /[[_]/.test(hostname) ? protocol : url;
}

/** Reads everything that is served. What the build did not write is logged and answers 404. */
export function openLibrary(options: LibraryOptions): Library {
  const site = siteOf(options);
  const downloads = new Map([...packagesOf(options), ...goProxyOf(options)]);
  return (path) => downloads.get(path) ?? (OF_SITE.test(path) ? site(path) : undefined);
}

/**
 * The site as it was at the start, parsed at the first request for it, and each file completed at the first
 * request for that: together they would be a quarter of the start.
 */
function siteOf(options: LibraryOptions): (path: string) => Resource | undefined {
  const file = join(options.distDir, 'docs/site.json');
  if (!existsSync(file)) {
    options.log.warn('there is no documentation to serve; `make build` renders it', { file });
    return () => undefined;
  }
  let bytes: Buffer | undefined = readFileSync(file);
  const files = new Map<string, SiteFile>();
  const resources = new Map<string, Resource>();
  return (path) => {
    for (const each of bytes ? (JSON.parse(bytes.toString('utf8')) as SiteFile[]) : []) {
      files.set(each.path, each);
    }
    bytes = undefined;
    const unread = files.get(path);
    if (unread) {
      files.delete(path);
      const headers = unread.type.startsWith('text/html') ? pagePolicy(options.signOnUrl) : OPEN;
      resources.set(path, new Resource(Buffer.from(filled(unread.body, options)), unread.type, headers));
    }
    return resources.get(path);
  };
}

/** The text with the addresses and ids filled in, and without the parts for other environments. */
export function filled(text: string, addresses: Addresses): string {
  const { environment, gatewayUrl, signOnUrl, demoGatewayUrl = '', demoIds = {} } = addresses;
  const parts: Record<string, boolean> = {
    demo: environment === 'demo',
    live: environment === 'live',
    'live-with-demo': environment === 'live' && demoGatewayUrl !== '',
  };
  return text
    .replace(/<!--(demo|live|live-with-demo)-->(.*?)<!--\/\1-->/gs, (_, part: string, content: string) =>
      parts[part] ? content : '',
    )
    .replace(/\{\{(\w+Id)=(\w+)\}\}/g, (_, name: string, example: string) => demoIds[name] ?? example)
    .replaceAll('{{demoGatewayUrl}}', () => demoGatewayUrl)
    .replaceAll('{{gatewayUrl}}', () => gatewayUrl)
    .replaceAll('{{signOnUrl}}', () => signOnUrl);
}

/** The packages by the ending of their files: the build leaves one of each. */
const PACKAGES = {
  '.tgz': { language: 'typescript', type: 'application/gzip' },
  '.whl': { language: 'python', type: 'application/zip' },
  '.zip': { language: 'go', type: 'application/zip' },
};

/** Each package, under the address of its language and under its own name, which installers read. */
function packagesOf({ distDir, log }: LibraryOptions): [path: string, resource: Resource][] {
  const folder = join(distDir, 'sdk');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return Object.entries(PACKAGES).flatMap(([ending, { language, type }]) => {
    const name = files.find((file) => file.endsWith(ending));
    if (name === undefined) {
      log.warn('there is no package of an SDK to serve; `make build` packs it', { language, folder });
      return [];
    }
    const headers = { 'content-disposition': `attachment; filename="${name}"` };
    const resource = new Resource(readFileSync(join(folder, name)), type, headers);
    return [
      [`/sdk/${language}`, resource],
      [`/sdk/${language}/${name}`, resource],
    ] as [string, Resource][];
  });
}

const GO_PROXY_TYPES: Record<string, string> = {
  info: 'application/json',
  mod: 'text/plain; charset=utf-8',
  zip: 'application/zip',
};

/** The paths that `GOPROXY` needs: the folder from the build, and the newest version. */
function goProxyOf({ distDir }: LibraryOptions): [path: string, resource: Resource][] {
  const folder = join(distDir, 'sdk/go-proxy');
  if (!existsSync(folder)) {
    return [];
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.flatMap(({ parentPath, name }) => {
    const file = join(parentPath, name);
    const path = `/sdk/go/proxy${file.slice(folder.length).replaceAll('\\', '/')}`;
    const kind = name.split('.').at(-1) ?? '';
    const resource = new Resource(readFileSync(file), GO_PROXY_TYPES[kind] ?? 'text/plain; charset=utf-8');
    const newest = kind === 'info' ? [[path.replace(`@v/${basename(file)}`, '@latest'), resource]] : [];
    return [[path, resource], ...newest] as [string, Resource][];
  });
}

const compress = promisify(gzip);

const MAX_AGE_SECONDS = 300;
const COMPRESSIBLE = /^text\/|^application\/(?:json|yaml)\b/;

/** Static bytes at a path. */
class Resource {
  readonly #bytes: Buffer;
  readonly #headers: Record<string, string>;
  readonly #tag: string;
  readonly #isCompressible: boolean;
  #compressed: Promise<Buffer> | undefined;

  constructor(bytes: Buffer, type: string, headers: Record<string, string> = {}) {
    this.#bytes = bytes;
    this.#tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
    this.#isCompressible = COMPRESSIBLE.test(type) && bytes.length > WORTH_COMPRESSING_BYTES;
    this.#headers = {
      'content-type': type,
      'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
      ...(this.#isCompressible ? { vary: 'Accept-Encoding' } : {}),
      ...headers,
    };
  }

  /** 200, or 304 for a matching entity tag. */
  async answer({ headers }: HttpRequest): Promise<HttpAnswer> {
    const zipped = this.#isCompressible && acceptsGzip(headers['accept-encoding']);
    const plain = `"${this.#tag}"`;
    const etag = zipped ? gzipTag(plain) : plain;
    const answered = { ...this.#headers, etag, ...(zipped ? { 'content-encoding': 'gzip' } : {}) };
    const held = [etag, plain].find((tag) => isHeld(headers['if-none-match'], [tag]));
    if (held !== undefined) {
      const {
        'content-encoding': _,
        'content-type': __,
        'content-disposition': ___,
        ...kept
      } = answered as Record<string, string>;
      // A cache may only use the copy with the tag of this answer (RFC 9111, section 4.3.4).
      return { status: 304, headers: { ...kept, etag: held } };
    }
    return { status: 200, headers: answered, body: zipped ? await this.#gzipped() : this.#bytes };
  }

  /** Compressed once, on the first request: most pages are rarely read. */
  #gzipped(): Promise<Buffer> {
    this.#compressed ??= compress(this.#bytes, { level: constants.Z_BEST_COMPRESSION });
    return this.#compressed;
  }
}
