import { stringify } from 'yaml';
import type { SiteFile } from '../edge/docs/site-file.js';
import type { Contract, Document } from './contract.js';
import { withPlaces } from './places.js';

/** The serving server replaces those of a contract. */
const SERVERS: Record<string, unknown> = {
  gateway: [{ url: '{{gatewayUrl}}', description: 'The gateway that serves this document.' }],
  'sign-on': [{ url: '{{signOnUrl}}', description: 'The sign-on server, which is also its issuer URL.' }],
};

/** The contracts for download, as JSON and YAML. */
export function contractFiles(contracts: {
  gateway: Contract;
  'sign-on': Contract;
  webhooks: Contract;
}): SiteFile[] {
  return Object.entries(contracts).flatMap(([name, { document }]) => {
    const folder = name === 'webhooks' ? 'asyncapi' : 'openapi';
    const served = asServed(name, document);
    return [
      {
        path: `/${folder}/${name}.json`,
        type: 'application/json',
        body: `${JSON.stringify(served, null, 2)}\n`,
      },
      {
        path: `/${folder}/${name}.yaml`,
        type: 'application/yaml',
        body: stringify(served, { lineWidth: 0 }),
      },
    ];
  });
}

/** Examples stay unchanged: they are consistent, including tokens signed for their issuer. */
function asServed(name: string, document: Document): Document {
  const description = withPlaces(document.info.description);
  const served = { ...document, info: { ...document.info, description } };
  return name in SERVERS ? { ...served, servers: SERVERS[name] } : served;
}
