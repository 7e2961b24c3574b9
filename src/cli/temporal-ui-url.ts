import type { Config } from '../config/config.js';

/** The workflows of this environment in the UI of Temporal, if the settings say where that is. */
export function temporalUiUrl({ TEMPORAL_UI_URL: url, TEMPORAL_NAMESPACE }: Config): string | undefined {
  return url && `${url}/namespaces/${encodeURIComponent(TEMPORAL_NAMESPACE)}/workflows`;
}
