import { goModule } from './go-module.js';
import { npmPackage } from './npm-package.js';
import type { PackageFile, Sources } from './sources.js';
import { wheel } from './wheel.js';

/** The packers by language; each gives files by name. */
export const packers = {
  typescript: (sources) => [
    { path: `integration-service-sdk-${sources.version}.tgz`, content: npmPackage(sources) },
  ],
  python: (sources) => [
    { path: `integration_service_sdk-${sources.version}-py3-none-any.whl`, content: wheel(sources) },
  ],
  go: (sources) => {
    const { path: module, zip, proxy } = goModule(sources);
    return [
      { path: `integration-service-sdk-go-${sources.version}.zip`, content: zip },
      ...proxy.map(({ path, content }) => ({ path: `go-proxy/${module}/@v/${path}`, content })),
    ];
  },
} satisfies Record<string, (sources: Sources) => PackageFile[]>;
