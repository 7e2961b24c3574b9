import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DoctorCheck, Outcome } from '../../../../src/cli/commands/doctor/check.js';
import { examined } from '../../../../src/cli/commands/doctor/doctor-action.js';
import { freePorts } from '../../../support/free-ports.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';

/** What single checks find. Call it where tests are described. */
export function doctorRig() {
  const directory = temporaryDirectories();
  return {
    directory,
    outcomeOf: async (check: DoctorCheck, settings: Record<string, string> = {}): Promise<Outcome> => {
      const [outcome] = await examined({ DATA_DIR: directory(), ...settings }, [check]);
      return outcome as Outcome;
    },
    /** The path of a file in a directory of its own. */
    file: (content: string, mode = 0o600): string => {
      const path = join(directory(), 'file');
      writeFileSync(path, content);
      chmodSync(path, mode);
      return path;
    },
  };
}

export async function freePortSettings(): Promise<Record<string, string>> {
  const names = ['SIGN_ON_PORT', 'GATEWAY_PORT', 'GRPC_PORT', 'METRICS_PORT'];
  const ports = await freePorts(names.length);
  return Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
}
