import { secretOf } from '../../../config/secret-files.js';
import { demoFilePath, readDemoFile } from '../../demo/demo-file.js';
import { clientConfig } from '../client-config.js';
import { UsageError } from '../usage-error.js';

export interface GatewayTarget {
  url: string;
  apiKey: string;
  /** The first instance integration of the demo, with the key of the demo. */
  instanceIntegrationId?: string | undefined;
}

/** The demo environment fills in what was not given. */
export function gatewayTargetOf({ gateway }: { gateway?: string }): GatewayTarget {
  const config = clientConfig();
  const demo = readDemoFile(demoFilePath(config.DATA_DIR));
  const ofDemo = demo?.apiKeys?.[0];
  const given = givenKey();
  const url = gateway ?? demo?.gatewayUrl;
  const apiKey = given ?? ofDemo?.key;
  if (url === undefined || apiKey === undefined) {
    throw new UsageError(
      `There is no demo environment in ${config.DATA_DIR}. Start it with \`make run\`, or give --gateway and the API key in INTEGRATION_API_KEY or INTEGRATION_API_KEY_FILE.`,
    );
  }
  const instanceIntegrationId = given === undefined ? ofDemo?.instanceIntegrationIds[0] : undefined;
  return { url, apiKey, instanceIntegrationId };
}

/** There is no option for it: lists of processes show options. */
function givenKey(): string | undefined {
  const { INTEGRATION_API_KEY: key, INTEGRATION_API_KEY_FILE: path } = process.env;
  try {
    return key || (path ? secretOf(path) : undefined);
  } catch (error) {
    throw new UsageError(`INTEGRATION_API_KEY_FILE names a file that ${(error as Error).message}.`);
  }
}
