import type { Config } from '../../../config/config.js';
import { type Resumed, resume, type Suspended, suspendedIn } from '../../../store/copies/suspended.js';
import { refuseOtherRelease } from '../../../store/copies/take-copy.js';
import { Unfinished, UsageError } from '../errors.js';
import { print } from '../output/print.js';
import { asJson, printableLine } from '../output/printable.js';
import { asColumns, asTime } from '../output/table.js';
import { inDatabase, placeOf, useOwnKeys } from './own-database.js';

export interface ResumeOptions {
  all?: true | string[];
  json?: boolean;
}

const KINDS: readonly string[] = ['api_key', 'service_token', 'client_secret', 'subscription'];

export async function resumeSuspended(
  config: Config,
  ids: readonly string[],
  { all, json }: ResumeOptions,
): Promise<void> {
  await refuseOtherRelease(placeOf(config));
  await inDatabase(placeOf(config), async (database) => {
    const suspended = await suspendedIn(database.reader);
    if (ids.length === 0 && all === undefined) {
      print(json ? asJson(suspended) : asText(suspended));
      return;
    }
    const chosen = chosenOf(suspended, ids, all);
    await useOwnKeys(database, config);
    const by = { actor: { type: 'command', id: 'resume' }, at: database.clock() };
    const resumed: Resumed[] = [];
    try {
      for (const each of chosen) {
        const done = await resume(database, each, by);
        resumed.push(...(done ? [done] : []));
      }
    } finally {
      print(json ? asJson(resumed) : resumedText(resumed));
    }
    refuseRest(chosen.filter(({ id }) => !resumed.some((each) => each.id === id)));
  });
}

function resumedText(resumed: readonly Resumed[]): string {
  const replays = resumed.flatMap(({ id, heldSince }) =>
    heldSince === null ? [] : [`  ${replayCommand(id, heldSince)}`],
  );
  return [
    `Resumed: ${resumed.map(({ id }) => id).join(' ') || 'nothing'}`,
    ...(replays.length > 0
      ? ['', 'Send what is held for them, as soon as the service runs:', ...replays]
      : []),
  ].join('\n');
}

function refuseRest(rest: readonly Suspended[]): void {
  if (rest.length > 0) {
    const reasons = rest.map(({ kind, id, of }) =>
      kind === 'subscription'
        ? `${id} (the instance integration ${of} is not configured, or the subscription has just been changed)`
        : `${id} (it has just been changed)`,
    );
    throw new Unfinished(`Not resumed: ${reasons.join(', ')}.`);
  }
}

/**
 * A replay selects events by their own time, so `since` is the time of the oldest event that is held, not
 * that of the restore.
 */
export function replayCommand(subscription: string, since: number): string {
  return `integration event replay --subscription ${subscription} --since ${new Date(since).toISOString()}`;
}

function chosenOf(
  suspended: readonly Suspended[],
  ids: readonly string[],
  all: ResumeOptions['all'],
): Suspended[] {
  const kinds = all === true ? KINDS : (all ?? []);
  const unknownKind = kinds.find((kind) => !KINDS.includes(kind));
  if (unknownKind !== undefined) {
    throw new UsageError(`--all accepts ${KINDS.join(', ')}, not ${unknownKind}.`);
  }
  const unknown = ids.find((id) => !suspended.some((each) => each.id === id));
  if (unknown !== undefined) {
    throw new UsageError(
      `No restore has suspended ${unknown}. \`integration resume\` lists what is suspended. Nothing was changed.`,
    );
  }
  return suspended.filter(({ id, kind }) => ids.includes(id) || kinds.includes(kind));
}

export function asText(suspended: readonly Pick<Suspended, 'kind' | 'id' | 'of' | 'label' | 'lastUsedAt'>[]) {
  return suspended.length === 0
    ? 'Nothing is suspended.'
    : asColumns(suspended, {
        kind: ({ kind }) => kind,
        id: ({ id }) => id,
        of: ({ of }) => of,
        label: ({ label }) => printableLine(label) || '-',
        'last used': ({ lastUsedAt }) => asTime(lastUsedAt === null ? undefined : new Date(lastUsedAt)),
      });
}
