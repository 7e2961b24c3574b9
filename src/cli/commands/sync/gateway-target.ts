import { isLoopback } from '../../../config/insecurities.js';
import { demoFilePath, readDemoFile } from '../../demo/demo-file.js';
import { clientConfig, secretNamedBy } from '../client-config.js';
import { UsageError } from '../errors.js';

const KEY_SETTINGS = 'INTEGRATION_API_KEY or INTEGRATION_API_KEY_FILE';

export interface GatewayTarget {
  url: string;
  apiKey: string;
  /** The first instance integration of the demo, with the key of the demo. */
  instanceIntegrationId?: string | undefined;
}

/** Address and key as given, or both of the demo: no key goes to the gateway of another environment. */
export function gatewayTargetOf({ gateway: url }: { gateway?: string }): GatewayTarget {
  // There is no option for it: lists of processes show options.
  const apiKey = process.env.INTEGRATION_API_KEY || secretNamedBy('INTEGRATION_API_KEY_FILE');
  if (url === undefined && apiKey === undefined) {
    return targetOfDemo();
  }
  if (url === undefined) {
    throw new UsageError(
      'An API key is given without its gateway. Give --gateway too, or none for the demo.',
    );
  }
  if (apiKey === undefined) {
    throw new UsageError(`--gateway is given without an API key. Give it in ${KEY_SETTINGS}.`);
  }
  refusePlain(url);
  return { url, apiKey };
}

function targetOfDemo(): GatewayTarget {
  const config = clientConfig();
  const demo = readDemoFile(demoFilePath(config.DATA_DIR));
  const first = demo?.apiKeys?.[0];
  if (demo?.gatewayUrl === undefined || first === undefined) {
    throw new UsageError(
      `There is no demo environment in ${config.DATA_DIR}. Start it with \`make run\`, set DATA_DIR to where it is, or give --gateway and the API key in ${KEY_SETTINGS}.`,
    );
  }
  const { key: apiKey, instanceIntegrationIds } = first;
  return { url: demo.gatewayUrl, apiKey, instanceIntegrationId: instanceIntegrationIds[0] };
}

function refusePlain(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw new UsageError(`--gateway ${url} would send the API key unencrypted. Use https://.`);
  }
}
