import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderSite } from '../../src/docs/site.js';
import { readSources } from '../../src/docs/sources.js';
import { withLibrary } from '../../src/edge/docs/dispatch.js';
import { type Library, openLibrary } from '../../src/edge/docs/library.js';
import type { SiteFile } from '../../src/edge/docs/site-file.js';
import { type TryItValues, withTryItValues } from '../../src/edge/docs/try-it-values.js';
import type { Dispatch } from '../../src/edge/http/exchange.js';
import { startListener } from './edge-listener.js';
import { type RecordedLog, recordedLog } from './recorded-log.js';
import { newTemporaryDirectory } from './temporary-directory.js';

export const SIGN_ON_URL = 'http://localhost:4999';

/** Packages as from the build, with dummy content. */
export const PACKAGES: Record<string, string> = {
  'integration-service-sdk-1.4.0.tgz': 'bytes of the npm package',
  'integration_service_sdk-1.4.0-py3-none-any.whl': 'bytes of the wheel',
  'integration-service-sdk-go-1.4.0.zip': 'bytes of the module',
  'go-proxy/integration.example.com/sdk/@v/list': 'v1.4.0\n',
  'go-proxy/integration.example.com/sdk/@v/v1.4.0.info': '{"Version":"v1.4.0"}',
  'go-proxy/integration.example.com/sdk/@v/v1.4.0.mod': 'module integration.example.com/sdk\n',
  'go-proxy/integration.example.com/sdk/@v/v1.4.0.zip': 'bytes of the module',
};

export interface DocsServer {
  url: string;
  port: number;
  site: readonly SiteFile[];
  library: Library;
  log: RecordedLog;
  stop(): Promise<void>;
}

export interface DocsOptions {
  environment?: 'live' | 'demo';
  signOnUrl?: string;
  demoGatewayUrl?: string;
  demoIds?: Record<string, string>;
  /** What the forms are filled in with. */
  tryItValues?: () => TryItValues;
  /** What the build left, by path below `dist/`; all of it, unless said. */
  dist?: Record<string, string>;
  /** What answers where the documentation has nothing. It learns the address, which a gateway needs. */
  onward?: (url: string) => Promise<Dispatch>;
}

let rendered: SiteFile[] | undefined;

/** The site as the present sources make it, rendered once for all tests of a file. */
export function renderedSite(): SiteFile[] {
  rendered ??= renderSite(readSources());
  return rendered;
}

/** The documentation on a listener, as the edge has it. */
export async function startDocs(options: DocsOptions = {}): Promise<DocsServer> {
  const { environment = 'demo', signOnUrl = SIGN_ON_URL, demoGatewayUrl, demoIds, dist, onward } = options;
  const distDir = newTemporaryDirectory();
  const log = recordedLog();
  for (const [path, content] of Object.entries(dist ?? whole())) {
    mkdirSync(dirname(join(distDir, path)), { recursive: true });
    writeFileSync(join(distDir, path), content);
  }
  let url = '';
  let library: Library | undefined;
  const { port, stop } = await startListener({ api: 'gateway', log: log.log }, async (address) => {
    url = address.replace('127.0.0.1', 'localhost');
    library = openLibrary({
      environment,
      gatewayUrl: url,
      signOnUrl,
      demoGatewayUrl,
      demoIds,
      distDir,
      log: log.log,
    });
    // Whatever is served from now on does not come from the disk.
    rmSync(distDir, { recursive: true });
    const values = () => options.tryItValues?.();
    const others = withLibrary(library, (await onward?.(url)) ?? nothing);
    return withTryItValues(environment === 'demo', values, others);
  });
  return { url, port, site: renderedSite(), library: library as Library, log, stop };
}

function whole(): Record<string, string> {
  const packages = Object.entries(PACKAGES).map(([path, content]) => [`sdk/${path}`, content]);
  return { 'docs/site.json': JSON.stringify(renderedSite()), ...Object.fromEntries(packages) };
}

const nothing: Dispatch = async () => ({
  status: 404,
  headers: {},
  body: 'of the contract',
  operation: 'none',
});
