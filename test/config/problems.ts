import { expect } from '@jest/globals';
import { ConfigError, loadConfig } from '../../src/config/config.js';

/** What is wrong with the settings; empty where a role would start with them. */
export function problemsOf(
  environment: Record<string, string>,
  options?: Parameters<typeof loadConfig>[1],
): readonly string[] {
  try {
    loadConfig(environment, options);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  }
}
